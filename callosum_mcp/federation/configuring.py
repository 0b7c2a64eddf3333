"""`configure`: a state with other values, all of them or none, and what changed.

Above: administration. Below: knobs and requests. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from callosum_mcp.errors import InvalidInput
from callosum_mcp.federation.gathering import State
from callosum_mcp.models.knobs import Knobs
from callosum_mcp.models.requests import StoreChange, explain, nearest, parse
from callosum_mcp.models.results import Change

MAX_STORES = 64
"""The most stores of one process."""


def configured(old: State, changes: Mapping[str, Any]) -> State:
    """The state with other knobs, weights, floors and enabled stores.

    Raises:
        InvalidInput: For any value out of its bound, with the bound.
        UnknownStore: If `stores` names one that does not exist.
    """
    known = [*Knobs.model_fields, "stores"]
    unknown = [name for name in changes if name not in known]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]}: is unknown; {nearest(unknown[0], known)}", field=unknown[0], kind="extra_forbidden"
        )
    wanted = {name: value for name, value in changes.items() if name != "stores" and value is not None}
    try:
        knobs = Knobs.model_validate({**old.knobs.model_dump(), **wanted}, strict=True)
    except ValidationError as failure:
        raise explain(failure, Knobs) from None
    stores = old.stores
    for change in _store_changes(changes.get("stores")):
        stores.get(change.name)
        stores = stores.changed(change.name, change.model_dump(exclude={"name"}, exclude_none=True))
    return State(stores=stores, knobs=knobs)


def _store_changes(value: object) -> list[StoreChange]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInput("stores: must be a list of {name, weight?, floor?, enabled?}", field="stores")
    items = cast("list[object]", value)
    if len(items) > MAX_STORES:
        raise InvalidInput(f"stores: must hold at most {MAX_STORES} entries", field="stores", kind="too_long")
    return [_store_change(index, item) for index, item in enumerate(items)]


def _store_change(index: int, item: object) -> StoreChange:
    place = f"stores.{index}"
    if not isinstance(item, dict):
        raise InvalidInput(f"{place}: must be {{name, weight?, floor?, enabled?}}", field=place, kind="dict_type")
    try:
        return parse(StoreChange, cast("dict[str, Any]", item))
    except InvalidInput as fault:
        raise InvalidInput(f"{place}.{fault}", field=f"{place}.{fault.field}", kind=fault.kind) from None


def differences(old: State, new: State) -> list[Change]:
    """What a change changed, old and new."""
    before, after = _flat(old), _flat(new)
    return [Change(setting=name, old=before[name], new=value) for name, value in after.items() if before[name] != value]


def _flat(state: State) -> dict[str, Any]:
    flat: dict[str, Any] = dict(state.knobs.model_dump(mode="json"))
    for store in state.stores.stores:
        for name in ("weight", "floor", "enabled"):
            flat[f"stores.{store.spec.name}.{name}"] = getattr(store.spec, name)
    return flat
