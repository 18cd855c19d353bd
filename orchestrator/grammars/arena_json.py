"""Arena's own grammar: one JSON object, `{"thought": …, "action": {"kind": …}}`, amid any prose."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from arena_core.actions import Action
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.reading import impossible, problems
from orchestrator.grammars.shapes import Shaped, of_object
from orchestrator.observation import Observation

_LONGEST = 20_000
_MOST_BRACES = 100  # tried as the start of an object: broken ones nest, and each costs its depth
_FAULTS_NAMED = 3


class Reply(BaseModel):
    """What a JSON object said."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    thought: str = ""
    action: Action


@dataclass(frozen=True, slots=True)
class ArenaJson:
    """Reads the one JSON object of a text that is an action; prose around it is skipped.

    Read as well: a bare action object, the action's kind under `action` with the fields beside it,
    keys that the action does not have (left out).
    """

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the one action of the text."""
        if len(said) > _LONGEST:
            return Misread(f"it is longer than {_LONGEST} characters")
        found, fault = find_objects(said)
        if not found:
            seen = f" ({fault})" if fault else ""
            return Misread(f"it holds no JSON object with an `action`{seen}")
        if len(found) > 1:
            return Misread(f"it holds {len(found)} actions, and one step is one action")
        read = checked(found[0], observation)
        return read if isinstance(read, Misread) else read.action


def find_objects(text: str) -> tuple[list[Shaped], str | None]:
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


def last_object(text: str) -> Shaped | None:
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


def checked(shaped: Shaped, observation: Observation) -> Reply | Misread:
    """Return what an object said, if its action is valid and possible on this page."""
    try:
        # As text again: pydantic refuses there what Python lets pass, such as half a code point.
        read = Reply.model_validate_json(shaped.as_json())
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, "reply")[:_FAULTS_NAMED]))
    except RecursionError:
        return Misread("it is nested too deeply")
    return impossible(read.action, observation) or read
