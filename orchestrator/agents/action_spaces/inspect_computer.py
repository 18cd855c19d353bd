"""Inspect's tool `computer`: Anthropic's vocabulary, and what Inspect has beside it.

Source: `inspect_ai/tool/_tools/_computer/_computer.py` of 0.3.285, which its providers translate
the calls of Anthropic, Google and OpenAI into.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from arena_core.actions import Action, Back, Forward
from orchestrator.agents.action_spaces.anthropic_computer import NAME, AnthropicComputer
from orchestrator.agents.action_spaces.parser import Misread, valid
from orchestrator.browser.observation import Observation

_MOST_REPEATS: Final = 100
_VOCABULARY: Final = AnthropicComputer()


def read_computer(said: object, seen: Observation) -> tuple[Action, ...] | Misread:
    """Return the actions of one call; arguments that are null are as good as not given."""
    if not isinstance(said, dict):
        return Misread("an action is an object with the field `action`")
    given = {name: value for name, value in said.items() if value is not None}
    actions: list[Action] = []
    for part in _parts(given):
        read = _read(part, seen)
        if isinstance(read, Misread):
            return read
        actions += read
    return tuple(actions)


def _parts(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a call as calls without what Inspect's parameters have beside Anthropic's."""
    call = dict(given)
    match call.get("action"):
        case "type":
            at, enters = call.pop("coordinate", None), call.pop("press_enter", False)
            before = [] if at is None else [{"action": "left_click", "coordinate": at}]
            return [*before, call, *([{"action": "key", "text": "Return"}] if enters else [])]
        case "key" if call.get("repeat", 1) in range(1, _MOST_REPEATS + 1):
            return [call] * int(call.pop("repeat", 1))
        case "open_web_browser":  # it is open
            return [{"action": "screenshot"}]
        case _:
            return [call]


def _read(call: Mapping[str, Any], seen: Observation) -> tuple[Action, ...] | Misread:
    match call.get("action"):
        case "back_click":
            return (Back(),)
        case "forward_click":
            return (Forward(),)
        case "navigate":
            read = valid("goto", url=call.get("text"))
            return read if isinstance(read, Misread) else (read,)
        case _:
            return _VOCABULARY.read(NAME, json.dumps(call), seen)
