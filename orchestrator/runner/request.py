"""What a run is asked to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arena_core.worlds import World
from orchestrator.agent_interface import AgentMaker
from orchestrator.browser.launch import BrowserOptions
from orchestrator.episode.proof_hook import ProofHook
from orchestrator.gateway.addresses import Resolve
from orchestrator.store.lock import AgentLock, RunLock, SpendingLimits
from orchestrator.store.recording import Recording
from orchestrator.store.trials import Trial
from sites.atlas import Atlas
from sites.upstreams import Upstreams
from tasks.schema import Suite, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Which agent plays which tasks in which worlds, how often.

    Attributes:
        tasks: the chosen ones, in order.
        repeats: how often each task is played in each world.
        attempts: how often a trial is tried when it breaks off for a reason not the agent's.
        staged: the live origins are staged stand-ins on this machine.
        resolves: where the user sends live hosts instead.
        workers: how many episodes of each world are played side by side.
        spares: warm replicas beyond the workers', of each site that holds state; None for what is
            thought best.
        memory_bytes: budget for all replicas; None for most of the machine.
        strategy: of resets between episodes.
        importers: keys of those that made tasks of the suite's file.
        records_requests: the requests of every episode are recorded, whether a check asks or not.
        traces: Playwright traces every episode.
        limits: what may be spent on models.
        recording: whose replies answer the agent; None where models do. `replayed` is the lock of
            its run.
        proof_hook: looks at each episode in its middle; None where nobody does.
    """

    suite: Suite
    tasks: tuple[Task, ...]
    worlds: tuple[World, ...]
    agent: AgentMaker
    agent_lock: AgentLock
    repeats: int = 1
    attempts: int = 3
    staged: bool = False
    resolves: tuple[Resolve, ...] = ()
    screenshots: bool = True
    headless: bool = True
    records_requests: bool = False
    traces: bool = False
    workers: int = 1
    spares: int | None = None
    memory_bytes: int | None = None
    strategy: str = "auto"
    importers: tuple[str, ...] = ()
    limits: SpendingLimits = field(default_factory=SpendingLimits)
    recording: Recording | None = None
    replayed: RunLock | None = None
    proof_hook: ProofHook | None = None

    @property
    def browser(self) -> BrowserOptions:
        """The browser of all worlds: the full one where one of them visits real sites."""
        full = World.ONLINE in self.worlds and not self.staged
        return BrowserOptions(headless=self.headless, full=full)

    def trials(self) -> tuple[Trial, ...]:
        """Return every trial: by world, repeat, and the tasks' order; tasks where they can run."""
        return tuple(
            Trial(task.id, world, repeat)
            for world in self.worlds
            for repeat in range(self.repeats)
            for task in self.tasks
            if world in task.worlds
        )

    def workers_in(self, world: World) -> int:
        """Return how many workers a world has; no more than it has trials."""
        return max(1, min(self.workers, len(self._trials_in(world))))

    def spares_in(self, world: World) -> int | None:
        """Return the spares to keep; none where no site is visited again after its first trials."""
        visits = Counter(
            name
            for task in self.tasks
            if world in task.worlds
            for name in task.sites
            for _ in range(self.repeats)
        )
        is_thought_best = self.spares is None and self.strategy == "auto"
        if is_thought_best and max(visits.values(), default=0) <= self.workers:
            return 0
        return self.spares

    def _trials_in(self, world: World) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials() if trial.world is world)

    def upstreams(self, atlas: Atlas, world: World) -> Upstreams:
        """Return what answers for each site that the chosen tasks visit in a world.

        Raises:
            UsageError: live origins are to be staged, and the manifest of one does not say how.
        """
        played = [task for task in self.tasks if world in task.worlds and world in self.worlds]
        names = dict.fromkeys(name for task in played for name in task.sites)
        return atlas.upstreams(names, world, staged=self.staged)


def together(requests: Sequence[RunRequest]) -> RunRequest:
    """Return what runs that are played side by side need of the worlds, as one request.

    It is for sizes and upstreams, and never played: its tasks are those of all, once a repeat.
    """
    tasks = (task for one in requests for _ in range(one.repeats) for task in one.tasks)
    return replace(requests[0], tasks=tuple(tasks), repeats=1)


def tasks_of(lock: RunLock, suite: Suite) -> tuple[Task, ...]:
    """Return the tasks that a run's lock names, in its order."""
    by_id = {task.id: task for task in suite.tasks}
    return tuple(by_id[name] for name in lock.tasks)
