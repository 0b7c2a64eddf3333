"""From files and environment to settings that can be used, or one error that says what to mend and where.

Above: app and the command line. Below: source, environment, model. Precedence: the environment over the file over
the defaults. File: ``--config``, ``CALLOSUM_CONFIG``, ``./callosum.yaml``, ``./seren-corpus-callosum.yaml``, then
``callosum.yaml`` in the user's config folder; none of them is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, SecretStr, ValidationError

from callosum_mcp.errors import SettingsError
from callosum_mcp.models.asking import AnswerPolicy
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import reason
from callosum_mcp.models.values import StoreSpec
from callosum_mcp.settings.answer_model import BackendSection
from callosum_mcp.settings.answering import answer_policy
from callosum_mcp.settings.environment import PEER_PREFIX, PREFIX, expand, overrides
from callosum_mcp.settings.model import Settings, StoreSection, TransportSection
from callosum_mcp.settings.origin import Changes, Origin
from callosum_mcp.settings.source import KeyPath, Source, read_source
from callosum_mcp.settings.stamps import Stamp, stamps
from callosum_mcp.settings.stores import declared, store_spec
from callosum_mcp.settings.tokens import bearers, token_files

DEFAULT_STORES = (
    StoreSpec(name="notes", type="notes", url="."),
    StoreSpec(name="memory", type="seren_memory", url="http://127.0.0.1:7420", optional=True),
    StoreSpec(name="loci", type="seren_loci", url="http://127.0.0.1:7422", optional=True),
)
"""The stores of a start without any settings."""

_MAY_HOLD_SECRETS = frozenset(
    {"token", "bearer_token", "bearer_tokens", "headers", "options", "url", "urls", "rerank_url", "transport"}
)
_LISTED: dict[str, type[BaseModel]] = {
    "stores": StoreSection,
    "backends": BackendSection,
    "transport": TransportSection,
}
_SHAPES = {
    "model_type": "must be a mapping of names to values",
    "dict_type": "must be a mapping of names to values",
    "list_type": "must be a list",
}
_LOCAL_FILES = ("callosum.yaml", "callosum.yml", "callosum.json", "seren-corpus-callosum.yaml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """Settings ready for use, secrets resolved.

    Attributes:
        settings: The sections as validated.
        knobs: The federation's knobs.
        stores: The base stores in order.
        store_paths: Where each store is declared, for errors found later.
        bearers: The tokens of which callers of the HTTP side must send one; none lets everybody in.
        file: The file read, if any.
        answering: How answers are written.
        overlay: Where managed stores are kept.
        source: The file's data and lines.
        environ: The environment it was read with.
        read: The files it was read from, and what they looked like just before.
        find: Looks for the file anew.
        again: Reads everything anew.
    """

    settings: Settings
    knobs: Knobs
    stores: tuple[StoreSpec, ...]
    store_paths: tuple[KeyPath, ...]
    bearers: tuple[SecretStr, ...]
    file: Path | None
    answering: AnswerPolicy
    overlay: Path
    source: Source
    environ: Mapping[str, str] = field(repr=False)
    read: Mapping[Path, Stamp]
    find: Callable[[], Path | None] = field(repr=False)
    again: Callable[[], Loaded] = field(repr=False)


def load(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Loaded:
    """The settings in force.

    Args:
        explicit: The file named on the command line.
        environ: The environment.
        cwd: The current folder.

    Raises:
        SettingsError: If anything in them cannot be used; nothing is skipped or guessed.
    """
    file = find_file(explicit, environ, cwd)
    before = stamps([file] if file else [])
    origin = Origin(
        file=file,
        source=read_source(file) if file else Source("defaults"),
        environ=environ,
        changes=overrides(environ),
        cwd=cwd,
    )
    settings = _validated(_merged(_expanded(origin), origin.changes), origin)
    sections = declared(settings, origin)
    overlay = _overlay(file, environ, cwd)
    beside = stamps([*token_files(settings.server, sections, origin), overlay])
    specs = tuple(store_spec(section, path, origin) for path, section in sections.items())
    return Loaded(
        settings=settings,
        knobs=settings.federation.knobs(),
        stores=specs if file else DEFAULT_STORES,
        store_paths=tuple(sections) if file else (("stores",),) * len(DEFAULT_STORES),
        bearers=bearers(settings.server, origin),
        file=file,
        answering=answer_policy(settings.answer, origin.source, environ),
        overlay=overlay,
        source=origin.source,
        environ=environ,
        read={**before, **beside},
        find=partial(find_file, explicit, environ, cwd),
        again=partial(load, explicit, environ, cwd),
    )


def find_file(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The settings file to read; None if there is none.

    Raises:
        SettingsError: If one is named and does not exist.
    """
    named = explicit or environ.get(f"{PREFIX}CONFIG") or environ.get(f"{PEER_PREFIX}CONFIG")
    if named:
        path = Path(cwd, os.path.expanduser(named))
        if not os.path.isfile(path):
            raise SettingsError("does not exist; check --config or CALLOSUM_CONFIG", source=str(path))
        return path
    for name in _LOCAL_FILES:
        if os.path.isfile(cwd / name):
            return cwd / name
    user = user_config_dir() / "callosum.yaml"
    return user if os.path.isfile(user) else None  # a folder that may not be entered holds nothing for us


def user_config_dir() -> Path:
    """The platform's folder for this program's settings."""
    from platformdirs import user_config_path

    return user_config_path("callosum-mcp", appauthor=False)


def _overlay(file: Path | None, environ: Mapping[str, str], cwd: Path) -> Path:
    named = environ.get(f"{PREFIX}RUNTIME_STORES") or environ.get(f"{PEER_PREFIX}RUNTIME_STORES")
    if named:
        return Path(cwd, os.path.expanduser(named))
    return (file.parent if file else user_config_dir()) / "runtime-stores.json"


def _merged(data: dict[str, Any], changes: Changes) -> dict[str, Any]:
    merged = dict(data)
    for (section, name), (_, value) in changes.items():
        inner: object = merged.get(str(section)) or {}
        if isinstance(inner, dict):
            merged[str(section)] = {**cast("dict[str, Any]", inner), str(name): value}
    return merged


def _expanded(origin: Origin) -> dict[str, Any]:
    """The file's data with variables replaced in every string, and without the keys that nothing was written after."""
    return cast("dict[str, Any]", _expand_in(origin.source.data, (), origin.source, origin.environ))


def _expand_in(value: object, path: KeyPath, source: Source, environ: Mapping[str, str]) -> object:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value)
        given = {key: item for key, item in items.items() if item is not None}
        return {key: _expand_in(item, (*path, key), source, environ) for key, item in given.items()}
    if isinstance(value, list):
        return [_expand_in(item, (*path, i), source, environ) for i, item in enumerate(cast("list[object]", value))]
    if not isinstance(value, str) or "${" not in value:
        return value
    try:
        return expand(value, environ)
    except SettingsError as fault:
        raise source.error(path, fault.problem) from None


def _validated(data: dict[str, Any], origin: Origin) -> Settings:
    try:
        return Settings.model_validate(data)
    except ValidationError as failure:
        error = failure.errors(include_url=False)[0]
        path = tuple(part for part in error["loc"])
        raise origin.error(path, _problem(error, path)) from None


def _problem(error: Mapping[str, Any], path: KeyPath) -> str:
    """What is wrong; the value is shown only where no secret can stand."""
    kind = str(error["type"])
    if kind in _SHAPES:
        return _SHAPES[kind]
    shown = error if _MAY_HOLD_SECRETS.isdisjoint(path) else {**error, "input": None}
    return reason(shown, known_at(path[:-1]))


def known_at(path: KeyPath) -> list[str]:
    """The names that may stand at a place of the settings."""
    model: type[BaseModel] = Settings
    for part in path:
        if isinstance(part, int):
            continue
        model = _inner(model, part)
    return [name for name in model.model_fields if model is not StoreSection or name != "managed"]


def _inner(model: type[BaseModel], name: str) -> type[BaseModel]:
    if name in _LISTED:
        return _LISTED[name]
    field = model.model_fields.get(name)
    inner = None if field is None else field.annotation
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else model
