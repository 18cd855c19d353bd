"""The driver of a run: an agent decides, the episode steps.

What belongs to the agent is here: its decisions, their tokens, and their time, which no task's
limit counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from arena_core.errors import AgentCrashedError, AgentError, ContextExceededError
from evaluators.evidence import Ended, Evidence, UnscoredReason
from orchestrator.agents.interface import Agent, AgentMaker, Decision, PastTurn
from orchestrator.agents.model_exchange import (
    Answers,
    ExchangeCollector,
    Spent,
    collecting,
    spent_on,
)
from orchestrator.browser.observation import Observation
from orchestrator.episode.agent_calls import decide, make_episode_agent, recall
from orchestrator.episode.episode import Episode
from orchestrator.episode.snapshot import ProofHook
from orchestrator.episode.steps import DecisionRecord

DECIDE_DEADLINE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class PlayedAttempt:
    """What an attempt left behind.

    Attributes:
        interrupted: the user stopped it in its middle.
        files: what is kept beside the evidence, by file name.
    """

    _evidence: Evidence
    files: Mapping[str, bytes]
    interrupted: bool

    def evidence(self) -> Evidence:
        return self._evidence

    @property
    def has_bug(self) -> bool:
        """Whether a bug broke it off: then nobody knows what was done to sites and browser."""
        fault = self._evidence.fault
        return fault is not None and fault.reason is UnscoredReason.INTERNAL


async def play_by(episode: Episode, act: Callable[[Observation], Awaitable[bool]]) -> PlayedAttempt:
    """Open an episode, let somebody act in it until it is over, and score it.

    Args:
        act: is given what is seen first, also of an episode that was over at once; returns whether
            the attempt was left. What it raises is the episode's outcome where that is a fault of
            the world or a bug.
    """
    was_left = False
    async with episode:
        observation = await episode.reset()
        try:
            was_left = await act(observation)
        except Exception as error:
            if not episode.break_off_by(error):
                raise
        interrupted = was_left or not episode.is_over
        if not interrupted:
            await episode.score()
    return PlayedAttempt(episode.evidence(), episode.files, interrupted)


class Meter(Protocol):
    """Knows what a run may spend on models, and what it spent."""

    @property
    def exhausted(self) -> str | None:
        """Why no further decision may be paid for; None while one may."""

    def add(self, spent: Spent) -> None:
        """Count what a decision took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRunner:
    """Plays episodes with agents.

    Attributes:
        recording: whose replies answer the agent's questions; None where models do.
        meter: of the run; None where nobody counts.
        interrupted: set when the user asked to stop: no step begins after the one under way.
        proof_hook: looks at each episode in its middle; None where nobody does.
        past: what was done before the agent begins, where it is to be told.
    """

    agent: AgentMaker
    interrupted: asyncio.Event
    proof_hook: ProofHook | None = None
    meter: Meter | None = None
    recording: Answers | None = None
    past: tuple[PastTurn, ...] = ()

    async def play(self, episode: Episode) -> PlayedAttempt:
        return await play_by(episode, partial(self._act, episode))

    async def _act(self, episode: Episode, observation: Observation) -> bool:
        """Let the agent act until the episode is over or the user interrupts."""
        if episode.is_over:
            return False
        asked = ExchangeCollector(
            episode=f"{episode.world}-{episode.task.id}-r{episode.assignment.repeat}",
            answers=self.recording,
        )
        with collecting(asked):
            try:
                agent = make_episode_agent(self.agent, episode.assignment, episode.reference)
            except AgentCrashedError as crash:
                episode.end(Ended.AGENT_CRASHED, crash.message)
                return False
            if recall(agent, self.past):
                episode.tell_past()
            await self._play_steps(agent, episode, observation, asked)
        return False

    async def _play_steps(
        self, agent: Agent, episode: Episode, observation: Observation, asked: ExchangeCollector
    ) -> None:
        step = 0
        while not episode.is_over:
            if self.meter is not None and (spent := self.meter.exhausted) is not None:
                episode.break_off(UnscoredReason.BUDGET, spent)
                return
            step += 1
            try:
                decision, decide_ms = await _decided(agent, observation, episode)
            except BaseException:  # also where it is cut short: what was asked was paid for
                self._account(episode, None, asked)
                raise
            self._account(episode, decision, asked)
            if decision is None:
                return
            if not await self._hook_permits(episode, step):
                return
            decided = DecisionRecord(thought=decision.thought, decide_ms=decide_ms)
            observation = (await episode.step(decision.action, decided)).observation
            if self.interrupted.is_set():
                return

    def _account(
        self, episode: Episode, decision: Decision | None, asked: ExchangeCollector
    ) -> None:
        for exchange in decision.exchanges if decision else ():
            asked.add(exchange)
        exchanges = asked.take()
        episode.keep_exchanges(exchanges)
        told = (decision.input_tokens, decision.output_tokens, decision.usd) if decision else None
        spent = spent_on(exchanges, *(told or (0, 0, None)))
        episode.spend(spent)
        if self.meter is not None and not any(one.replayed_from for one in exchanges):
            self.meter.add(spent)

    async def _hook_permits(self, episode: Episode, step: int) -> bool:
        """Let the proof hook look before an action; False where the world broke under the look."""
        if self.proof_hook is None:
            return True
        wanted = self.proof_hook.wants(episode.task, episode.world, step)
        if wanted is None:
            return True
        snapshot = await episode.snapshot(wanted)
        if snapshot is not None:
            self.proof_hook.saw(episode.task, episode.world, snapshot)
        return snapshot is not None


async def _decided(
    agent: Agent, observation: Observation, episode: Episode
) -> tuple[Decision | None, float]:
    """Return what the agent does next and the milliseconds it took; None where it gave up.

    Every agent bounds its decisions itself, and a model that stalls raises ModelError: the deadline
    here is for one that does neither.
    """
    began = time.monotonic()
    decision: Decision | None = None
    deadline = asyncio.timeout(DECIDE_DEADLINE_S)
    try:
        async with deadline:
            decision = await decide(agent, observation)
    except AgentCrashedError as crash:
        episode.end(Ended.AGENT_CRASHED, crash.message)
    except (AgentError, ContextExceededError) as error:
        episode.end(Ended.AGENT_GAVE_UP, error.message)
    except TimeoutError:
        if not deadline.expired():
            raise
        because = f"the agent took more than {DECIDE_DEADLINE_S:g} s for a decision"
        episode.end(Ended.DEADLINE, because)
    return decision, round((time.monotonic() - began) * 1000, 1)
