"""`SyncArena`: the same Arena for scripts and notebooks, without async and await."""

from __future__ import annotations

import atexit
from collections.abc import (
    Callable,
    Collection,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from arena_core.errors import UsageError
from orchestrator.api.arena import Arena
from orchestrator.api.background_loop import BackgroundLoop
from orchestrator.api.episodes import AGENT
from orchestrator.api.events import OnArenaEvent, ignore_event
from orchestrator.api.held import Held
from orchestrator.api.open_episode import OpenEpisode
from sites.atlas import Atlas

if TYPE_CHECKING:
    from pydantic import JsonValue

    from arena_core.actions import Action
    from arena_core.worlds import World
    from evaluators.evidence import Evidence
    from evaluators.scores import Score
    from orchestrator.agent_interface import Assignment
    from orchestrator.api.browsing import Browsing
    from orchestrator.episode.steps import StepResult
    from orchestrator.observation import Observation
    from tasks.schema import Task

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _blocking(
    method: Callable[Concatenate[Arena, Arguments], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[SyncArena, Arguments], Result]:
    """Return a method that runs Arena's to its end and returns its result."""

    @wraps(method)
    def called(self: SyncArena, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return self._run(method(self._arena, *args, **kwargs))

    return called


def _same(
    method: Callable[Concatenate[Arena, Arguments], Result],
) -> Callable[Concatenate[SyncArena, Arguments], Result]:
    """Return a method that calls Arena's, which waits for nothing."""

    @wraps(method)
    def called(self: SyncArena, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return method(self._arena, *args, **kwargs)

    return called


class SyncEpisode:
    """`OpenEpisode` without async and await; `SyncArena.episode` makes it."""

    def __init__(self, episode: OpenEpisode, loop: BackgroundLoop) -> None:
        self._episode = episode
        self._loop = loop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def task(self) -> Task:
        """What is played."""
        return self._episode.task

    @property
    def world(self) -> World:
        """Where."""
        return self._episode.world

    @property
    def is_over(self) -> bool:
        """Whether no further step can be done."""
        return self._episode.is_over

    @property
    def assignment(self) -> Assignment:
        """What an agent may know; see `OpenEpisode.assignment`."""
        return self._episode.assignment

    def reset(self) -> Observation:
        """Lease golden replicas and open the start pages; see `OpenEpisode.reset`."""
        return self._loop.run(self._episode.reset())

    def step(self, action: Action, *, thought: str | None = None) -> StepResult:
        """Do one action; see `OpenEpisode.step`."""
        return self._loop.run(self._episode.step(action, thought=thought))

    def evaluate(self) -> Score:
        """Look what the end checks find, and score; see `OpenEpisode.evaluate`."""
        return self._loop.run(self._episode.evaluate())

    @property
    def cdp_url(self) -> str:
        """The address for a client of CDP; see `OpenEpisode.cdp_url`."""
        return self._episode.cdp_url

    @property
    def proxy_url(self) -> str:
        """The gateway, for a browser of a program's own; see `OpenEpisode.proxy_url`."""
        return self._episode.proxy_url

    @property
    def storage_state(self) -> Path:
        """The logins as a file; see `OpenEpisode.storage_state`."""
        return self._episode.storage_state

    @property
    def idle_s(self) -> float:
        """How long ago a client of CDP last acted; see `OpenEpisode.idle_s`."""
        return self._episode.idle_s

    def wait_until_over(self) -> None:
        """Return when it has ended by itself; see `OpenEpisode.wait_until_over`."""
        self._loop.run(self._episode.wait_until_over())

    def spend(self, usage: Mapping[str, object]) -> None:
        """Write down what the agent spent on models; see `OpenEpisode.spend`."""
        self._episode.spend(usage)

    def finish(
        self,
        answer: str | None = None,
        *,
        status: str = "done",
        because: str | None = None,
        data: JsonValue = None,
    ) -> Score:
        """End an episode that a client of CDP played; see `OpenEpisode.finish`."""
        return self._loop.run(
            self._episode.finish(answer, status=status, because=because, data=data)
        )

    def end(self, because: str, *, ended: str = "agent_gave_up") -> None:
        """End it for its agent's reason; see `OpenEpisode.end`."""
        self._episode.end(because, ended=ended)

    def evidence(self) -> Evidence:
        """Return everything that was written down so far; see `OpenEpisode.evidence`."""
        return self._episode.evidence()

    def close(self) -> None:
        """Give replicas and browser back; see `OpenEpisode.close`."""
        self._loop.run(self._episode.close())


class SyncArena:
    """`Arena` without async and await: each call returns when its work is done.

    It has the methods of `Arena`, with the same arguments, results and errors. The work is done by
    an event loop in a thread of its own, so it may be used where another loop runs, as in Jupyter.
    Ctrl-C cancels the call under way, which takes down what it started. Use it as a context
    manager; or call `open` and `close`, as notebooks like it: what was not closed is closed when
    Python ends.

    Args:
        sites: as of `Arena`.
        workers: as of `Arena`.
        memory: as of `Arena`.
        on_event: as of `Arena`; called in the thread of the loop.
    """

    def __init__(
        self,
        *,
        sites: Iterable[Path] | None = None,
        workers: int = 1,
        memory: str | None = None,
        on_event: OnArenaEvent = ignore_event,
    ) -> None:
        self._arena = Arena(sites=sites, workers=workers, memory=memory, on_event=on_event)
        self._loop: BackgroundLoop | None = None

    def open(self) -> Self:
        """Open it; `with SyncArena()` does the same.

        Raises:
            UsageError: it is open already.
        """
        loop = self._loop or BackgroundLoop()
        loop.run(self._arena.__aenter__())
        self._loop = loop
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Take down what was started for episodes and runs; safe to repeat."""
        atexit.unregister(self.close)
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                loop.run(self._arena.__aexit__(None, None, None))
            finally:
                loop.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def atlas(self) -> Atlas:
        """All sites that can be used; see `Arena.atlas`."""
        return self._arena.atlas

    def episode(
        self,
        task: str,
        *,
        world: str = "offline",
        staged: bool = False,
        resolve: Sequence[str] = (),
        agent: str = AGENT,
        observations: Collection[str] = ("axtree",),
        out: Path | str | None = None,
        screenshots: bool = True,
        headless: bool = True,
        endpoint: str | None = None,
        seed: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        viewport: tuple[int, int] | None = None,
    ) -> SyncEpisode:
        """Return an episode of a task, to be played step by step; see `Arena.episode`."""
        episode = self._arena.episode(
            task,
            world=world,
            staged=staged,
            resolve=resolve,
            agent=agent,
            observations=observations,
            out=out,
            screenshots=screenshots,
            headless=headless,
            endpoint=endpoint,
            seed=seed,
            max_steps=max_steps,
            max_seconds=max_seconds,
            viewport=viewport,
        )
        return SyncEpisode(episode, self._opened())

    @contextmanager
    def browse(self, *, slot: int = 0, port: int = 0) -> Iterator[Browsing]:
        """Serve a proxy in which each running site has its own name; see `Arena.browse`."""
        loop = self._opened()
        held = loop.run(Held.enter(self._arena.browse(slot=slot, port=port)))
        try:
            yield held.value
        finally:
            loop.run(held.leave())

    def follow_logs(
        self, site: str, *, slot: int | None = None, tail: int = 100
    ) -> Generator[str, None, None]:
        """Yield what a site's container wrote and writes; see `Arena.follow_logs`."""
        lines = self._arena.follow_logs(site, slot=slot, tail=tail)
        return self._opened().iterate(lines)

    plan_sample = _same(Arena.plan_sample)
    suites = _same(Arena.suites)
    suite = _same(Arena.suite)
    tasks = _same(Arena.tasks)
    task = _same(Arena.task)
    import_tasks = _same(Arena.import_tasks)
    sites = _same(Arena.sites)
    read_run = _same(Arena.read_run)
    read_lock = _same(Arena.read_lock)
    write_report = _same(Arena.write_report)
    export = _same(Arena.export)
    compare = _same(Arena.compare)
    write_figures = _same(Arena.write_figures)
    write_comparison = _same(Arena.write_comparison)
    score = _same(Arena.score)
    score_readings = _same(Arena.score_readings)
    judge = _blocking(Arena.judge)
    check_judge = _blocking(Arena.check_judge)
    lint = _blocking(Arena.lint)
    evaluate = _blocking(Arena.evaluate)
    sample = _blocking(Arena.sample)
    resume = _blocking(Arena.resume)
    run_study = _blocking(Arena.run_study)
    study_status = _same(Arena.study_status)
    plan_study = _same(Arena.plan_study)
    add_to_study = _blocking(Arena.add_to_study)
    verify_study = _same(Arena.verify_study)
    report_study = _same(Arena.report_study)
    up = _blocking(Arena.up)
    status = _blocking(Arena.status)
    reset = _blocking(Arena.reset)
    down = _blocking(Arena.down)
    query = _blocking(Arena.query)
    diff = _blocking(Arena.diff)
    diff_as_check = _blocking(Arena.diff_as_check)
    url = _blocking(Arena.url)
    container = _blocking(Arena.container)
    logs = _blocking(Arena.logs)
    plugins = _same(Arena.plugins)
    schema = _same(Arena.schema)
    new_site = _same(Arena.new_site)
    published_sites = _same(Arena.published_sites)
    doctor = _blocking(Arena.doctor)
    check_site = _blocking(Arena.check_site)
    build = _blocking(Arena.build)
    pull = _blocking(Arena.pull)
    load = _blocking(Arena.load)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine of this Arena to its end."""
        try:
            loop = self._opened()
        except BaseException:
            work.close()
            raise
        return loop.run(work)

    def _opened(self) -> BackgroundLoop:
        if self._loop is None:
            message = "this Arena is not open"
            raise UsageError(message, hint="use it inside: with SyncArena() as arena")
        return self._loop
