"""The shapes in which models write one action: wrapped, bare, as a tool call, with more keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from arena_core.actions import Action

_FIELDS: Mapping[str, frozenset[str]] = {
    one.model_fields["kind"].default: frozenset(one.model_fields)
    for one in get_args(get_args(Action)[0])
}


@dataclass(frozen=True, slots=True)
class Shaped:
    """What is to be read as a reply; nothing in it is proven yet.

    Attributes:
        action: as it was written, but for keys that its kind does not have.
        is_bare: it stood without the wrapper `{"thought": …, "action": …}`.
    """

    action: object
    thought: str
    is_bare: bool

    def as_json(self) -> str:
        """Return it in the wrapper."""
        return json.dumps({"thought": self.thought, "action": self.action})


def of_object(value: object) -> Shaped | None:
    """Return the action that a JSON object is, None where it is something else.

    The action may stand under `action`, as an object or as its kind with the rest beside it, or the
    object is the action.
    """
    if not isinstance(value, Mapping):
        return None
    if "action" in value:
        action = value["action"]
        if isinstance(action, str) and action in _FIELDS:
            action = {**value, "kind": action}
        return Shaped(_known(action), _thought(value), is_bare=False)
    return Shaped(_known(value), _thought(value), is_bare=True) if _is_kind(value) else None


def of_call(name: str, said: str) -> Shaped | str:
    """Return the action that a tool call is, or what is wrong with it, in words for the model.

    The function may be named as the action, with the action's fields as arguments, or hold one of
    the shapes of `of_object`. `said` holds the arguments as they came.
    """
    try:
        arguments = json.loads(said or "{}")
    except (ValueError, RecursionError) as broken:
        return f"the arguments of your call of {name!r} are no JSON ({broken})"
    if (shaped := of_object(arguments)) is not None:
        return shaped
    if not isinstance(arguments, Mapping) or name not in _FIELDS:
        return f"there is no function {name!r} that could be called"
    return Shaped(_known({**arguments, "kind": name}), _thought(arguments), is_bare=False)


def _is_kind(value: Mapping[str, object]) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and kind in _FIELDS


def _known(action: object) -> object:
    """Return an action without keys that its kind does not have: models add reasons and labels."""
    if not isinstance(action, Mapping) or not _is_kind(action):
        return action
    fields = _FIELDS[action["kind"]]
    return {name: value for name, value in action.items() if name in fields}


def _thought(value: Mapping[str, object]) -> str:
    thought = value.get("thought")
    return thought if isinstance(thought, str) else ""
