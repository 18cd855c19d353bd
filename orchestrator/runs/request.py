"""What a run is asked to do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.interface import AgentLock, AgentMaker
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.kinds import BrowserKind, RemoteAddress
from orchestrator.episode.snapshot import ProofHook
from orchestrator.runs.attempts import TaskWatch
from orchestrator.runs.spec import BrowserEntry, RunSettings
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.lock import Rollouts, RunLock, trials_in
from orchestrator.runs.store.recording import Recording
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams
from tasks.schema import Suite, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is played: the settings that were asked for, with suite, tasks and agent at hand.

    Attributes:
        tasks: the chosen ones, in order.
        headless: no browser window is shown.
        importers: keys of those that made tasks of the suite's file.
        recording: whose replies answer the agent; None where models do.
        rollouts: what its episodes go on from; None where they begin at the start of their tasks.
        again: why a finished episode that is unscored is played again.
        proof_hook: looks at each episode in its middle; None where nobody does.
        watch: says of episodes online whether their task holds; None where nobody looks.
        online_faces: the tasks of the suite that have their online face in both worlds, on tapes.
    """

    suite: Suite
    tasks: tuple[Task, ...]
    agent: AgentMaker
    agent_lock: AgentLock
    settings: RunSettings = field(default_factory=RunSettings)
    headless: bool = True
    importers: tuple[str, ...] = ()
    recording: Recording | None = None
    rollouts: Rollouts | None = None
    again: frozenset[UnscoredReason] = frozenset()
    proof_hook: ProofHook | None = None
    watch: TaskWatch | None = None
    online_faces: tuple[str, ...] = ()

    @property
    def worlds(self) -> tuple[World, ...]:
        return self.settings.worlds

    @property
    def browser(self) -> BrowserOptions:
        return browser_for(self.settings, headless=self.headless)

    @property
    def episodes(self) -> int:
        return sum(self.episodes_in(world) for world in self.worlds)

    def episodes_in(self, world: World) -> int:
        """Return how many episodes a world has; none where the run is not played in it."""
        if world not in self.worlds:
            return 0
        if self.rollouts is not None or self.settings.shard is not None:
            return sum(1 for _ in self.keys_in(world))
        return self.settings.repeats * sum(world in task.worlds for task in self.tasks)

    def keys_in(self, world: World) -> Iterator[EpisodeKey]:
        """Yield the episodes of a world by repeat, in the tasks' order, where they can run."""
        return trials_in(world, self.tasks, self.settings, self.rollouts)

    def workers_in(self, world: World) -> int:
        """Return how many workers a world has; no more than it has episodes."""
        return max(1, min(self.settings.workers_at_first, self.episodes_in(world)))

    def with_workers(self, count: int) -> RunRequest:
        """Return the same with another number of workers."""
        return replace(self, settings=self.settings.model_copy(update={"workers": count}))

    def spares_in(self, world: World) -> int | None:
        """Return the spares to keep; none where each is visited only at first."""
        visits = Counter(name for task in self.tasks if world in task.worlds for name in task.sites)
        asked = self.settings
        most = asked.repeats * max(visits.values(), default=0)
        if asked.spares is None and asked.strategy == "auto" and most <= asked.workers_at_first:
            return 0
        return asked.spares

    def upstreams(self, registry: SiteRegistry, world: World) -> Upstreams:
        """Return what answers for each site that the chosen tasks visit in a world."""
        played = [task for task in self.tasks if world in task.worlds and world in self.worlds]
        names = dict.fromkeys(name for task in played for name in task.sites)
        return registry.upstreams(
            names, world, staged=self.settings.staged, taped=self.settings.tapes
        )


def browser_for(settings: RunSettings, *, headless: bool) -> BrowserOptions:
    """Return the browser of all worlds.

    Where none is named it is the full one if one of the worlds visits real sites. `headless` is
    False where a window was asked for beside these settings.
    """
    entry = settings.browser
    if entry is None:
        full = World.ONLINE in settings.worlds and not settings.staged
        return BrowserOptions(headless=headless, full=full)
    if not headless and entry.kind is not BrowserKind.HEADED:
        message = f"--headed and --browser {entry.shown} name two browsers"
        raise UsageError(message, hint="omit one of them")
    match entry.kind:
        case BrowserKind.SHELL:
            return BrowserOptions(only_shell=True)
        case BrowserKind.CHROMIUM:
            return BrowserOptions(full=True)
        case BrowserKind.HEADED:
            return BrowserOptions(headless=False)
        case BrowserKind.CDP | BrowserKind.PROFILE:
            has_profile = entry.kind is BrowserKind.PROFILE
            return BrowserOptions(remote=remote_of(entry), profile=has_profile)
        case _:
            assert_never(entry.kind)


def require_browser(named: Mapping[str, str] | str | None) -> None:
    """Refuse a browser that is written wrongly, or whose address needs a variable that is not set.

    Raises:
        UsageError: it is; of an address no secret part is shown.
    """
    browser_for(RunSettings.of(worlds=(World.ONLINE,), browser=named), headless=True)


def remote_of(entry: BrowserEntry) -> RemoteAddress | None:
    """Return the whole address of a browser that is running; None of one that Arena starts."""
    return None if entry.address is None else entry.address.expanded(os.environ)


def together(requests: Sequence[RunRequest]) -> RunRequest:
    """Return what runs that are played side by side need of the worlds, as one request.

    It is for sizes and upstreams, and never played: its tasks are those of all, once a repeat, but
    no oftener than decides what its workers need.
    """
    settings = requests[0].settings
    most = settings.workers_at_first + 1
    tasks = tuple(
        task
        for one in requests
        for _ in range(min(one.settings.repeats, most))
        for task in _within(one.tasks, one.worlds)
    )
    once = settings.model_copy(update={"repeats": 1, "shard": None})
    return replace(requests[0], tasks=tasks, settings=once)


def _within(tasks: Sequence[Task], worlds: Sequence[World]) -> Iterator[Task]:
    """Yield tasks as if they ran in these worlds alone; those that run in none are left out."""
    for task in tasks:
        kept = tuple(world for world in task.worlds if world in worlds)
        if kept:
            yield task if kept == task.worlds else task.model_copy(update={"worlds": kept})


def tasks_of(lock: RunLock, suite: Suite) -> tuple[Task, ...]:
    """Return the tasks that a run's lock names, in its order."""
    by_id = {task.id: task for task in suite.tasks}
    return tuple(by_id[name] for name in lock.tasks)
