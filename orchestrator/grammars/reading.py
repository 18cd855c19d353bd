"""What all grammars end with: an action that is valid, and that the page and the browser have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import TypeAdapter, ValidationError

from arena_core.actions import Action, FocusTab
from orchestrator.grammars.grammar import Misread
from orchestrator.observation import (
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    MarkedPicture,
    Observation,
    PrunedHtml,
)

ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
# The fields of actions that name elements of the page.
_NAMES_ELEMENT: Final = ("element", "to")
_REFERENCE: Final = re.compile(r"\[ref=e(\d{1,18})\]")
_ATTRIBUTE: Final = re.compile(r'\barena="(\d{1,18})"')


def build(observation: Observation, kind: str, **fields: object) -> Action | Misread:
    """Return the action of this kind with these fields, if it is valid and possible.

    Fields are taken as they were said; what JSON cannot hold makes no action.
    """
    try:
        # As text: pydantic refuses there what Python lets pass, such as half a code point.
        action = ACTION.validate_json(json.dumps({"kind": kind, **fields}, allow_nan=False))
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, kind)))
    except (TypeError, ValueError, RecursionError) as cause:
        return Misread(f"{kind}: {cause}")
    return impossible(action, observation) or action


def impossible(action: Action, observation: Observation) -> Misread | None:
    """Say why an action names something that this page or browser does not have.

    Elements are known from every form of observation that the agent was shown; where none of them
    names elements, such as a bare picture, the browser finds out.
    """
    listed = [ids for part in observation.parts.values() if (ids := _listed(part)) is not None]
    for name in _NAMES_ELEMENT:
        element = getattr(action, name, None)
        if isinstance(element, int) and listed and all(element not in ids for ids in listed):
            return Misread(f"there is no element {element} on the current page")
    if isinstance(action, FocusTab) and all(tab.index != action.index for tab in observation.tabs):
        return Misread(f"there is no tab {action.index}")
    return None


def problems(cause: ValidationError, whole: str) -> tuple[str, ...]:
    """Return what pydantic found wrong, one text a fault; `whole` names what has no field."""
    faults = cause.errors(include_url=False, include_context=False, include_input=False)
    return tuple(
        f"{'.'.join(str(part) for part in fault['loc']) or whole}: {fault['msg']}"
        for fault in faults
    )


def _listed(part: object) -> frozenset[int] | None:  # noqa: PLR0911 - one case per form
    """Return the ids of the elements in one part; None for a form that names no elements."""
    match part:
        case AxTree(nodes=nodes):
            return frozenset(node.id for node in nodes)
        case MarkedPicture(marks=marks):
            return frozenset(mark.id for mark in marks)
        case PrunedHtml(ids=ids):
            return frozenset(ids.values())
        case AriaSnapshot(text=text):
            return frozenset(map(int, _REFERENCE.findall(text)))
        case Html(text=text):
            return frozenset(map(int, _ATTRIBUTE.findall(text)))
        case Mapping() if all(isinstance(one, Box) for one in part.values()):
            return frozenset(one for one in part if isinstance(one, int))
        case _:
            return None
