"""Arena's own actions as JSON, amid any prose, or as tool calls; nothing is evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from arena_core.actions import Action
from orchestrator.agents.action_spaces.parser import Misread, impossible, problems
from orchestrator.agents.model.completion import Completion, split_thinking
from orchestrator.browser.observation import Observation

_LONGEST = 20_000
_MOST_BRACES = 100  # tried as the start of an object: broken ones nest, and each costs its depth
_FAULTS_NAMED = 3
_CONFIDENCE = "confidence"
_AFTER_THE_END = "` \t\r\n"
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
        return json.dumps({"thought": self.thought, "action": self.action})

    def without(self, field: str) -> Shaped:
        """Return it without a field of its action."""
        if not isinstance(self.action, Mapping) or field not in self.action:
            return self
        rest = {name: value for name, value in self.action.items() if name != field}
        return replace(self, action=rest)


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

    Attributes:
        with_confidence: whoever says something was told of `confidence`. Where not, it is a key
            like any other that the action does not have: a model's own word for something.
    """

    with_confidence: bool = False

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        if len(said) > _LONGEST:
            return Misread(f"it is longer than {_LONGEST} characters")
        shaped = _only(*find_objects(said))
        if isinstance(shaped, Misread):
            return shaped
        read = checked(shaped, observation, with_confidence=self.with_confidence)
        return read if isinstance(read, Misread) else read.action


def _only(found: Sequence[Shaped], fault: str | None) -> Shaped | Misread:
    if not found:
        seen = f" ({fault})" if fault else ""
        return Misread(f"it holds no JSON object with an `action`{seen}")
    if len(found) > 1:
        return Misread(f"it holds {len(found)} actions, and one step is one action")
    return found[0]


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


def checked(
    shaped: Shaped, observation: Observation, *, with_confidence: bool = False
) -> Reply | Misread:
    """Return what an object said, if its action is valid and possible on this page."""
    if not with_confidence:
        shaped = shaped.without(_CONFIDENCE)
    try:
        # As text again: pydantic refuses there what Python lets pass, such as half a code point.
        read = Reply.model_validate_json(shaped.as_json())
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, "reply")[:_FAULTS_NAMED]))
    except RecursionError:
        return Misread("it is nested too deeply")
    return impossible(read.action, observation) or read


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a reply cannot be used, in words for the model: what it said is the agent's matter."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoContent:
    """Nothing was said, though the reply was not cut off: the model's matter, not the agent's."""


def read_reply(
    said: Completion, observation: Observation, *, with_confidence: bool = False
) -> Reply | Unusable | NoContent:
    """Return the reply's one action, valid and possible on this page, or what is wrong with it.

    Thinking is put aside before any limit applies, and an action that it quotes is none. Only where
    nothing else was said does the action count that ends it: some endpoints take a whole reply for
    thinking. `with_confidence` is as of `ArenaJson`.
    """
    parted = split_thinking(said.text)
    if not parted.reply and not said.tool_calls:
        thought = _of_thinking(f"{said.thinking}\n{parted.thinking}", said)
        if not isinstance(thought, Shaped):
            return thought
        return _checked(thought, observation, with_confidence=with_confidence)
    if len(parted.reply) + sum(len(call.arguments) for call in said.tool_calls) > _LONGEST:
        return Unusable((f"it is longer than {_LONGEST} characters",))
    found, fault = find_objects(parted.reply)
    called = [of_call(call.name, call.arguments) for call in said.tool_calls]
    for shaped in called:
        if isinstance(shaped, Shaped) and shaped.action not in [one.action for one in found]:
            found.append(shaped)
    wrong = tuple(one for one in called if isinstance(one, str))
    if wrong and not found:
        return Unusable(wrong)
    only = _only(found, fault)
    if isinstance(only, Misread):
        return Unusable((only.why,))
    return _checked(only, observation, with_confidence=with_confidence)


def _checked(
    shaped: Shaped, observation: Observation, *, with_confidence: bool
) -> Reply | Unusable:
    read = checked(shaped, observation, with_confidence=with_confidence)
    return Unusable((read.why,)) if isinstance(read, Misread) else read


def _of_thinking(thinking: str, said: Completion) -> Shaped | Unusable | NoContent:
    if said.is_cut:
        return Unusable(("it ended at the length limit before it said anything",))
    shaped = last_object(thinking[-_LONGEST:].rstrip(_AFTER_THE_END))
    return NoContent() if shaped is None else shaped
