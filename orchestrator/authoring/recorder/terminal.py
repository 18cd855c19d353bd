"""A recording without a window: one action a line, in the words that agents write."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Action, AskUser, Infeasible, Stop
from evaluators.responses import answer_of
from orchestrator.agents.action_spaces.arena_json import ArenaJson
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.action_spaces.webarena import read_written
from orchestrator.authoring.recorder.capture import PersonCapture
from orchestrator.browser.observation import Observation

GRAMMAR: Final = (
    "click [12]   type [7] [red kettle] [1]   hover [3]   press [Escape]   goto [URL]   go_back"
    '   {"kind": "select", "element": 5, "option": "Red"}   stop [the answer]'
)
_PATIENCE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class LineDone:
    """What became of a line.

    Attributes:
        error: why nothing was done; None where it was.
        is_stop: the recording is over.
        answer: what the line said is the answer.
    """

    error: str | None = None
    is_stop: bool = False
    answer: str | None = None


async def do_line(capture: PersonCapture, line: str) -> LineDone:
    """Do what a line says, and return when it is written down."""
    seen = capture.seen
    if seen is None:
        return LineDone(error="no page is open")
    action = read_line(line, seen)
    match action:
        case Misread(why=why):
            return LineDone(error=why)
        case Stop():
            return LineDone(is_stop=True, answer=answer_of(action))
        case Infeasible() | AskUser():
            why = "a recording asks nobody and ends with `stop`: only what can be done is recorded"
            return LineDone(error=why)
        case _:
            pass
    before = capture.recording
    error = await capture.act(action)
    if error is not None:
        return LineDone(error=error)
    return await _written(capture, before)


async def _written(capture: PersonCapture, before: object) -> LineDone:
    """Wait until the step is written down; an action that changed nothing makes none."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await capture.wait_for_step(before)
    except TimeoutError:
        return LineDone(error="the page took no notice of it: nothing is recorded")
    return LineDone()


def read_line(line: str, seen: Observation) -> Action | Misread:
    """Read one action: in WebArena's words, or as Arena's JSON. Nothing is evaluated."""
    text = line.strip()
    if text.startswith("{"):
        return ArenaJson().parse(text, seen)
    if text == "stop":
        return Stop()
    written = read_written(text)
    return written if isinstance(written, Misread) else written.on(seen)
