"""`SyncArena`: the same Arena for scripts and notebooks, without async and await."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from arena_core.errors import UsageError
from arena_core.held import Held
from orchestrator.api.arena import Arena
from orchestrator.api.loop_thread import LoopThread
from orchestrator.api.nodes import Nodes
from orchestrator.api.open_episode import OpenEpisode
from orchestrator.api.opened import OnArenaEvent, ignore_event
from orchestrator.api.ray_runs import RayRuns
from orchestrator.api.runs import Runs
from orchestrator.api.sites import Sites
from orchestrator.api.states import States
from orchestrator.api.studies import Studies
from orchestrator.api.suites import Suites
from orchestrator.api.tapes import Tapes
from sites.registry import SiteRegistry

if TYPE_CHECKING:
    from arena_core.worlds import World
    from orchestrator.agents.interface import Assignment
    from orchestrator.api.browsing import Browsing
    from orchestrator.browser.observation import Observation
    from orchestrator.episode.checkpoint import Checkpoint
    from tasks.schema import Task

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Awaited = TypeVar("Awaited")


class _Blocking(Generic[Awaited]):
    """Something asynchronous, each call of which returns when its work is done."""

    def __init__(self, awaited: Awaited, loop: Callable[[], LoopThread]) -> None:
        self._awaited = awaited
        self._loop = loop

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            loop = self._loop()
        except BaseException:
            work.close()
            raise
        return loop.run(work)


def _blocking(
    method: Callable[Concatenate[Awaited, Arguments], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[_Blocking[Awaited], Arguments], Result]:
    """Return a method that runs an asynchronous one to its end and returns its result."""

    @wraps(method)
    def called(
        self: _Blocking[Awaited], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        return self._run(method(self._awaited, *args, **kwargs))

    return called


def _same(
    method: Callable[Concatenate[Awaited, Arguments], Result],
) -> Callable[Concatenate[_Blocking[Awaited], Arguments], Result]:
    """Return a method that calls one which waits for nothing."""

    @wraps(method)
    def called(
        self: _Blocking[Awaited], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        return method(self._awaited, *args, **kwargs)

    return called


def _opening(
    method: Callable[Concatenate[Arena, Arguments], OpenEpisode],
) -> Callable[Concatenate[_Blocking[Arena], Arguments], SyncEpisode]:
    """Return a method that makes an episode as Arena's does, without async and await."""

    @wraps(method)
    def called(
        self: _Blocking[Arena], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> SyncEpisode:
        loop = self._loop()
        return SyncEpisode(method(self._awaited, *args, **kwargs), lambda: loop)

    return called


class SyncEpisode(_Blocking[OpenEpisode]):
    """`OpenEpisode` without async and await; `SyncArena.episode` makes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def task(self) -> Task:
        """What is played."""
        return self._awaited.task

    @property
    def world(self) -> World:
        """Where."""
        return self._awaited.world

    @property
    def endpoint(self) -> str | None:
        """`cdp` where a client of CDP plays it, else None."""
        return self._awaited.endpoint

    @property
    def is_over(self) -> bool:
        """Whether no further step can be done."""
        return self._awaited.is_over

    @property
    def assignment(self) -> Assignment:
        """What an agent may know; see `OpenEpisode.assignment`."""
        return self._awaited.assignment

    @property
    def cdp_url(self) -> str:
        """The address for a client of CDP; see `OpenEpisode.cdp_url`."""
        return self._awaited.cdp_url

    @property
    def proxy_url(self) -> str:
        """The gateway, for a browser of a program's own; see `OpenEpisode.proxy_url`."""
        return self._awaited.proxy_url

    @property
    def storage_state(self) -> Path:
        """The logins as a file; see `OpenEpisode.storage_state`."""
        return self._awaited.storage_state

    @property
    def idle_s(self) -> float:
        """How long ago a client of CDP last acted; see `OpenEpisode.idle_s`."""
        return self._awaited.idle_s

    def fork(self, count: int, *, at: Checkpoint) -> tuple[SyncEpisode, ...]:
        """Return episodes that go on from a checkpoint; see `OpenEpisode.fork`."""
        loop = self._loop()
        branches = loop.run(self._awaited.fork(count, at=at))
        return tuple(SyncEpisode(branch, lambda: loop) for branch in branches)

    @property
    def observation(self) -> Observation:
        """What was seen last; see `OpenEpisode.observation`."""
        return self._awaited.observation

    reset = _blocking(OpenEpisode.reset)
    checkpoint = _blocking(OpenEpisode.checkpoint)
    restore = _blocking(OpenEpisode.restore)
    step = _blocking(OpenEpisode.step)
    score = _blocking(OpenEpisode.score)
    wait_until_over = _blocking(OpenEpisode.wait_until_over)
    finish = _blocking(OpenEpisode.finish)
    spend = _same(OpenEpisode.spend)
    end = _same(OpenEpisode.end)
    evidence = _same(OpenEpisode.evidence)
    close = _blocking(OpenEpisode.close)


class SyncSites(_Blocking[Sites]):
    """`Arena.sites` without async and await."""

    list = _same(Sites.list)
    up = _blocking(Sites.up)
    status = _blocking(Sites.status)
    reset = _blocking(Sites.reset)
    down = _blocking(Sites.down)
    query = _blocking(Sites.query)
    diff = _blocking(Sites.diff)
    diff_as_check = _blocking(Sites.diff_as_check)
    url = _blocking(Sites.url)
    container = _blocking(Sites.container)
    logs = _blocking(Sites.logs)
    build = _blocking(Sites.build)
    load = _blocking(Sites.load)
    pull = _blocking(Sites.pull)
    save_images = _blocking(Sites.save_images)
    load_images = _blocking(Sites.load_images)
    new = _same(Sites.new)
    published = _same(Sites.published)
    check = _blocking(Sites.check)
    facts = _blocking(Sites.facts)

    @contextmanager
    def browse(self, *, slot: int = 0, port: int = 0) -> Iterator[Browsing]:
        """Serve a proxy in which each running site has its own name; see `Sites.browse`."""
        held = self._run(Held.enter(self._awaited.browse(slot=slot, port=port)))
        try:
            yield held.value
        finally:
            self._run(held.leave())

    def follow_logs(
        self, site: str, *, slot: int | None = None, tail: int = 100
    ) -> Generator[str, None, None]:
        """Yield what a site's container wrote and writes; see `Sites.follow_logs`."""
        return self._loop().iterate(self._awaited.follow_logs(site, slot=slot, tail=tail))


class SyncStates(_Blocking[States]):
    """`Arena.states` without async and await."""

    list = _same(States.list)
    save = _blocking(States.save)
    restore = _blocking(States.restore)
    diff = _blocking(States.diff)
    export = _same(States.export)
    add = _same(States.add)
    remove = _same(States.remove)


class SyncSuites(_Blocking[Suites]):
    """`Arena.suites` without async and await."""

    names = _same(Suites.names)
    read = _same(Suites.read)
    new = _same(Suites.new)
    repair = _same(Suites.repair)
    tasks = _same(Suites.tasks)
    task = _same(Suites.task)
    lint = _blocking(Suites.lint)
    instantiate = _blocking(Suites.instantiate)
    seal = _same(Suites.seal)
    difficulty = _same(Suites.difficulty)
    errata = _same(Suites.errata)
    import_tasks = _same(Suites.import_tasks)
    export_harbor = _same(Suites.export_harbor)


class SyncRuns(_Blocking[Runs]):
    """`Arena.runs` without async and await."""

    resume = _blocking(Runs.resume)
    steer = _blocking(Runs.steer)

    @contextmanager
    def watch(self, run: Path | str, *, port: int = 0) -> Iterator[str]:
        """Serve a page that shows a run while it is played; see `Runs.watch`."""
        held = self._run(Held.enter(self._awaited.watch(run, port=port)))
        try:
            yield held.value
        finally:
            self._run(held.leave())

    plan_sample = _same(Runs.plan_sample)
    sample = _blocking(Runs.sample)
    read = _same(Runs.read)
    read_lock = _same(Runs.read_lock)
    report = _same(Runs.report)
    score = _same(Runs.score)
    score_with = _same(Runs.score_with)
    judge = _blocking(Runs.judge)
    check_judge = _blocking(Runs.check_judge)
    export = _same(Runs.export)
    compare = _same(Runs.compare)
    write_figures = _same(Runs.write_figures)
    write_comparison = _same(Runs.write_comparison)


class SyncStudies(_Blocking[Studies]):
    """`Arena.studies` without async and await."""

    run = _blocking(Studies.run)
    merge = _same(Studies.merge)
    status = _same(Studies.status)
    add = _blocking(Studies.add)
    plan = _same(Studies.plan)
    verify = _same(Studies.verify)
    report = _same(Studies.report)
    leaderboard = _same(Studies.leaderboard)


class SyncTapes(_Blocking[Tapes]):
    """`Arena.tapes` without async and await."""

    show = _same(Tapes.show)
    import_archives = _same(Tapes.import_archives)
    record = _blocking(Tapes.record)
    verify = _blocking(Tapes.verify)


class SyncRayRuns(_Blocking[RayRuns]):
    """`Arena.ray` without async and await."""

    run = _blocking(RayRuns.run)
    sample = _blocking(RayRuns.sample)
    study = _blocking(RayRuns.study)
    resume = _blocking(RayRuns.resume)


class SyncNodes(_Blocking[Nodes]):
    """`Arena.nodes` without async and await."""

    check = _blocking(Nodes.check)
    prepare = _blocking(Nodes.prepare)
    down = _blocking(Nodes.down)


class SyncArena(_Blocking[Arena]):
    """`Arena` without async and await: each call returns when its work is done.

    It has the namespaces and methods of `Arena`, with the same arguments, results and errors. The
    work is done by an event loop in a thread of its own, so you may use it where another loop runs,
    as in Jupyter. Ctrl-C cancels the call under way, which takes down what it started. Use it as a
    context manager; or call `open` and `close`, as notebooks like it: what was not closed is closed
    when Python ends.

    Args:
        sites: as of `Arena`.
        workers: as of `Arena`.
        memory: as of `Arena`.
        on_event: as of `Arena`; called in the thread of the loop.

    Attributes:
        sites: as of `Arena`.
        suites: as of `Arena`.
        runs: as of `Arena`.
        studies: as of `Arena`.
        tapes: as of `Arena`.
        ray: as of `Arena`.
        nodes: as of `Arena`.
    """

    def __init__(
        self,
        *,
        sites: Iterable[Path] | None = None,
        workers: int = 1,
        memory: str | None = None,
        on_event: OnArenaEvent = ignore_event,
    ) -> None:
        arena = Arena(sites=sites, workers=workers, memory=memory, on_event=on_event)
        super().__init__(arena, self._opened)
        self._thread: LoopThread | None = None
        self.sites = SyncSites(arena.sites, self._opened)
        self.states = SyncStates(arena.states, self._opened)
        self.suites = SyncSuites(arena.suites, self._opened)
        self.runs = SyncRuns(arena.runs, self._opened)
        self.studies = SyncStudies(arena.studies, self._opened)
        self.tapes = SyncTapes(arena.tapes, self._opened)
        self.ray = SyncRayRuns(arena.ray, self._opened)
        self.nodes = SyncNodes(arena.nodes, self._opened)

    def open(self) -> Self:
        """Open it; `with SyncArena()` does the same.

        Raises:
            UsageError: it is open already.
        """
        thread = self._thread or LoopThread()
        thread.run(self._awaited.__aenter__())
        self._thread = thread
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Take down what was started for episodes and runs; safe to repeat."""
        atexit.unregister(self.close)
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                thread.run(self._awaited.__aexit__(None, None, None))
            finally:
                thread.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def registry(self) -> SiteRegistry:
        """All sites that can be used; see `Arena.registry`."""
        return self._awaited.registry

    episode = _opening(Arena.episode)
    run = _blocking(Arena.run)
    ci = _blocking(Arena.ci)
    merge = _same(Arena.merge)
    record = _blocking(Arena.record)
    canary = _blocking(Arena.canary)
    canary_life = _same(Arena.canary_life)
    doctor = _blocking(Arena.doctor)
    check_model = _blocking(Arena.check_model)
    plugins = _same(Arena.plugins)
    schema = _same(Arena.schema)

    def _opened(self) -> LoopThread:
        if self._thread is None:
            message = "this Arena is not open"
            raise UsageError(message, hint="use it inside: with SyncArena() as arena")
        return self._thread
