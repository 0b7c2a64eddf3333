"""Where a store may be that is added at run time: every way to write a host, and every kind of address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.models.hosts import UNLISTED, HostRules, embedded, entry_of, forbidden, rules_of, target_of

UNUSUAL = "is an address in an unusual form; write it in full, as 127.0.0.1"
PASSWORD = "must not hold a password; use token_env"
SCHEME = "must start with http:// or https:// and name a host"
ASCII = "must hold neither backslashes nor characters beyond ASCII; write a name as xn--…"
SPACES = "must not hold spaces or control characters"

REFUSED = [
    ("ftp://127.0.0.1", SCHEME),
    ("file:///etc/passwd", SCHEME),
    ("stdio:npx", SCHEME),
    ("//127.0.0.1", SCHEME),
    ("http:127.0.0.1", SCHEME),
    ("http:///127.0.0.1", SCHEME),
    ("unix:///run/docker.sock", SCHEME),
    ("http+unix://%2Frun%2Fdocker.sock/", SCHEME),
    ("javascript:alert(1)", SCHEME),
    ("http://127.0.0.1:0", SCHEME),
    ("http://", SCHEME),
    ("http://:80", SCHEME),
    ("http://127.0.0.1:65536", "cannot be read"),
    ("http://127.0.0.1:-1", "cannot be read"),
    ("http://127.0.0.1:8\uff10", "cannot be read"),
    ("http://[::1", "cannot be read"),
    ("http://[::1]x", "host '[::1]x' is no address"),
    ("http://x[::1]", "host 'x[::1]' is no address"),
    ("http://[localhost]", "cannot be read"),
    ("http://[v1.a]", "host '[v1.a]' is no address"),
    ("http://127.0.0.1@evil.example", PASSWORD),
    ("http://evil.example@127.0.0.1", PASSWORD),
    ("http://user:canary@127.0.0.1", PASSWORD),
    ("http://@127.0.0.1", PASSWORD),
    ("http://evil.example\\@127.0.0.1", PASSWORD),
    ("http://127.0.0.1\\.evil.example", ASCII),
    ("http://127.0.0.1/\\x", ASCII),
    ("http://127。0。0。1", ASCII),
    ("http://①②⑦.0.0.1", ASCII),
    ("http://ｌocalhost", ASCII),
    ("http://bücher.example", ASCII),
    ("http://127.0.0.1/\u202e", SPACES),
    ("http://127.0.0.1/a b", SPACES),
    ("http://127.0.0.1\t.evil.example", SPACES),
    ("http://127.0.0.1\n", SPACES),
    ("http://127.1", UNUSUAL),
    ("http://127.0.1", UNUSUAL),
    ("http://2130706433", UNUSUAL),
    ("http://0x7f000001", UNUSUAL),
    ("http://0x7f.0.0.1", UNUSUAL),
    ("http://0177.0.0.1", UNUSUAL),
    ("http://127.0.0.01", UNUSUAL),
    ("http://0", UNUSUAL),
    ("http://0xa9fea9fe", UNUSUAL),
    ("http://169.254.43518", UNUSUAL),
    ("http://evil.example.0x7f", UNUSUAL),
    ("http://256.0.0.1", UNUSUAL),
    ("http://1.2.3.4.5", UNUSUAL),
    ("http://127%2e0.0.1", "must not hold %"),
    ("http://%31%32%37.0.0.1", "must not hold %"),
    ("http://[fe80::1%25eth0]", "must not hold %"),
    ("http://[::1%25lo]", "must not hold %"),
    ("http://a..b", "is no name of a host"),
    ("http://127.0.0.1..", "is no name of a host"),
    ("http://-a.example", "is no name of a host"),
    ("http://a!b", "is no name of a host"),
    (f"http://{'a' * 64}.example", "is no name of a host"),
    (f"http://{'a.' * 130}example", "is no name of a host"),
]


@pytest.mark.promise("6d")
@pytest.mark.parametrize(("url", "said"), REFUSED)
def test_a_url_that_can_be_read_in_two_ways_is_refused(url: str, said: str) -> None:
    with pytest.raises(ValueError) as refused:
        target_of(url)
    assert said in str(refused.value)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("HTTP://127.0.0.1:7420/", "http://127.0.0.1:7420"),
        ("http://LOCALHOST.:80/a/", "http://localhost:80/a"),
        ("http://127.0.0.1./mcp", "http://127.0.0.1/mcp"),
        ("http://[0:0:0:0:0:0:0:1]:7420/mcp?a=b#c", "http://[::1]:7420/mcp?a=b"),
        ("http://[::ffff:127.0.0.1]:7420", "http://127.0.0.1:7420"),
        ("http://[::ffff:7f00:1]", "http://127.0.0.1"),
        ("https://Store_1.Example", "https://store_1.example"),
        ("http://xn--bcher-kva.example", "http://xn--bcher-kva.example"),
        ("http://1password.example", "http://1password.example"),
        ("http://nas", "http://nas"),
    ],
)
def test_a_url_is_kept_as_it_is_written_in_full(url: str, whole: str) -> None:
    assert target_of(url).url == whole


@pytest.mark.promise("6b")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "a.localhost"])
def test_loopback_is_always_allowed(host: str) -> None:
    target = target_of(f"http://{host}:7420")
    assert HostRules().verdict(target.host, target.address) == ("look" if target.address is None else "yes")
    assert HostRules().problem(target.host, target.address or IPv4Address("127.0.0.1")) is None


FORBIDDEN = [
    ("169.254.169.254", "the metadata service of a cloud"),
    ("169.254.170.2", "the metadata service of a cloud"),
    ("100.100.100.200", "the metadata service of a cloud"),
    ("168.63.129.16", "the metadata service of a cloud"),
    ("192.0.0.192", "the metadata service of a cloud"),
    ("fd00:ec2::254", "the metadata service of a cloud"),
    ("fd00:ec2::254%eth0", "the metadata service of a cloud"),
    ("fd20:ce::254", "the metadata service of a cloud"),
    ("fd00:42::42", "the metadata service of a cloud"),
    ("169.254.0.1", "a link-local address"),
    ("fe80::1", "a link-local address"),
    ("fe80::1%eth0", "a link-local address"),
    ("0.0.0.0", "an unspecified address"),
    ("0.1.2.3", "an unspecified address"),
    ("::", "an unspecified address"),
    ("224.0.0.1", "a multicast address"),
    ("ff02::1", "a multicast address"),
    ("255.255.255.255", "a reserved address"),
    ("240.0.0.1", "a reserved address"),
    ("::ffff:169.254.169.254", "the metadata service of a cloud"),
    ("::ffff:0.0.0.0", "an unspecified address"),
    ("::127.0.0.1", "an IPv6 form of an address that no store may have"),
    ("::169.254.169.254", "an IPv6 form of an address that no store may have"),
    ("64:ff9b::169.254.169.254", "an IPv6 form of an address that no store may have"),
    ("64:ff9b::127.0.0.1", "an IPv6 form of an address that no store may have"),
    ("64:ff9b:1::169.254.169.254", "an IPv6 form of an address that no store may have"),
    ("2002:a9fe:a9fe::", "an IPv6 form of an address that no store may have"),
    ("2002:7f00:1::1", "an IPv6 form of an address that no store may have"),
    ("2001:0:1:1::5601:5601", "an IPv6 form of an address that no store may have"),
    ("2001:db8::5efe:169.254.169.254", "an IPv6 form of an address that no store may have"),
]


@pytest.mark.promise("6d", "P47")
@pytest.mark.parametrize(("address", "kind"), FORBIDDEN)
def test_some_addresses_are_refused_whatever_is_allowed_but_the_very_address(address: str, kind: str) -> None:
    everything = rules_of(["store.example", "*.example", "0.0.0.0/0", "::/0"]).agreeing(["store.example", address])
    found = ip_address(address)
    for host in ("store.example", address.partition("%")[0]):
        problem = everything.problem(host, found)
        assert problem is not None and kind in problem and "security.allow_hosts" in problem
    if "%" not in address:
        assert rules_of([address]).problem("store.example", found) is None


@pytest.mark.promise("6b")
@pytest.mark.parametrize(
    ("entries", "host", "address", "allowed"),
    [
        (["nas.example"], "nas.example", "192.168.1.5", True),
        (["nas.example"], "nas.example", "127.0.0.1", True),
        (["NAS.Example."], "nas.example", "10.0.0.1", True),
        (["nas.example"], "a.nas.example", "10.0.0.1", False),
        (["nas.example"], "nas.example.evil.example", "10.0.0.1", False),
        (["*.example"], "a.b.example", "10.0.0.1", True),
        (["*.example"], "example", "10.0.0.1", False),
        (["*.example"], "badexample", "10.0.0.1", False),
        (["192.168.1.0/24"], "192.168.1.5", "192.168.1.5", True),
        (["192.168.1.0/24"], "192.168.2.5", "192.168.2.5", False),
        (["192.168.1.0/24"], "nas", "192.168.1.5", True),
        (["192.168.1.0/24"], "nas", "192.168.2.5", False),
        (["192.168.1.5"], "192.168.1.5", "192.168.1.5", True),
        (["[fd12::5]"], "fd12::5", "fd12::5", True),
        (["fd12::/16"], "fd12::5", "fd12::5", True),
        (["::ffff:192.168.1.0/120"], "192.168.1.5", "192.168.1.5", True),
        (["192.168.1.0/24"], "64:ff9b::c0a8:105", "64:ff9b::192.168.1.5", True),
        ([], "192.168.1.5", "192.168.1.5", False),
        ([], "8.8.8.8", "8.8.8.8", False),
        ([], "localhost", "192.168.1.5", False),
        ([], "localhost", "::1", True),
        ([], "evil.example", "127.0.0.1", False),
        (["localhost"], "localhost", "192.168.1.5", True),
    ],
)
def test_what_the_setting_lists_is_allowed_and_nothing_else(
    entries: list[str], host: str, address: str, allowed: bool
) -> None:
    assert (rules_of(entries).problem(host, ip_address(address)) is None) is allowed


@pytest.mark.parametrize(
    ("host", "address", "problem"),
    [
        ("store.example", "93.184.216.34", None),
        ("store.example", "64:ff9b::8.8.8.8", None),
        (
            "store.example",
            "192.168.1.1",
            "leads to 192.168.1.1, which is not public; list the host in security.allow_hosts",
        ),
        (
            "store.example",
            "127.0.0.1",
            "leads to 127.0.0.1, which is not public; list the host in security.allow_hosts",
        ),
        (
            "store.example",
            "64:ff9b::10.0.0.1",
            "leads to 64:ff9b::a00:1, which is not public; list the host in security.allow_hosts",
        ),
        ("192.168.1.5", "192.168.1.5", None),
        ("other.example", "93.184.216.34", UNLISTED),
    ],
)
def test_a_yes_to_a_name_reaches_public_addresses_and_a_yes_to_an_address_that_one(
    host: str, address: str, problem: str | None
) -> None:
    agreed = HostRules().agreeing(["store.example", "192.168.1.5"])
    assert agreed.problem(host, ip_address(address)) == problem


@pytest.mark.parametrize("entry", ["*", "*.", "http://a", "a:80", "10.0.0.1/8", "a/b", "", "a b", "é", "0x7f.1"])
def test_an_entry_of_the_setting_that_names_no_host_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="must be a host name"):
        entry_of(entry)


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_is_judged_alike_in_every_form_that_is_not_refused(number: int) -> None:
    address = IPv4Address(number)
    rules = HostRules()
    verdict = rules.problem(str(address), address) is None
    assert verdict == address.is_loopback
    mapped = IPv6Address((0xFFFF << 32) | number)
    assert target_of(f"http://[{mapped}]").address == address
    assert (rules.problem(str(address), mapped) is None) == verdict
    for form in (str(number), hex(number), f"{number >> 24}.{number & 0xFFFFFF}", f"0{number >> 24:o}.0.0.1"):
        with pytest.raises(ValueError, match="unusual form"):
            target_of(f"http://{form}")


@pytest.mark.promise("6d")
@given(st.integers(0, 2**32 - 1), st.sampled_from(["64:ff9b::", "64:ff9b:1::", "::"]))
def test_what_is_forbidden_is_so_behind_every_translator(number: int, prefix: str) -> None:
    inside = IPv4Address(number)
    outside = IPv6Address(int(IPv6Address(prefix)) | number)
    if number > 1:
        assert embedded(outside) == inside
        assert (forbidden(outside) is not None) == (inside.is_loopback or forbidden(inside) is not None)


@given(st.text(max_size=60))
def test_a_host_is_read_as_the_client_reads_it_or_refused(text: str) -> None:
    url = f"http://{text}/"
    try:
        target = target_of(url)
    except ValueError:
        return
    for read in (target.url, url):
        theirs = httpx2.URL(read).host.removesuffix(".").lower()
        ours = target.host
        assert theirs == ours or ip_address(theirs) in (target.address, IPv6Address(f"::ffff:{ours}"))
    assert urlsplit(target.url).hostname == target.host


@given(st.ip_addresses())
def test_nobody_is_allowed_without_a_word_but_loopback(address: IPv4Address | IPv6Address) -> None:
    plain = address.ipv4_mapped if isinstance(address, IPv6Address) and address.ipv4_mapped else address
    allowed = HostRules().problem(str(plain), address) is None
    assert allowed == plain.is_loopback
    assert HostRules().problem("evil.example", address) is not None
