"""The episode as an environment: reset, step, evaluate, close.

Whoever decides what to do next (the runner, a proof, a script) drives one of these. What it does
not decide is the episode's own: the time limit counts nothing but steps, the evidence is written
here, and a fault of the world is an outcome, never an exception.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import replace
from typing import Final, Self, cast

from arena_core.actions import Action, AnswerStatus, Infeasible, Stop
from arena_core.errors import StateError, UsageError
from arena_core.worlds import World
from evaluators.checks import Look
from evaluators.evidence import Ended, EpisodeFault, Evidence, TriedWay, UnscoredReason
from evaluators.fields import When
from evaluators.responses import answer_of, response_of
from evaluators.scores import Score, score
from orchestrator.agents.interface import Assignment, Reference
from orchestrator.agents.model_exchange import ModelExchange, Spent
from orchestrator.browser.observation import AXTREE, AxTree, Observation
from orchestrator.browser.observations.forms import load_form
from orchestrator.browser.session.page_state import BrowserState
from orchestrator.episode.calls import EpisodeCalls
from orchestrator.episode.checkpoint import (
    Branching,
    Checkpoint,
    PageWay,
    come_back,
    take_checkpoint,
)
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment, SharedSession
from orchestrator.episode.faults import fault_of, start_fault
from orchestrator.episode.locators import Locators
from orchestrator.episode.protocol import protocol_of
from orchestrator.episode.record import EpisodeRecord
from orchestrator.episode.resources import (
    open_resources,
    required_in,
    requirements_hold,
    start_pages,
)
from orchestrator.episode.snapshot import EpisodeSnapshot, look_at_end, look_beside
from orchestrator.episode.steps import DecisionRecord, StepPlayer, StepResult
from tasks.schema import Task

_SNAPSHOT_S: Final = 600.0
_CANNOT: Final = "the agent says that it cannot be done"
_ENDS_OF_DRIVERS: Final = frozenset(
    {Ended.AGENT_GAVE_UP, Ended.AGENT_CRASHED, Ended.DEADLINE, Ended.STEP_LIMIT}
)


class Episode:
    """One attempt at one task in one world, played once: `reset`, `step` …, `evaluate`, `close`.

    A fault of the world (a site that died, a login that fails, a browser that crashed) raises
    nothing, nor does a bug of Arena's: the episode is over then, and its score says `unscored` and
    why. What does raise is misuse, as UsageError.

    Between calls nothing counts and nothing happens: a driver may take its time. One that closes
    the episode before `evaluate` leaves evidence without an end, which scores as unscored.

    Args:
        spec: who plays what.
        environment: what it is played on; of a branch, with replicas in `Checkpoint.states`.
        goes_on: the checkpoint that it goes on from, and how its pages come back; None for an
            episode from its start.
    """

    def __init__(
        self,
        spec: AttemptSpec,
        environment: EpisodeEnvironment,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
    ) -> None:
        self._task = spec.task
        self._environment = environment
        self._goes_on = goes_on
        self.tried: tuple[TriedWay, ...] = ()  # the ways before this one; set before `reset`
        self._id = goes_on[0].root if goes_on else secrets.token_hex(8)
        self._protocol = protocol_of(spec.task)
        self._record = EpisodeRecord(spec, environment)
        self._resources = AsyncExitStack()
        self._player: StepPlayer | None = None
        self._observation = _nothing_seen(None)
        self._left_s = spec.task.limits.seconds
        self._returned_at = 0.0
        self._score: Score | None = None
        self._calls = EpisodeCalls(self.break_off, self.break_off_by)
        self._was_reset = False
        self._closing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def task(self) -> Task:
        return self._task

    @property
    def world(self) -> World:
        return self._environment.world

    @property
    def is_over(self) -> bool:
        """Whether no further step can be done: it has ended, broke off, or was closed."""
        return self._record.is_over or self._calls.is_closed

    @property
    def observation(self) -> Observation:
        """What was seen last; empty before `reset`."""
        return self._observation

    @property
    def assignment(self) -> Assignment:
        """What an agent may know of its task; a page may word the intent, so only after `reset`."""
        if not self._was_reset:
            message = f"the episode of '{self._task.id}' is not reset yet: what it asks is unknown"
            raise UsageError(message, hint="await reset() first")
        upstreams = self._environment.upstreams
        return Assignment(
            task=self._task.id,
            intent=self._protocol.intent,
            world=upstreams.world,
            sites={
                upstream.site.title: upstreams.url(f"{name}:/")
                for name, upstream in upstreams.by_site.items()
            },
            site_urls={name: upstreams.url(f"{name}:/") for name in upstreams.by_site},
            step_limit=self._task.limits.steps,
            repeat=self._record.spec.repeat,
            files=tuple(one.name for one in self._task.files),
            can_ask=bool(self._task.user),
        )

    @property
    def reference(self) -> Reference:
        """How the task is done: all of it for the oracle alone, parts for a guided agent."""
        world = self._environment.world
        return Reference(
            self._task.reference_actions,
            self._environment.upstreams.url,
            tuple(check for check in self._task.checks_in(world) if check.when is When.STEP),
            None if self._task.miniwob is None else self._task.miniwob.seed,
            self._record.spec.vary,
            self._record.spec.labels,
            self._task.attack_reference,
        )

    @property
    def files(self) -> Mapping[str, bytes]:
        """What is kept beside the evidence, by file name: pictures, and what the agent saw."""
        return self._record.files()

    def evidence(self) -> Evidence:
        """Return everything as it stands now; before `evaluate` looked at the end it names none."""
        return self._record.evidence(self._protocol.record, self._incomplete())

    async def film(self) -> AsyncIterator[str]:
        """Yield the page's newest picture as it changes, in base64; nothing before `reset`."""
        if self._player is not None:
            async for picture in self._player.resources.session.film():
                yield picture

    async def reset(self) -> Observation:
        """Log in, open the start pages, and return what the agent sees first.

        Where the world is not as the task requires, or breaks, the episode is over at once, and the
        observation is empty but for `last_error`.
        """
        with self._calls.alone("reset"):
            if self._was_reset or self._calls.is_closed:
                known = "was reset before" if self._was_reset else "is closed"
                message = f"the episode of '{self._task.id}' {known}: an episode is played once"
                raise UsageError(message, hint="open another episode of the task")
            self._was_reset = True
            self._record.begin()
            opening = self._open() if self._goes_on is None else self._come_back(*self._goes_on)
            await self._calls.guarded("the opening", opening)
        if self.is_over:
            self._observation = _nothing_seen(self._because())
        self._returned_at = time.monotonic()
        return self._observation

    async def step(self, action: Action, decided: DecisionRecord | None = None) -> StepResult:
        """Do one action and return what it led to.

        Args:
            action: `Stop` ends the episode, with the answer where the task asks for one;
                `Infeasible` ends it without, with the reason that the agent gives.
            decided: how the action was chosen, for the evidence. Where it does not say how long
                that took, the time since the last observation is written down.
        """
        with self._calls.alone("step"):
            player = self._running()
            decided = self._measured(decided or DecisionRecord())
            self.spend(Spent.reported(decided.input_tokens, decided.output_tokens, decided.usd))
            index = len(self._record.steps)
            await self._calls.guarded(f"step {index}", self._step(player, index, action, decided))
        self._returned_at = time.monotonic()
        return StepResult(
            observation=self._observation,
            ended=None if self._record.fault else self._record.ended,
            because=self._because(),
            fault=self._record.fault,
        )

    def spend(self, spent: Spent) -> None:
        """Write down what was spent on models, beside what `step` is given; at any time."""
        self._record.spent += spent

    def tell_past(self) -> None:
        """Write down that the agent of a branch was told what was done before it began."""
        self._record.tell_past()

    def keep_exchanges(self, exchanges: Iterable[ModelExchange]) -> None:
        """Keep what models were asked for the next step, and what came back."""
        self._record.keep_exchanges(exchanges)

    async def score(self) -> Score:
        """Look what the end checks find, and score the evidence; later calls repeat the score."""
        with self._calls.alone("evaluate"):
            if self._score is None:
                if not self.is_over:
                    message = f"the episode of '{self._task.id}' is not over: nothing to score yet"
                    raise UsageError(message, hint="step it with Stop(), or end() it")
                if not self._calls.is_closed:
                    look = look_at_end(self._task, self._record, self._player)
                    await self._calls.guarded("the end checks", look, is_undone_by_cancelling=False)
                    self._record.is_whole = True
                task = self._task
                self._score = score(task.checks, self.evidence(), task.requires, task.harms)
            return self._score

    async def checkpoint(self, name: str) -> Checkpoint:
        """Take all of the episode as it is now: the states of its replicas, its pages, its record.

        The episode goes on, and does not notice. `name` is for the evidence of its branches.
        """
        with self._calls.alone("checkpoint"):
            player = self._running()
            if self._environment.is_shared:
                message = f"the browser of the episode of '{self._task.id}' is an outside program's"
                raise UsageError(message, hint="open the episode without an endpoint")
            branch = Branching(name, self._id, self._left_s, self._goes_on)
            taking = take_checkpoint(player, branch, self._protocol, self._observation)
            taken = await self._calls.guarded("a checkpoint", taking, is_undone_by_cancelling=False)
        if isinstance(taken, Checkpoint):
            return taken
        raise taken or StateError(f"no checkpoint was taken: {self._because()}")

    def left(self) -> AbstractContextManager[None]:
        """Refuse calls in a block: its driver goes back. UsageError where one is under way."""
        return self._calls.alone("restore")

    async def close(self) -> bool:
        """Close browser and gateway; the evidence is final then. Safe to repeat, from any task.

        Returns:
            Whether no call was under way. One that is gets cut short, and the episode breaks off.
        """
        self._calls.is_closed = True
        async with self._closing:
            was_idle = await self._calls.cut_short()
            try:
                await self._resources.aclose()
            finally:
                self._record.stop_clock()
        return was_idle

    def shared_browser(self) -> tuple[StepPlayer, SharedSession]:
        """Return what writes steps, and the browser that an external agent drives by itself."""
        player = self._running()
        if not self._environment.is_shared:
            message = f"the browser of the episode of '{self._task.id}' is shared with nobody"
            raise UsageError(message, hint="open the episode with endpoint='cdp'")
        return player, cast("SharedSession", player.resources.session)

    def end(self, ended: Ended, because: str) -> None:
        """End an episode that is not over, for the driver's reason: it is scored as it stands.

        Args:
            ended: `agent_gave_up`, `agent_crashed`, `deadline` or `step_limit`; an agent that stops
                does that by a step.
            because: one sentence for the evidence.
        """
        self._running()
        if ended not in _ENDS_OF_DRIVERS:
            message = f"a driver does not end an episode as '{ended}'"
            raise UsageError(message, hint="an agent that stops sends the action Stop()")
        self._record.end(ended, because)

    def break_off(self, reason: UnscoredReason, message: str) -> None:
        """End the episode for a reason that is not the agent's: it is unscored.

        The first reason stands, so that this is safe wherever the episode may be over already.
        """
        self._record.break_off(EpisodeFault(reason=reason, message=message))

    def break_off_by(self, error: Exception) -> bool:
        """End the episode where an error is a fault of the world or a bug; False where neither."""
        fault = fault_of(error, self._environment)
        if fault is None:
            return False
        self._record.break_off(fault)
        if fault.reason is UnscoredReason.INTERNAL:
            # Nobody knows what was done until then.
            for site in self._environment.replicas:
                self._environment.lease.wrote(site)
        return True

    async def snapshot(self, asked: Sequence[Look] = ()) -> EpisodeSnapshot | None:
        """Look what the end checks would find if the episode ended here; None where it broke off.

        It is not evidence, and neither agent nor pages notice: pages are read in a browser context
        beside the agent's. What the look itself moved in a replica stands in the result.
        """
        with self._calls.alone("snapshot"):
            player = self._running()
            look, doing = self._look(player, asked), "a look beside the agent"
            return await self._calls.guarded(doing, look, is_undone_by_cancelling=False)

    async def _look(self, player: StepPlayer, asked: Sequence[Look]) -> EpisodeSnapshot | None:
        limit = asyncio.timeout(_SNAPSHOT_S)
        try:
            async with limit:
                return await look_beside(self._environment, player, len(self._record.steps), asked)
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"a look beside the agent took more than {_SNAPSHOT_S:g} s"
            self.break_off(UnscoredReason.INFRA, message)
            return None

    async def _open(self) -> None:
        record, environment, task = self._record, self._environment, self._task
        player = await self._opened()
        record.required = await player.locators.at_end(required_in(task, environment.world))
        if not requirements_hold(task, environment.world, record.required):
            record.end(Ended.NOT_STARTED, "the world is not as the task requires")
            return
        self._observation = await player.open(
            *start_pages(self._task, self._environment), self._protocol
        )
        self._player = player
        fault = start_fault(environment, player.resources.session.answers())
        if fault is not None:
            record.break_off(fault)

    async def _opened(self, pages: BrowserState | None = None) -> StepPlayer:
        """Open gateway and browser, and return what plays the steps in them."""
        record, environment, task = self._record, self._environment, self._task
        opening = open_resources(record.spec, environment, self._protocol, pages)
        found = await self._resources.enter_async_context(opening)
        # Of an episode that breaks off too, before its browser closes.
        self._resources.push_async_callback(record.keep_traces, found.session)
        record.arm, record.live = found.arm, found.live
        return StepPlayer(
            record=record,
            resources=found,
            locators=Locators(
                environment,
                found.session,
                task,
                self._protocol,
                evidence=self.evidence,
                arm=found.arm,
            ),
            looks=task.looks_in(environment.world),
            forms={name: load_form(name) for name in sorted(record.spec.observations)},
        )

    async def _come_back(self, mark: Checkpoint, way: PageWay) -> None:
        """Begin as a branch of a checkpoint; where it is not equal, the episode has broken off."""
        self._record.go_on(mark.record, mark.branch(way, self.tried))
        self._left_s = mark.left_s
        player = await self._opened(None if way is PageWay.START else mark.pages)
        if way is PageWay.START:
            await player.resources.session.open(*start_pages(self._task, self._environment))
        self._observation, differs = await come_back(player, mark, way, self._protocol)
        self._player = player
        if differs is not None:
            self._record.fork_failed(differs)

    async def _step(
        self, player: StepPlayer, index: int, action: Action, decided: DecisionRecord
    ) -> None:
        """Do an action within what is left of the task's time."""
        began = asyncio.get_running_loop().time()
        limits = self._task.limits
        limit = asyncio.timeout(self._left_s)
        try:
            async with limit:
                await self._do(player, index, action, decided)
        except TimeoutError:
            if not limit.expired():
                raise
            self._record.end(Ended.DEADLINE, f"{limits.seconds:g} s were over")
        finally:
            self._left_s -= asyncio.get_running_loop().time() - began
        if not self.is_over and index >= limits.steps:
            self._record.end(Ended.STEP_LIMIT, f"{limits.steps} steps were used up")

    async def _do(
        self, player: StepPlayer, index: int, action: Action, decided: DecisionRecord
    ) -> None:
        if isinstance(action, Stop):
            self._record.answer = answer_of(action)
            self._record.response = response_of(action)
            infeasible = action.status is AnswerStatus.INFEASIBLE
            because = f"{_CANNOT}: {action.reason or 'it gave no reason'}" if infeasible else None
            self._record.end(Ended.INFEASIBLE if infeasible else Ended.STOPPED, because)
            await player.stop(index, action, decided)
            return
        if isinstance(action, Infeasible):
            reason = " ".join(action.reason.split())
            self._record.response = response_of(action)
            self._record.end(Ended.INFEASIBLE, f"{_CANNOT}: {reason}")
            await player.stop(index, action, decided)
            return
        self._observation = await player.act(index, action, decided)
        await self.look_at_page()

    async def look_at_page(self) -> None:
        await self._protocol.look()
        if (end := self._protocol.page_end) is not None:
            self._record.end(end.ended, end.because)

    def _incomplete(self) -> str | None:
        """Say why the evidence has no end, where somebody might wait for one."""
        if self._record.is_over:
            return "its end checks were not looked at"
        if self._calls.is_closed:
            return f"its driver closed it after step {len(self._record.steps) - 1}"
        return None

    def _measured(self, decided: DecisionRecord) -> DecisionRecord:
        if decided.decide_ms is not None:
            return decided
        idle_ms = round((time.monotonic() - self._returned_at) * 1000, 1)
        return replace(decided, decide_ms=idle_ms)

    def _running(self) -> StepPlayer:
        """Return what plays the steps."""
        if not self._was_reset:
            state, hint = "is not reset yet", "await reset() first"
        elif self._calls.is_closed:
            state, hint = "is closed", "open another episode of the task"
        elif self._record.is_over or self._player is None:
            state, hint = f"is over: {self._because() or self._record.ended}", "evaluate() it"
        else:
            return self._player
        raise UsageError(f"the episode of '{self._task.id}' {state}", hint=hint)

    def _because(self) -> str | None:
        record = self._record
        return record.fault.message if record.fault else record.ended_because


def _nothing_seen(why: str | None) -> Observation:
    return Observation(step=0, url="", title="", tabs=(), parts={AXTREE: AxTree()}, last_error=why)
