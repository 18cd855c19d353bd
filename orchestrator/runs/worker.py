"""The workers of one world: each plays episodes one after the other, in environments of its own."""

from __future__ import annotations

import asyncio
import contextvars
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count as counting
from typing import Final

from arena_core.logs import log_context
from arena_core.task_group import task_group
from evaluators.evidence import TriedWay, UnscoredReason
from orchestrator.agents.interface import AgentMaker, SeesByReference
from orchestrator.episode.checkpoint import Checkpoint
from orchestrator.episode.environment import AttemptSpec
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import DECIDE_DEADLINE_S, EpisodeRunner, PlayedAttempt
from orchestrator.episode.external.command import AgentCommand
from orchestrator.episode.external.runner import ExternalRunner
from orchestrator.episode.person.agent import PersonAgent
from orchestrator.episode.person.runner import PersonRunner, card_of
from orchestrator.episode.recorded_episode import RecordedEpisode
from orchestrator.gateway.variations import content_in
from orchestrator.runs.attempts import FaultSpree, ends_the_run, in_one_line
from orchestrator.runs.environments import Environments
from orchestrator.runs.events import OnEvent, ProgressNote
from orchestrator.runs.jobs import Job
from orchestrator.runs.open_world import OpenWorld
from orchestrator.runs.pace import BROWSER_BYTES
from orchestrator.runs.request import RunRequest
from orchestrator.runs.rollouts import Prefix, go_to_root, past_of
from orchestrator.runs.run_budget import AttemptMeter
from orchestrator.runs.steering import Queue, Steering, UnderWay
from orchestrator.runs.store.lock import Rollouts
from orchestrator.sandbox.pool.slot_pool import SlotPool
from tasks.schema import Task

STILL_S: Final = 2.0
PATIENCE_S: Final = 20.0
# RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
_GROUPS: Final = 0x1 | 0x10 | 0x100
_READ_BYTES: Final = 65_536


async def await_stillness(still_s: float = STILL_S, patience_s: float = PATIENCE_S) -> None:
    """Return when no network interface changed for `still_s`, at the latest after `patience_s`.

    Chromium breaks off its requests whenever an address of the machine appears or goes, and each
    container that starts brings one. An attempt that is repeated at once would meet the next.
    Where the kernel does not report (another system, a sandbox), it returns at once.
    """
    try:
        with _news() as news:
            async with asyncio.timeout(patience_s):
                while await _told_within(news, still_s):
                    pass
    except (TimeoutError, OSError):
        return


async def _told_within(news: socket.socket, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_recv(news, _READ_BYTES)
    except TimeoutError:
        return False
    return True


def _news() -> socket.socket:
    """Return a socket on which the kernel reports interfaces and addresses, to any user."""
    if sys.platform != "linux":
        raise OSError
    news = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    news.bind((0, _GROUPS))
    return news


_OPENING_AND_CHECKS_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Plays episodes of one world, each in an environment of its own.

    Attributes:
        interrupted: set where the user wants the run to end after the step under way.
        under_way: what shows the episode that it plays; None where nobody can look.
    """

    interrupted: asyncio.Event
    environments: Environments
    spree: FaultSpree = field(default_factory=FaultSpree)
    under_way: UnderWay | None = None

    @classmethod
    @asynccontextmanager
    async def of(
        cls, world: OpenWorld, on_event: OnEvent, interrupted: asyncio.Event
    ) -> AsyncIterator[Worker]:
        """Make a worker of a world; its browser ends with the block."""
        async with Environments.of(world, on_event) as environments:
            yield cls(interrupted=interrupted, environments=environments)

    def in_browser_of(self, request: RunRequest) -> Worker:
        """Return what plays in the browser of one of the runs that are played side by side."""
        return replace(self, environments=self.environments.in_browser(request.browser))

    def until(self, under_way: UnderWay) -> Worker:
        """Return what plays an episode until that says stop, and shows there how it goes."""
        return replace(self, interrupted=under_way.stop, under_way=under_way)

    def _shown(self, episode: Episode) -> Episode:
        if self.under_way is not None:
            self.under_way.episode = episode
        return episode

    async def play(self, job: Job) -> None:
        """Play one episode through its attempts."""
        request, keeper, key = job.run.request, job.run.attempt_runner, job.key
        task = job.task
        if isinstance(request.agent, PersonAgent):
            # Before anything is leased: a person may take a break of an hour here.
            card = card_of(task, request.agent)
            if not await request.agent.desk.invite(card) or self.interrupted.is_set():
                return

        async def attempt(number: int) -> PlayedAttempt:
            if number > 1 and not self.environments.isolated:
                await await_stillness()
            spec = AttemptSpec(
                suite=request.suite.suite,
                task=task,
                repeat=key.repeat,
                attempt=number,
                agent=request.agent.name,
                screenshots=request.settings.screenshots,
                observations=forms_of(request.agent, task),
                records_requests=request.settings.record_requests,
                traces=request.settings.trace,
                vary=request.settings.arm,
            )
            meter = AttemptMeter(
                budget=keeper.budget,
                ledger=keeper.ledger,
                key=key,
                number=number,
            )
            return await self._attempt(job, spec, meter)

        await keeper.play(key, task, attempt, self.spree)

    async def _attempt(self, job: Job, spec: AttemptSpec, meter: AttemptMeter) -> PlayedAttempt:
        request, task = job.run.request, spec.task
        if isinstance(request.agent, AgentCommand | PersonAgent):
            return await self._attempt_outside(spec, task, request.agent, meter)
        runner = EpisodeRunner(
            agent=request.agent,
            interrupted=self.interrupted,
            proof_hook=request.proof_hook,
            meter=meter,
            recording=request.recording,
        )
        if task.recorded is not None:
            world = self.environments.world
            return await runner.play(RecordedEpisode(spec, world.registry, world.upstreams.world))
        if request.rollouts is not None:
            return await self._attempt_rollout(job, request.rollouts, spec, runner)
        async with self.environments.of_task(
            task, hold_s=_longest(task), content=content_in(spec.vary)
        ) as environment:
            episode = self._shown(Episode(spec, environment))
            return await self._without_bug(await runner.play(episode))

    async def _attempt_rollout(
        self, job: Job, rollouts: Rollouts, spec: AttemptSpec, runner: EpisodeRunner
    ) -> PlayedAttempt:
        """Let the agent go on from a root, by the cheapest way that is proven to lead there."""
        root, task = rollouts.root_of(job.key), spec.task

        async def take() -> Checkpoint | PlayedAttempt:
            prefix, name = Prefix.read(rollouts, root), rollouts.branch_of(job.key)
            async with self.environments.of_task(task, hold_s=_longest(task)) as environment:
                forms = spec.observations | prefix.forms
                going = replace(spec, observations=forms, may_go_back=True)
                episode = self._shown(Episode(going, environment))
                return await go_to_root(episode, prefix, name, self.interrupted)

        mark = await job.run.checkpoints.of(root, take)
        if isinstance(mark, PlayedAttempt):
            return await self._without_bug(mark)
        spec = replace(spec, observations=frozenset(mark.seen.parts))
        runner = replace(runner, past=past_of(mark) if rollouts.told else ())
        played: list[PlayedAttempt] = []
        tried: tuple[TriedWay, ...] = ()
        for way in mark.ways:
            async with self.environments.of_task(
                task, hold_s=_longest(task), states=mark.states(way), since=mark.began
            ) as environment:
                episode = self._shown(Episode(spec, environment, (mark, way)))
                episode.tried = tried
                played.append(await runner.play(episode))
            evidence = played[-1].evidence()
            if evidence.fault is None or evidence.fault.reason is not UnscoredReason.FORK:
                break
            tried = evidence.branch.tried if evidence.branch else ()
        return await self._without_bug(played[-1])

    async def _without_bug(self, played: PlayedAttempt) -> PlayedAttempt:
        """Return what was played; after a bug the next episode gets another browser."""
        if played.has_bug:
            await self.environments.renew_browser()
        return played

    async def _attempt_outside(
        self, spec: AttemptSpec, task: Task, agent: AgentCommand | PersonAgent, meter: AttemptMeter
    ) -> PlayedAttempt:
        hold_s: float | None = None  # a person's pauses have no end
        if isinstance(agent, AgentCommand):
            hold_s = agent.seconds + task.limits.seconds + _OPENING_AND_CHECKS_S
        async with self.environments.shared_of_task(
            task, hold_s=hold_s, content=content_in(spec.vary)
        ) as (environment, browser):
            episode = self._shown(Episode(spec, environment))
            if isinstance(agent, PersonAgent):
                by_hand = PersonRunner(agent=agent, interrupted=self.interrupted)
                return await by_hand.play(episode)
            runner = ExternalRunner(
                command=agent, browser=browser, interrupted=self.interrupted, meter=meter
            )
            return await runner.play(episode)


def _longest(task: Task) -> float:
    """Return what no episode of a task may exceed: each part has a shorter deadline of its own."""
    decisions = (task.limits.steps + 1) * DECIDE_DEADLINE_S
    return task.limits.seconds + decisions + _OPENING_AND_CHECKS_S


def forms_of(maker: AgentMaker, task: Task) -> frozenset[str]:
    """Return the forms of observation that the agent of a task reads."""
    if isinstance(maker, SeesByReference):
        return maker.observations | maker.observations_of(task.reference_actions)
    return maker.observations


def _never() -> bool:
    return False


@dataclass(slots=True, kw_only=True)
class _Crew:
    """The workers of a world that is played; more of them need more replicas.

    Attributes:
        pool: where these are; None where no replica answers.
        readers: the numbers of those that play.
        begin: lets one play, by its number.
    """

    pool: SlotPool | None
    readers: set[int]
    begin: Callable[[int], None]
    _numbers: Iterator[int] = field(default_factory=counting)

    @property
    def each_bytes(self) -> int:
        return BROWSER_BYTES + (self.pool.capacity.each_bytes if self.pool is not None else 0)

    def require_room(self, count: int) -> None:
        if self.pool is not None:
            self.pool.resized(count)

    def reach(self, count: int) -> None:
        if self.pool is not None:
            self.pool.resize(count)
        self.hire(count)

    def hire(self, count: int) -> None:
        while len(self.readers) < count:
            number = next(self._numbers)
            self.readers.add(number)
            self.begin(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRunner:
    """Plays the episodes of one world.

    Attributes:
        world: what all its workers share.
        workers: how many episodes are played side by side; no more than there are.
        is_over: asked before each episode: whether no further one is to begin.
        steering: what a person changes meanwhile; None where nobody can.
    """

    world: OpenWorld
    workers: int
    on_event: OnEvent
    interrupted: asyncio.Event
    is_over: Callable[[], bool] = _never
    steering: Steering | None = None

    async def play(self, jobs: Iterable[Job]) -> tuple[Exception, ...]:
        """Play episodes until they are done or the user interrupts.

        Each worker takes the next episode in order when it is free. One that fails stops, and
        leaves its episode open; the others go on.

        Returns:
            Why workers stopped before their time.
        """
        left = Queue(iter(jobs), set())
        steering = self.steering or Steering(self.interrupted)
        failures: list[Exception] = []
        pool, starts = self.world.slot_pool, self.world.starts
        if pool is not None and starts is not None:
            pool.foresee(lambda: (starts.known(job.set_up) for job in left.upcoming()))
        here = contextvars.copy_context()  # that of whoever wants more is another one
        async with task_group() as workers:

            def begin(number: int) -> None:
                work = self._work(number, left, steering, failures)
                workers.create_task(work, context=here.copy())

            crew = _Crew(pool=pool, readers=left.readers, begin=begin)
            crew.hire(self.workers)
            steering.opened(self.world.upstreams.world, left, crew)
        return tuple(failures)

    async def _work(
        self, number: int, left: Queue, steering: Steering, failures: list[Exception]
    ) -> None:
        try:
            async with Worker.of(self.world, self.on_event, self.interrupted) as worker:
                await self._play_all(worker, left, steering)
                left.readers.discard(number)  # before the browser closes, which takes time
        except Exception as failure:  # raised when the other workers are done
            if ends_the_run(failure):
                raise
            failures.append(failure)
            stopped = f"{self.world.upstreams.world}: a worker stopped: {in_one_line(failure)}"
            self.on_event(ProgressNote(stopped))
        finally:
            left.readers.discard(number)

    async def _play_all(self, worker: Worker, left: Queue, steering: Steering) -> None:
        while not self.interrupted.is_set() and not self.is_over():
            if not await steering.turn(self.world.upstreams.world):
                return
            job = left.next()
            if job is None:
                return
            with log_context(run=job.run.name), steering.playing(job) as under_way:
                await worker.in_browser_of(job.run.request).until(under_way).play(job)
