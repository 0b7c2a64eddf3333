"""Where a store that was added at run time may be: which hosts, and which addresses behind their names.

Above: the settings, administration, and the dialling of every connection. Below: nothing. Pure: nothing is looked up
here. A store of the settings file is the user's own word and is not asked about; everything else is: loopback always,
other hosts where the setting ``security.allow_hosts`` or a person says so, and a few kinds of address never.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Verdict = Literal["yes", "look", "no"]
"""May a host be reached: yes, that depends on its addresses, no."""

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_NETLOC = re.compile(r"(?:\[[^][]*\]|[^][:]*)(?::[0-9]*)?")
_MAX_NAME = 253

_METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",  # nearly every cloud
            "169.254.170.2",  # containers on AWS
            "fd00:ec2::254",  # AWS
            "fd20:ce::254",  # Google
            "100.100.100.200",  # Alibaba
            "168.63.129.16",  # Azure
            "192.0.0.192",  # Oracle
            "fd00:42::42",  # Scaleway
        ),
    )
)
_EMBEDDING: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (IPv6Network("64:ff9b:1::/48"), 0),  # NAT64 of a network's own
    (IPv6Network("::/96"), 0),  # "compatible", long out of use
    (IPv6Network("2002::/16"), 80),  # 6to4
)
"""Ranges of IPv6 that carry an IPv4 address, and how many bits stand behind it."""

_ISATAP = frozenset((0x00005EFE, 0x02005EFE))


UNLISTED = "is neither loopback nor in the setting security.allow_hosts"
"""What is wrong with a host that nobody allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where a URL leads.

    Attributes:
        host: Its name, or its address as it is written in full; lower case, without a final dot.
        address: The address, where the host is one.
        url: The URL with the host written like that, without a slash at its end.
    """

    host: str
    address: Address | None
    url: str


def target_of(url: str) -> Target:
    """Where a URL leads, if there are no two ways to read that.

    Raises:
        ValueError: With what is wrong with it; never with more of it than its host.
    """
    if any(character.isspace() or not character.isprintable() for character in url):
        raise ValueError("must not hold spaces or control characters")
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError as fault:
        raise ValueError(f"cannot be read ({_first_words(fault)})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must start with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise ValueError("must not hold a password; use token_env")
    if "\\" in url or not url.isascii():
        raise ValueError("must hold neither backslashes nor characters beyond ASCII; write a name as xn--…")
    host, address = host_of(parts.hostname)
    if _NETLOC.fullmatch(parts.netloc) is None or ("[" in parts.netloc and address is None):
        raise ValueError(f"host {_shown(parts.netloc)} is no address")
    name = f"[{host}]" if isinstance(address, IPv6Address) else host
    netloc = name if port is None else f"{name}:{port}"
    rest = SplitResult(parts.scheme, netloc, parts.path, parts.query, "").geturl()
    return Target(host=host, address=address, url=rest.rstrip("/"))


def host_of(text: str) -> tuple[str, Address | None]:
    """A host as it is written in full, and its address if it is one.

    Raises:
        ValueError: If it is neither a name nor an address in its usual form.
    """
    bare = text.lower().removesuffix(".")
    if "%" in bare:
        raise ValueError(f"host {_shown(text)} must not hold %: neither escapes nor the zone of an address")
    try:
        address = plain(ip_address(bare))
    except ValueError:
        pass
    else:
        return str(address), address
    if len(bare) > _MAX_NAME or _NAME.fullmatch(bare) is None:
        raise ValueError(f"host {_shown(text)} is no name of a host")
    if _NUMBER.fullmatch(bare.rpartition(".")[2]):
        raise ValueError(f"host {_shown(text)} is an address in an unusual form; write it in full, as 127.0.0.1")
    return bare, None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


def _first_words(fault: ValueError) -> str:
    """What the parser says, without the text it says it about."""
    return str(fault).partition(":")[0].partition(" '")[0].partition(' "')[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class HostRules:
    """Which hosts stores that are added at run time may be on.

    Attributes:
        names: Names, lower case; one that begins with ``*.`` stands for every name below it.
        networks: Networks and single addresses.
        agreed: Hosts that a person said yes to. A name among them reaches public addresses only, since its address in
            the network at home is nothing that the person saw.
    """

    names: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    agreed: frozenset[str] = frozenset()

    def agreeing(self, hosts: Iterable[str]) -> HostRules:
        """The same rules with further hosts that a person said yes to."""
        return replace(self, agreed=self.agreed | frozenset(hosts))

    def verdict(self, host: str, address: Address | None) -> Verdict:
        """What can be said of a host before its name is looked up."""
        if address is not None:
            return "no" if self.problem(host, address) else "yes"
        if is_local_name(host) or self._has_name(host) or host in self.agreed:
            return "look"
        return "look" if self.networks else "no"

    def problem(self, host: str, address: Address | None) -> str | None:
        """What is wrong with a host that leads to this address, or to none that is known; None if nothing is."""
        if address is None:
            return UNLISTED if self.verdict(host, None) == "no" else None
        address = plain(address)
        if any(network.num_addresses == 1 and address in network for network in self.networks):
            return None
        leads = "is" if host == str(address) else f"leads to {address},"
        kind = forbidden(address)
        if kind is not None:
            return f"{leads} {kind}; only if security.allow_hosts lists this very address may a store be there"
        if self._allows(host, address):
            return None
        if is_local_name(host):
            return f"{leads} which is not this machine"
        if host in self.agreed:
            return f"{leads} which is not public; list the host in security.allow_hosts"
        return UNLISTED

    def may_ask(self, host: str, address: Address | None) -> bool:
        """Whether a person's yes would make a difference."""
        if address is not None:
            return forbidden(address) is None
        return not (is_local_name(host) or self._has_name(host) or host in self.agreed)

    def _allows(self, host: str, address: Address) -> bool:
        literal = host == str(address)
        if address.is_loopback and (literal or is_local_name(host)):
            return True
        if any(_covers(network, address) for network in self.networks) or self._has_name(host):
            return True
        return host in self.agreed and (literal or is_public(address))

    def _has_name(self, host: str) -> bool:
        if host in self.names:
            return True
        parents = host.split(".")[1:]
        return any(f"*.{'.'.join(parents[at:])}" in self.names for at in range(len(parents)))


LOOPBACK_ONLY = HostRules()
"""The rules where nobody allowed anything."""


def rules_of(entries: Iterable[str]) -> HostRules:
    """The rules that a list of names, ``*.names``, addresses and networks makes.

    Raises:
        ValueError: If an entry is none of them.
    """
    names: set[str] = set()
    networks: list[Network] = []
    for entry in entries:
        read = entry_of(entry)
        if isinstance(read, str):
            names.add(read)
        else:
            networks.append(read)
    return HostRules(names=frozenset(names), networks=tuple(networks))


def entry_of(entry: str) -> str | Network:
    """One entry of ``security.allow_hosts``, read.

    Raises:
        ValueError: If it is no name, ``*.name``, address or network.
    """
    bare = entry.strip().lower().removeprefix("[").removesuffix("]")
    try:
        return _unmapped(ip_network(bare))
    except ValueError:
        pass
    star = "*." if bare.startswith("*.") else ""
    try:
        name, _ = host_of(bare.removeprefix(star))
    except ValueError:
        raise ValueError(
            "must be a host name (nas.example), all names below one (*.example), an address or a network "
            "(192.168.1.0/24, its first address), without scheme, port and path"
        ) from None
    return star + name


def _unmapped(network: Network) -> Network:
    """A network as its addresses are compared: an IPv4 address in IPv6's clothes counts as what it is."""
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return network if mapped is None or network.prefixlen < 96 else IPv4Network((mapped, network.prefixlen - 96))


def is_local_name(host: str) -> bool:
    """Whether a name means this machine by its definition."""
    return host == "localhost" or host.endswith(".localhost")


def plain(address: Address) -> Address:
    """An address without IPv6's clothes for IPv4, and without a zone: the system connects to what is inside."""
    if isinstance(address, IPv4Address):
        return address
    return address.ipv4_mapped or IPv6Address(int(address))


def embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to by way of some translator or tunnel."""
    if not isinstance(address, IPv6Address) or int(address) <= 1:
        return None
    if address.teredo is not None:
        return address.teredo[1]
    for network, behind in _EMBEDDING:
        if address in network:
            return IPv4Address(int(address) >> behind & 0xFFFFFFFF)
    return IPv4Address(int(address) & 0xFFFFFFFF) if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else None


def forbidden(address: Address) -> str | None:
    """What an address is, if it is of a kind that no store may have."""
    inside = embedded(address)
    if inside is not None and (inside.is_loopback or forbidden(inside)):
        return "an IPv6 form of an address that no store may have"
    if address in _METADATA:
        return "the metadata service of a cloud"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    if address.is_unspecified or address in IPv4Network("0.0.0.0/8"):
        return "an unspecified address"
    return "a reserved address" if isinstance(address, IPv4Address) and address.is_reserved else None


def is_public(address: Address) -> bool:
    """Whether an address is reached over the internet."""
    inside = embedded(address)
    return inside.is_global if inside is not None else address.is_global


def _covers(network: Network, address: Address) -> bool:
    inside = embedded(address)
    return address in network or (inside is not None and inside in network)
