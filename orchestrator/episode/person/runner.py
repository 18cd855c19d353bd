"""Plays an episode with a person: opens it, lets the clock run, and scores what they did."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final

from arena_core.actions import AnswerStatus
from evaluators.evidence import Ended, UnscoredReason
from evaluators.responses import ending
from orchestrator.browser.observation import Observation
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import PlayedAttempt, play_by
from orchestrator.episode.external.episode import Finish, Status
from orchestrator.episode.person.agent import Card, PersonAgent
from orchestrator.episode.person.steps import PersonSteps
from orchestrator.episode.person.stopwatch import Stopwatch
from orchestrator.episode.steps import DecisionRecord
from tasks.schema import Task

LOST: Final = "the window was closed, or the browser ended"
_GAVE_UP: Final = "the person gave up"
_AGAIN: Final = "The window was closed, so this task does not count. It is asked again later."


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRunner:
    """Plays episodes with a person.

    Attributes:
        interrupted: set when the person stops for today, or the user ended the run.
    """

    agent: PersonAgent
    interrupted: asyncio.Event

    async def play(self, episode: Episode) -> PlayedAttempt:
        """Play an attempt.

        Closing the window is no failure, and neither is a browser that died under somebody: which
        of the two it was cannot be told. The attempt is left, and the task played again.
        """
        return await play_by(episode, partial(self._let_act, episode))

    async def _let_act(self, episode: Episode, _: Observation) -> bool:
        """Let the person act until they or something else ends it; whether they left it."""
        if episode.is_over:
            return False
        card = card_of(episode.task, self.agent, episode.assignment.intent)
        clock = Stopwatch()
        steps = PersonSteps(episode, clock)
        try:
            clock.start()
            said = await self._until_ended(card, clock, steps)
            clock.stop()
            steps.record_times()
            if said == LOST:
                self.agent.desk.tell(_AGAIN)
                episode.break_off(UnscoredReason.INFRA, LOST)
                return True
            await steps.finish()
        finally:
            await steps.close()
        if said is not None and not episode.is_over:
            await self._conclude(episode, said, steps.idle_ms)
        return False

    async def _until_ended(
        self, card: Card, clock: Stopwatch, steps: PersonSteps
    ) -> Finish | str | None:
        """Wait; what the person said, why it ended without that, None where nothing is theirs."""
        said = asyncio.create_task(self.agent.desk.play(card, clock))
        lost = asyncio.create_task(steps.lost())
        late = asyncio.create_task(clock.runs_out(card.limit_s))
        others = [asyncio.create_task(one.wait()) for one in (steps.over, self.interrupted)]
        try:
            await asyncio.wait([said, lost, late, *others], return_when=asyncio.FIRST_COMPLETED)
            if lost.done():
                return LOST
            if any(one.done() for one in others):
                return None
            if said.done():
                return said.result()
            self.agent.desk.tell("Time is up: the task is scored as it stands.")
            return f"{card.limit_s:g} s were over"
        finally:
            for one in (said, lost, late, *others):
                one.cancel()
            await asyncio.gather(said, lost, late, *others, return_exceptions=True)

    async def _conclude(self, episode: Episode, said: Finish | str, idle_ms: float) -> None:
        if isinstance(said, str):
            episode.end(Ended.DEADLINE, said)
        elif said.status is Status.GAVE_UP:
            episode.end(Ended.AGENT_GAVE_UP, said.because or _GAVE_UP)
        else:
            action = ending(AnswerStatus(said.status), said.answer, said.data, said.because)
            await episode.step(action, DecisionRecord(decide_ms=idle_ms))


def card_of(task: Task, agent: PersonAgent, intent: str | None = None) -> Card:
    """Return what a person is told of a task; a page may word the intent once it is open."""
    return Card(
        task=task.id,
        intent=task.intent if intent is None else intent,
        limit_s=task.limits.seconds if agent.limit_s is None else agent.limit_s,
    )
