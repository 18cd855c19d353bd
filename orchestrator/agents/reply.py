"""Reads an action out of what a model said; never evaluates it, never guesses."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.agents.thinking import put_aside
from orchestrator.grammars.arena_json import Reply, checked, find_objects, last_object
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.shapes import Shaped, of_call
from orchestrator.model.completion import Completion
from orchestrator.observation import Observation

_LONGEST_REPLY = 20_000
_AFTER_THE_END = "` \t\r\n"


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a reply cannot be used, in words for the model: what it said is the agent's matter."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoContent:
    """Nothing was said, though the reply was not cut off: the model's matter, not the agent's."""


def read_reply(said: Completion, observation: Observation) -> Reply | Unusable | NoContent:
    """Return the reply's one action, valid and possible on this page, or what is wrong with it.

    Thinking is put aside before any limit applies, and an action that it quotes is none. Only where
    nothing else was said does the action count that ends it: some endpoints take a whole reply for
    thinking.
    """
    parted = put_aside(said.text)
    if not parted.reply and not said.tool_calls:
        return _of_thinking(f"{said.thinking}\n{parted.thinking}", said, observation)
    if len(parted.reply) + sum(len(call.arguments) for call in said.tool_calls) > _LONGEST_REPLY:
        return Unusable((f"it is longer than {_LONGEST_REPLY} characters",))
    found, fault = find_objects(parted.reply)
    called = [of_call(call.name, call.arguments) for call in said.tool_calls]
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
    read = checked(shaped, observation)
    return Unusable((read.why,)) if isinstance(read, Misread) else read


def _of_thinking(
    thinking: str, said: Completion, observation: Observation
) -> Reply | Unusable | NoContent:
    """Read a reply that holds nothing but thinking."""
    if said.is_cut:
        return Unusable(("it ended at the length limit before it said anything",))
    shaped = last_object(thinking[-_LONGEST_REPLY:].rstrip(_AFTER_THE_END))
    return NoContent() if shaped is None else _checked(shaped, observation)
