"""Reads an action out of what a model said; never evaluates it, never guesses."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from arena_core.actions import Action, Click, FocusTab, Hover, Select, Type
from orchestrator.agents.shapes import Shaped, of_call, of_object
from orchestrator.agents.thinking import put_aside
from orchestrator.model.client import ModelReply
from orchestrator.observation import Observation

_LONGEST_REPLY = 20_000
_MOST_BRACES = 100  # tried as the start of an object: broken ones nest, and each costs its depth
_AFTER_THE_END = "` \t\r\n"


class Reply(BaseModel):
    """One reply of the model."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    thought: str = ""
    action: Action


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a reply cannot be used, in words for the model: what it said is the agent's matter."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoContent:
    """Nothing was said, though the reply was not cut off: the model's matter, not the agent's."""


def read_reply(said: ModelReply, observation: Observation) -> Reply | Unusable | NoContent:
    """Return the reply's one action, valid and possible on this page, or what is wrong with it.

    Thinking is put aside before any limit applies, and an action that it quotes is none. Only where
    nothing else was said does the action count that ends it: some endpoints take a whole reply for
    thinking.
    """
    parted = put_aside(said.text)
    if not parted.reply and not said.calls:
        return _of_thinking(f"{said.thinking}\n{parted.thinking}", said, observation)
    if len(parted.reply) + sum(len(call.arguments) for call in said.calls) > _LONGEST_REPLY:
        return Unusable((f"it is longer than {_LONGEST_REPLY} characters",))
    found, fault = _objects(parted.reply)
    called = [of_call(call) for call in said.calls]
    for shaped in called:
        if isinstance(shaped, Shaped) and shaped.action not in [one.action for one in found]:
            found.append(shaped)
    if not found:
        wrong = tuple(one for one in called if isinstance(one, str))
        seen = f" ({fault})" if fault else ""
        return Unusable(wrong or (f"it holds no JSON object with an `action`{seen}",))
    if len(found) > 1:
        return Unusable((f"it holds {len(found)} actions, and one step is one action",))
    return _checked(found[0], observation)


def _checked(shaped: Shaped, observation: Observation) -> Reply | Unusable:
    try:
        # As text again: pydantic refuses there what Python lets pass, such as half a code point.
        reply = Reply.model_validate_json(shaped.as_json())
    except ValidationError as cause:
        return Unusable(_problems(cause))
    return _impossible(reply.action, observation) or reply


def _objects(text: str) -> tuple[list[Shaped], str | None]:
    """Return the JSON objects of a text that are actions, and the first broken one's fault.

    Prose around them is skipped; what stands inside an object belongs to it. Where an object has an
    `action`, others that merely look like one are quotations; behind a broken one, too, they may be
    a part of it.
    """
    decoder = json.JSONDecoder()
    found: list[Shaped] = []
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
            shaped = of_object(value)
            if shaped is not None and not (shaped.is_bare and fault):
                found.append(shaped)
        start = text.find("{", end)
    whole = [shaped for shaped in found if not shaped.is_bare]
    return whole or found, fault


def _of_thinking(
    thinking: str, said: ModelReply, observation: Observation
) -> Reply | Unusable | NoContent:
    """Read a reply that holds nothing but thinking."""
    if said.is_cut:
        return Unusable(("it ended at the length limit before it said anything",))
    shaped = _last_object(thinking[-_LONGEST_REPLY:].rstrip(_AFTER_THE_END))
    return NoContent() if shaped is None else _checked(shaped, observation)


def _last_object(text: str) -> Shaped | None:
    """Return the action with which a text ends; None where something else follows it."""
    decoder = json.JSONDecoder()
    start = len(text)
    for _ in range(_MOST_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        shaped = of_object(value) if end == len(text) else None
        if shaped is not None:
            return shaped
    return None


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
