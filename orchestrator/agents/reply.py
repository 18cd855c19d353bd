"""Reads an action out of what a model said; never evaluates it, never guesses."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluators.actions import Action, Click, FocusTab, Hover, Select, Type
from orchestrator.observation import Observation

_LONGEST_REPLY = 20_000
_MOST_BRACES = 100  # tried as the start of an object: broken ones nest, and each costs its depth
_END_OF_THINKING = "</think>"


class Reply(BaseModel):
    """One reply of the model.

    Fields beside these two are let pass: models add `observation` and the like, and asking again
    costs more than it mends. The action itself is strict.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    thought: str = ""
    action: Action


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a reply cannot be used, in words for the model."""

    problems: tuple[str, ...]


def read_reply(text: str, observation: Observation) -> Reply | Unusable:
    """Return the reply's one action, valid and possible on this page, or what is wrong with it."""
    if len(text) > _LONGEST_REPLY:
        return Unusable((f"it is longer than {_LONGEST_REPLY} characters",))
    found, fault = _objects(text.rpartition(_END_OF_THINKING)[2])
    if not found:
        seen = f" ({fault})" if fault else ""
        return Unusable((f"it holds no JSON object with an `action`{seen}",))
    if len(found) > 1:
        return Unusable((f"it holds {len(found)} actions, and one step is one action",))
    try:
        # From the text again: pydantic refuses what Python lets pass, such as half a code point.
        reply = Reply.model_validate_json(found[0])
    except ValidationError as cause:
        return Unusable(_problems(cause))
    return _impossible(reply.action, observation) or reply


def _objects(text: str) -> tuple[list[str], str | None]:
    """Return the JSON objects with an `action` that stand in a text, and the first broken one.

    Prose around them is skipped; what stands inside an object belongs to it.
    """
    decoder = json.JSONDecoder()
    found: list[str] = []
    fault: str | None = None
    start = text.find("{")
    for _ in range(_MOST_BRACES):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as broken:
            fault = fault or str(broken)
            end = start + 1
        else:
            if "action" in value:
                found.append(text[start:end])
        start = text.find("{", end)
    return found, fault


def _problems(cause: ValidationError) -> tuple[str, ...]:
    faults = cause.errors(include_url=False, include_context=False, include_input=False)
    return tuple(
        f"{'.'.join(str(part) for part in fault['loc']) or 'reply'}: {fault['msg']}"
        for fault in faults
    )


def _impossible(action: Action, observation: Observation) -> Unusable | None:
    """Say why an action names something that this page or browser does not have."""
    if isinstance(action, Click | Hover | Type | Select):
        if all(node.id != action.element for node in observation.nodes):
            return Unusable((f"there is no element {action.element} on the current page",))
    elif isinstance(action, FocusTab) and all(
        tab.index != action.index for tab in observation.tabs
    ):
        return Unusable((f"there is no tab {action.index}",))
    return None
