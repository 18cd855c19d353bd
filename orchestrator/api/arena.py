"""`Arena`: everything that Arena can do, for programs."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from arena_core.errors import UsageError
from orchestrator.api.episodes import Episodes, terms_at
from orchestrator.api.nodes import Nodes
from orchestrator.api.open_episode import OpenEpisode
from orchestrator.api.opened import OnArenaEvent, OpenArena, ignore_event
from orchestrator.api.ray_runs import RayRuns
from orchestrator.api.runs import Runs
from orchestrator.api.sites import Sites
from orchestrator.api.states import States
from orchestrator.api.studies import Studies
from orchestrator.api.suites import Suites
from orchestrator.api.tapes import Tapes
from sites.registry import SiteRegistry

if TYPE_CHECKING:
    from orchestrator.agents.model.client import ModelCheck
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.analysis.studies.regression import Bar, HeldRun
    from orchestrator.api.doctor import DoctorCheck, ExaminedPlugin
    from orchestrator.authoring.canary.lifetimes import CanaryLife
    from orchestrator.authoring.canary.looking import CanaryReport
    from orchestrator.episode.checkpoint import Checkpoint
    from orchestrator.runs.agent_choice import AgentChoice
    from orchestrator.runs.spec import Asked, RunSpec
    from orchestrator.runs.store.merging import MergedRun


class Arena:
    """An open Arena: its sites, its tasks, episodes step by step, and whole runs.

    Use it as an asynchronous context manager. The Docker engine is connected when something first
    needs it, and a browser starts when the first episode is reset; what lists and reads needs
    neither, and may be called without opening. Whatever an Arena started for episodes and runs is
    gone when its block ends, however it ends; what `sites.up` started stays until `sites.down`.

    Every method raises `ArenaError` and its kinds alone, with a message that names the next step.

    Args:
        sites: folders of sites of one's own; those of ARENA_SITES or ./arena-sites where omitted.
        workers: how many episodes may be played side by side; `run` has its own.
        memory: budget for episodes' replicas, such as `4GiB`; by default most of the machine.
        on_event: called with each `ArenaEvent`, in the event loop that Arena runs in: progress,
            warnings, each episode as it ends. What it raises ends the call under way.

    Attributes:
        sites: the sites: start, look at, reset and remove them; their images; your own.
        states: states of running sites that have a name: save them, go back to them.
        suites: the suites of tasks: list, read, lint, prove and import them.
        runs: runs that were begun: go on with them, read, score, judge, report, export, compare.
        studies: agents, worlds, suites and repeats compared, as they were registered.
        tapes: recorded traffic of live sites: record, import, look at and verify it.
        ray: runs on the nodes of a Ray cluster.
        nodes: this machine as one of several that play a run: check it, prepare it, clear it.
    """

    def __init__(
        self,
        *,
        sites: Iterable[Path] | None = None,
        workers: int = 1,
        memory: str | None = None,
        on_event: OnArenaEvent = ignore_event,
    ) -> None:
        self._opened = OpenArena(sites=sites, on_event=on_event)
        self._episodes = Episodes(self._opened, workers=workers, memory=memory)
        self.sites = Sites(self._opened)
        self.states = States(self._opened)
        self.suites = Suites(self._opened)
        self.runs = Runs(self._opened, self.suites)
        self.studies = Studies(self._opened)
        self.tapes = Tapes(self._opened)
        self.ray = RayRuns(self._opened, self.runs)
        self.nodes = Nodes(self._opened, self.sites)

    async def __aenter__(self) -> Self:
        self._opened.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._episodes.close()
        finally:
            await self._opened.close()

    @property
    def registry(self) -> SiteRegistry:
        """All sites that can be used, Arena's and one's own, read when first asked for.

        A site of one's own that cannot be used is left out, and reported as a `WarningNote` event.

        Raises:
            ManifestError: a manifest of Arena's is wrong, or a folder of sites is none.
        """
        return self._opened.registry

    def episode(
        self,
        task: str,
        *,
        world: str = "offline",
        staged: bool = False,
        resolve: Sequence[str] = (),
        agent: str = "python",
        observations: Collection[str] = ("axtree",),
        out: Path | str | None = None,
        screenshots: bool = True,
        headless: bool = True,
        browser: Mapping[str, str] | str | None = None,
        endpoint: str | None = None,
        seed: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        viewport: tuple[int, int] | None = None,
        state: str | None = None,
        checkpoint: Checkpoint | Path | str | None = None,
    ) -> OpenEpisode:
        """Return an episode of a task, to be played step by step; nothing is started yet.

        Use it as an asynchronous context manager. Replicas are leased at its `reset`, from a pool
        that is kept for further episodes until this Arena is closed. Whatever model decides the
        steps is the program's own: only `run` meters models and holds budgets.

        Args:
            task: `suite/task`, as in `suites.task`.
            world: `offline` or `online`.
            staged: online, live origins are staged on this machine.
            resolve: `HOST:PORT:ADDR:PORT`: online, send a live host elsewhere.
            agent: the name that its evidence shows.
            observations: the forms of observation that it reads; no other is computed.
            out: a new folder for its evidence, which `runs.read` and the commands read as a run
                of one episode; nothing is written where omitted.
            screenshots: take one screenshot per step.
            headless: show no browser window.
            browser: as in a run's file: `headless-shell`, `chromium`, `headed` or `cdp:URL`; by
                default as in `run`. One at an address plays live sites alone.
            endpoint: `cdp` gives the episode a Chromium of its own, with an address for a client of
                CDP: `cdp_url`. Such an episode ends by `finish`.
            seed: a MiniWoB++ page draws its problem from it. Every other task is the same whatever
                the seed; it stands in the lock of `out`, as do the next four.
            max_steps: in place of the task's limit, from 1 to 500.
            max_seconds: in place of the task's limit, up to 7200.
            viewport: width and height of the window in CSS pixels, each from 100 to 4096; the
                task's own (1280 by 720, MiniWoB++ 500 by 320) where omitted.
            state: a saved state that the sites in it begin in; what the task sets up where omitted.
            checkpoint: where it begins, or its file (`save_checkpoint`), which also says in what
                forms it observes, and what it has in place of the task's limits, seed and viewport.
                `reset` proves that it is equal; else it is `unscored: fork`.

        Raises:
            UsageError: no such world, endpoint or browser, the task is not played there, a number
                is out of its bounds, an argument has no effect, or the checkpoint is of another
                task.
            StateError: the checkpoint's file is damaged or none.
            UnknownNameError: no such suite, task or form of observation.
            TaskError: the suite is wrong.
        """
        from arena_core.worlds import read_world
        from orchestrator.browser.observation import AXTREE
        from orchestrator.episode.checkpoint_file import load_checkpoint
        from orchestrator.runs.new_run import refuse_offline_origins
        from orchestrator.runs.single_episode import EpisodeTerms, WorldChoice
        from orchestrator.runs.spec import RunSettings, read_asked

        terms = read_asked(
            EpisodeTerms,
            seed=seed,
            max_steps=max_steps,
            max_seconds=max_seconds,
            viewport=viewport,
            state=state,
        )
        settings = RunSettings.of(
            worlds=(read_world(world),),
            attempts=1,
            staged=staged,
            resolve=resolve,
            screenshots=screenshots,
            browser=browser,
        )
        refuse_offline_origins(settings)
        mark = load_checkpoint(checkpoint) if isinstance(checkpoint, Path | str) else checkpoint
        if mark is not None:
            terms = terms_at(mark, terms, endpoint)
            if observations == (AXTREE,):
                observations = mark.seen.parts
        return self._episodes.open(
            task.rpartition("/")[0],
            self.suites.task(task),
            WorldChoice(settings=settings, headless=headless),
            terms,
            agent=agent,
            observations=observations,
            out=None if out is None else Path(out),
            endpoint=endpoint,
            checkpoint=mark,
        )

    async def run(
        self,
        agent: AgentChoice | RunSpec = "oracle",
        patterns: Sequence[str] = (),
        *,
        out: Path | str | None = None,
        headless: bool = True,
        yes: bool = False,
        stop: asyncio.Event | None = None,
        **asked: Unpack[Asked],
    ) -> RunReport:
        """Play an agent over tasks into a run, score it, write the report; what `arena eval` does.

        Cancelling the call ends the run at once; whatever ends it leaves no container behind, and a
        run that `runs.resume` goes on with.

        Args:
            agent: a registered name (`oracle`, `chat`, `webarena`, …, a plug-in's),
                `package.module:Factory`, or the object: a function from an observation to an
                action, a class with a `decide`, a factory that takes an episode's `Assignment` and
                returns its `Agent`, an `AgentSpec`, or an `AgentMaker`. Or a `RunSpec`, which says
                all of a run; then nothing else of it is given.
            patterns: task ids, or patterns with `*` and `?`; all tasks where none is given.
            out: folder of the new run; a new one in `arena-runs` where omitted.
            headless: show no browser window.
            yes: play it however large it is; else more than 100,000 episodes or 128 workers are
                refused.
            stop: set it to finish the steps under way and end the run there.
            asked: the other fields of `RunSpec`: `suite`, `worlds`, `repeats`, `workers`,
                `options` of the agent, …; `max_usd` and `max_tokens` limit what is spent on models.

        Returns:
            The report of the run; its `folder` says where the run is.

        Raises:
            UsageError: arguments contradict each other or would have no effect.
            UnknownNameError, TaskError: no such suite, task or agent, or a task has mistakes.
            EngineMissingError, BrowserMissingError, ImageError: something is missing here.
            InterruptedRunError: `stop` was set before the run was done.
            ModelError: the model refuses for good; fix that, then resume the run.
            ArenaError: a worker's last attempt could not begin.
        """
        from orchestrator.api.canary_runs import way_to_play
        from orchestrator.api.playing import play_new
        from orchestrator.runs.spec import RunSpec

        if isinstance(agent, RunSpec):
            beside = ", ".join([*(["patterns"] if patterns else []), *asked])
            if beside:
                message = f"a RunSpec says all of a run: {beside} beside it has no effect"
                raise UsageError(message, hint="spec.model_copy(update={...}) changes a RunSpec")
            spec, chosen = agent, None
        else:
            named = agent if isinstance(agent, str) else "a Python object"
            spec, chosen = RunSpec.of(agent=named, tasks=patterns, **asked), agent
        how = way_to_play(spec)
        return await play_new(
            self._opened, spec, chosen, how, out=out, headless=headless, yes=yes, stop=stop
        )

    async def ci(
        self,
        agent: AgentChoice | RunSpec = "oracle",
        patterns: Sequence[str] = (),
        *,
        bar: Bar,
        finished: Path | str | None = None,
        summary: Path | str | None = None,
        junit: Path | str | None = None,
        out: Path | str | None = None,
        yes: bool = False,
        stop: asyncio.Event | None = None,
        **asked: Unpack[Asked],
    ) -> HeldRun:
        """Play an agent and hold it to a bar; what `arena ci` does.

        Args:
            agent: as in `run`, and so whatever is not named here.
            patterns: as in `run`.
            bar: a baseline, a least success, or both.
            finished: hold this run, and play none.
            summary: where a summary in Markdown goes.
            junit: where JUnit's XML goes.
            out: as in `run`.
            yes: as in `run`.
            stop: as in `run`.
            asked: as in `run`.

        Returns:
            What is said of the run; its `require_held` raises where that is no good.

        Raises:
            UsageError: nothing could break the bar, or the baseline was played otherwise.
            InputError, VerificationError: the baseline's file is none, or not as it was written.
            ArenaError: as in `run`.
        """
        from orchestrator.api.holding import hold_finished, hold_new
        from orchestrator.runs.spec import RunSpec

        if finished is not None:
            is_asked = bool(patterns or asked or agent != "oracle")
            return hold_finished(finished, bar, summary, junit, is_asked=is_asked)
        named = agent if isinstance(agent, str) else "a Python object"
        spec = agent if isinstance(agent, RunSpec) else None
        spec = spec or RunSpec.of(agent=named, tasks=patterns, **asked)
        play = partial(self.run, agent, patterns, out=out, yes=yes, stop=stop, **asked)
        return await hold_new(spec, play, bar, summary, junit)

    def merge(
        self, runs: Iterable[Path | str], into: Path | str, *, allow: Iterable[str] = ()
    ) -> MergedRun:
        """Make one run of all shards that `run` played by `shard="I/N"`; what `arena merge` does.

        Args:
            runs: the folders of all shards, in any order.
            into: the folder of the whole run, which is not there yet.
            allow: in what their machines may differ: `hardware`, `browser`, `images`, `packages`,
                `judgements`. The lock keeps each difference.

        Raises:
            UsageError: they are not all shards of one run, each once.
            StoreError: a shard is not finished, was changed, or differs in what is not allowed; or
                the run cannot be written. Nothing is at `into` then.
        """
        from orchestrator.runs.store.merging import merge

        return merge(map(Path, runs), Path(into), allow)

    async def record(
        self,
        start: Sequence[str],
        out: Path | str,
        *,
        folder: Path | str,
        name: str = "recorded-task",
        sites: Sequence[str] = (),
        roles: Mapping[str, str] | None = None,
        given: Mapping[str, Any] | None = None,
        siblings: Sequence[Path | str] = (),
        port: int = 0,
        on_page: Callable[[str], object] = webbrowser.open,
        stop: asyncio.Event | None = None,
    ) -> Path:
        """Let a person do a task in a browser window and choose its checks; return its file.

        It returns once the task is saved. If it is cancelled, the recording stays in its folder.

        Args:
            start: where to begin, a tab each: sites, URLs or logical URLs.
            out: the suite's file that the task is saved in.
            folder: a new one for the recording.
            name: of the recording.
            sites: further ones that may be visited.
            roles: who is logged in, by site.
            given: what is done to the sites before, as a task says it.
            siblings: folders of recordings that the checks must not pass.
            port: of the page on 127.0.0.1; 0 for a free one.
            on_page: called with the page's address; by default, this user's browser opens it.
            stop: set it to stop the recording.

        Raises:
            BrowserMissingError: there is no screen to show a window on.
            ArenaError: no such site, page or role; a file cannot be written; nothing starts.
        """
        from orchestrator.api.recordings import DeskAsked, RecordingAsked, record_task

        asked = RecordingAsked(name, start, Path(folder), roles or {}, sites, given or {})
        desk = DeskAsked(out=Path(out), siblings=tuple(map(Path, siblings)), port=port)
        return await record_task(self._opened, asked, desk, on_page, stop)

    async def canary(
        self,
        suite: str,
        patterns: Sequence[str] = (),
        *,
        world: str = "online",
        staged: bool = False,
        resolve: Sequence[str] = (),
        workers: int = 1,
        browser: Mapping[str, str] | str | None = None,
        history: Path | str | None = None,
        stop: asyncio.Event | None = None,
    ) -> CanaryReport:
        """Play the references of tasks without any model, and say which tasks still hold.

        What would turn bad is played twice. What was found is added to this machine's history.

        Args:
            suite: as in `suites.read`.
            patterns: as in `run`.
            world: `online` or `offline`.
            staged: online, live origins are staged on this machine.
            resolve: as in `episode`; each kind of origins has a history of its own.
            workers: references that are played side by side.
            browser: as in `episode`; each has a history of its own.
            history: the folder of history and plays; this user's data folder where omitted.
            stop: as in `run`; nothing is added to the history then.

        Returns:
            Each task with its status, since when, and what drifted or blocks it.

        Raises:
            ArenaError: as in `run`.
            StoreError: the history cannot be used.
        """
        from arena_core.worlds import read_world
        from orchestrator.api.canaries import look_at
        from orchestrator.runs.spec import RunSettings

        settings = RunSettings.of(
            worlds=(read_world(world),),
            staged=staged,
            resolve=tuple(resolve),
            workers=workers,
            browser=browser,
        )
        folder = None if history is None else Path(history)
        return await look_at(self._opened, suite, patterns, settings, history=folder, stop=stop)

    def canary_life(
        self, suite: str | None = None, *, history: Path | str | None = None
    ) -> tuple[CanaryLife, ...]:
        """Read what the canary found until now: validity over time, half-life, what dies first.

        Args:
            suite: the name of a suite; all that were looked at where omitted.
            history: as in `canary`.

        Returns:
            One for each suite, each kind of origins, and each browser.

        Raises:
            StoreError: there is no history, or it cannot be used.
            UnknownNameError: the suite was never looked at.
        """
        from orchestrator.api.canaries import lives

        return lives(suite, None if history is None else Path(history))

    async def doctor(self) -> tuple[DoctorCheck, ...]:
        """Look at everything that Arena needs of this machine: each check has its fix."""
        from orchestrator.api.doctor import examine

        return await examine(self._opened.folders)

    async def check_model(
        self,
        model: str,
        *,
        url: str | None = None,
        temperature: float | None = None,
        deadline_s: float | None = None,
        prices: str | None = None,
    ) -> ModelCheck:
        """Ask a model one short question, to see whether endpoint, key and name are right.

        Args:
            model: as its endpoint calls it.
            url: base URL of the endpoint; that of ARENA_MODEL_URL, else OpenAI's where omitted.
            temperature: 0 where omitted.
            deadline_s: for the reply with all retries; 120 where omitted.
            prices: a table of what models cost, before Arena's own.

        Raises:
            ModelError: it cannot be reached, refuses, or answers garbage.
            UsageError: the endpoint asks for a key that is not set, or the URL or a number is none.
            InputError: `prices` names no table of prices.
        """
        from orchestrator.agents.model.client import ask_once

        return await ask_once(
            model, url, temperature=temperature, deadline_s=deadline_s, prices=prices
        )

    def plugins(self) -> tuple[ExaminedPlugin, ...]:
        """Import everything that is plugged in, Arena's own too, and say what cannot be used."""
        from orchestrator.api.doctor import examine_plugins

        return examine_plugins()

    def schema(self, kind: str) -> str:
        """Return a JSON Schema as text, with the locators, matchers and importers installed here.

        Args:
            kind: `suite`, `site` (a manifest), `evidence` or `lock`.

        Raises:
            UsageError: there is no such kind.
        """
        from orchestrator.authoring.schemas.documents import schema_named

        return schema_named(kind)
