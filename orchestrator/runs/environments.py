"""What an episode is played in: a browser, and leased replicas with their accounts and data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Self, assert_never

from arena_core.cookie import Cookie
from arena_core.errors import AgentError, ApiError, DatabaseError, GivenError, LoginError, SiteError
from arena_core.worlds import World
from evaluators.changes import Change, IgnoredChanges
from evaluators.episode_view import Ran
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.external_browser import ExternalBrowser, launch_external
from orchestrator.browser.process.launch import Browser
from orchestrator.browser.process.remote import RemoteBrowser, open_browser
from orchestrator.episode.environment import AttemptSpec, EpisodeBrowser, EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.gateway.server import Gateway
from orchestrator.runs.events import OnEvent, ProgressNote
from orchestrator.runs.open_world import OpenWorld, OriginLogins
from orchestrator.runs.starts import Starts
from orchestrator.sandbox.check_queries import ApiAnswer, Row
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import NO_STARTS
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.watch import Mark
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    TapeUpstream,
    Upstreams,
    api_login_fault,
    changes_fault,
    shell_fault,
    sql_fault,
)
from tasks.given import DoAs, step_in_words
from tasks.schema import Limits, Task

_SECONDS: Final = 300.0
_MORE_STEPS: Final = 2  # the end, and one that says why it could not be done


def setup_task(task: Task, site: str, step: DoAs) -> Task:
    """Return what is played for a step: its actions on one site, and no checks."""
    changes: dict[str, object] = {
        "sites": (site,),
        "roles": {} if step.role is None else {site: step.role},
        "start": (f"{site}:{step.start}",),
        "given": {},
        "limits": Limits(steps=len(step.do) + _MORE_STEPS, seconds=_SECONDS),
        "requires": (),
        "checks": (),
        "looks": (),
        "reference": step.do,
        "miniwob": None,
        "recorded": None,
    }
    return task.model_copy(update=changes)


async def play_setup(episode: Episode, site: str, step: DoAs) -> None:
    """Do the actions of a step, each when the page has settled after the one before.

    Raises:
        GivenError: one of them could not be done, or the episode broke off.
    """
    agent = OracleAgent(episode.reference, World.OFFLINE)
    observation = await episode.reset()
    why = observation.last_error
    try:
        while not episode.is_over:
            decision = await agent.decide(observation)
            done = await episode.step(decision.action)
            observation = done.observation
            why = done.because
    except AgentError as cause:
        raise _failed(site, step, cause.message) from cause
    if why is not None:
        raise _failed(site, step, why)


def _failed(site: str, step: DoAs, why: str) -> GivenError:
    return GivenError(f"site '{site}': given, {step_in_words(step)}: {why}")


_NOT_ISOLATED = "the browser has no network namespace: flags keep it behind the gateway"


def _freedom_of(browser: Browser) -> str:
    """Say what does not bind a browser; empty for one in a network namespace of its own."""
    if isinstance(browser, RemoteBrowser):
        what = f"{browser.build.product} at {browser.address}"
        return f"{what} reaches sites by itself: its sessions keep the policy, and no gateway does"
    why = browser.not_isolated
    return f"{_NOT_ISOLATED} ({why}); see arena doctor" if why else ""


class BrowserKeeper:
    """Keeps one browser running; a crashed one is replaced before the next episode."""

    def __init__(self, options: BrowserOptions, on_event: OnEvent) -> None:
        self._options = options
        self._on_event = on_event
        self._noted: set[str] = set()
        self._browser: Browser | None = None
        self._running = AsyncExitStack()

    @property
    def isolated(self) -> bool:
        """Whether the browser that runs has a network of its own, which does not change."""
        return self._browser is not None and not self._browser.not_isolated

    def another(self, options: BrowserOptions) -> BrowserKeeper:
        """Return what keeps another browser, for the same listener."""
        return BrowserKeeper(options, self._on_event)

    async def browser(self) -> Browser:
        """Return a browser that answers."""
        if self._browser is None or not self._browser.is_alive:
            await self.close()
            self._browser = await self._running.enter_async_context(open_browser(self._options))
            if (note := _freedom_of(self._browser)) and note not in self._noted:
                self._noted.add(note)
                self._on_event(ProgressNote(note))
        return self._browser

    async def close(self) -> None:
        """End the browser; safe to repeat."""
        self._browser = None
        await self._running.aclose()


_HINT = "limit the check to the `worlds` where the site is a replica"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAccess:
    """Accounts, databases and APIs of the sites of one episode.

    What an upstream cannot answer is refused in the words of the linter.

    Attributes:
        slot: has a replica of each site that one answers for.
        logins: at live and staged origins.
    """

    upstreams: Upstreams
    slot: Slot
    logins: OriginLogins

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role."""
        upstream = self.upstreams.of(site)
        match upstream:
            case ReplicaUpstream():
                return await self.slot.cookies(site, role)
            case LiveUpstream() | StagedUpstream():
                return await self.logins.cookies(upstream, role)
            case TapeUpstream():
                raise LoginError(f"site '{site}': nobody can log in on its tape", site=site)
            case _:
                assert_never(upstream)

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the site bars the role's page to whoever has these cookies."""
        upstream = self.upstreams.of(site)
        match upstream:
            case ReplicaUpstream():
                return await self.slot.is_logged_out(site, role, cookies)
            case LiveUpstream() | StagedUpstream():
                return await self.logins.is_logged_out(upstream, role, cookies)
            case TapeUpstream():
                return False
            case _:
                assert_never(upstream)

    async def query(self, site: str, sql: str) -> tuple[Row, ...]:
        """Run one read-only statement on the database behind a site."""
        fault = sql_fault(self.upstreams.of(site))
        if fault is not None:
            raise DatabaseError(fault, hint=_HINT)
        return await self.slot.query(site, sql)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs behind a site from the state that the episode began in."""
        fault = changes_fault(self.upstreams.of(site))
        if fault is not None:
            raise DatabaseError(fault, hint=_HINT)
        return await self.slot.changes(site, ignored)

    async def run(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in the replica of a site."""
        fault = shell_fault(self.upstreams.of(site))
        if fault is not None:
            raise SiteError(fault, hint=_HINT)
        return await self.slot.run(site, command, seconds)

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site."""
        return await self.slot.marks()

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:
        """Return what a site's API answers to a GET with a role's API login."""
        fault = api_login_fault(self.upstreams.of(site), role)
        if fault is not None:
            raise ApiError(fault, hint=_HINT)
        return await self.slot.ask_api(site, role, path)


class Environments:
    """Makes environments in an open world; browser and logins at live origins outlast each.

    Both are its own: a sign-out in one of its episodes ends no login of another's.
    """

    def __init__(self, world: OpenWorld, browsers: BrowserKeeper, logins: OriginLogins) -> None:
        self._world = world
        self._browsers = browsers
        self._logins = logins
        self._others: dict[BrowserOptions, Environments] = {}

    @classmethod
    @asynccontextmanager
    async def of(cls, world: OpenWorld, on_event: OnEvent) -> AsyncIterator[Self]:
        """Make them for a world; their browser ends with the block."""
        browsers = BrowserKeeper(world.browser, on_event)
        made = cls(world, browsers, world.logins.fresh())
        try:
            yield made
        finally:
            await made.close()

    def in_browser(self, options: BrowserOptions) -> Environments:
        """Return these with another browser, which ends with them; what is asked for may be it."""
        wanted = replace(options, trusted_spki=self._world.browser.trusted_spki)
        if wanted == self._world.browser:
            return self
        if wanted not in self._others:
            world = replace(self._world, browser=wanted)
            self._others[wanted] = Environments(world, self._browsers.another(wanted), self._logins)
        return self._others[wanted]

    async def close(self) -> None:
        """End the browsers."""
        for one in self._others.values():
            await one.close()
        await self._browsers.close()

    @property
    def world(self) -> OpenWorld:
        """The world that they are made in."""
        return self._world

    @property
    def isolated(self) -> bool:
        """Whether the browser has a network of its own, which no container's start changes."""
        return self._browsers.isolated or any(one.isolated for one in self._others.values())

    @asynccontextmanager
    async def shared_of_task(
        self,
        task: Task,
        *,
        hold_s: float | None = None,
        states: Mapping[str, TakenState] = NO_STARTS,
        content: str | None = None,
    ) -> AsyncIterator[tuple[EpisodeEnvironment, ExternalBrowser]]:
        """Put an environment together whose browser is its own and an outside program's to drive.

        Arguments and errors are those of `of_task`; BrowserError also where the browser can have no
        network of its own.
        """
        async with (
            self._world.live.room_for(task.sites),
            self._leased(task, hold_s, states, NO_STARTS, content) as (slot, changed),
            launch_external(self._world.browser) as browser,
        ):
            environment = self._environment(task, slot, browser, is_shared=True)
            yield replace(environment, changed=changed), browser

    @asynccontextmanager
    async def of_task(
        self,
        task: Task,
        *,
        hold_s: float | None = None,
        states: Mapping[str, TakenState] = NO_STARTS,
        since: Mapping[str, TakenState | None] = NO_STARTS,
        content: str | None = None,
    ) -> AsyncIterator[EpisodeEnvironment]:
        """Lease replicas of a task's sites, and put its environment together.

        They are golden, or in the state that the task sets up. They are given back with the block,
        and reset behind it.

        Args:
            task: what is played; one episode of it.
            hold_s: how long the block may take; it is cancelled then. None for no limit: a driver
                from outside may take its time.
            states: by site, the state that it begins in, in place of what the task sets up.
            since: by site, the state that changes are told from, where that is another one.
            content: the name of what an arm does after the task's own `given`.

        Raises:
            GivenError: what the task sets up cannot be done.
            StateError: a state is of another image.
        """
        async with (
            self._world.live.room_for(task.sites),
            self._leased(task, hold_s, states, since, content) as (slot, changed),
        ):
            environment = self._environment(task, slot, await self._browsers.browser())
            yield replace(environment, changed=changed)

    def _environment(
        self, task: Task, slot: Slot, browser: EpisodeBrowser, *, is_shared: bool = False
    ) -> EpisodeEnvironment:
        upstreams = self._world.upstreams.only(task.sites)
        access = SiteAccess(upstreams=upstreams, slot=slot, logins=self._logins)
        return EpisodeEnvironment(
            registry=self._world.registry,
            upstreams=upstreams,
            browser=browser,
            replicas=slot.replicas,
            accounts=access,
            database=access,
            api=access,
            lease=slot,
            resolves=self._world.resolves,
            tapes=self._world.tapes,
            recorder=self._world.recorder,
            is_shared=is_shared,
            live=self._world.live,
            open_gateway=(
                browser.open_gateway if isinstance(browser, RemoteBrowser) else Gateway.open
            ),
        )

    async def renew_browser(self) -> None:
        """End the browser, so that the next episode gets another one."""
        await self._browsers.close()

    @asynccontextmanager
    async def _leased(
        self,
        task: Task,
        hold_s: float | None,
        states: Mapping[str, TakenState],
        since: Mapping[str, TakenState | None],
        content: str | None,
    ) -> AsyncIterator[tuple[Slot, int]]:
        """Lease replicas; tell in how many of them the content makes a difference."""
        sites = self._world.upstreams.only(task.sites).replicas
        pool, starts = self._world.slot_pool, self._world.starts
        if pool is None or starts is None or not sites:
            yield Slot(0, {}), 0
            return
        own = {site: steps for site, steps in task.given.items() if site not in states}
        clean = task.model_copy(update={"given": own})
        to_set_up = clean if content is None else clean.with_content(content)
        given = await starts.of(to_set_up, self._play_setup)
        changed = 0 if content is None else await self._changed(starts, clean, to_set_up, given)
        begin = {**given, **states}
        async with pool.lease(sites, starts=begin, since=since, hold_s=hold_s) as slot:
            await starts.keep_proven(to_set_up)
            yield slot, changed

    async def _changed(
        self, starts: Starts, clean: Task, varied: Task, given: Mapping[str, TakenState]
    ) -> int:
        """Count the sites that begin otherwise than they would without an arm's content.

        What is set up on a golden replica differs from it, or `starts` has refused it.
        """
        usual = await starts.of(clean, self._play_setup)
        differ = (
            site not in usual or taken.digest != usual[site].digest
            for site, taken in given.items()
            if varied.given[site] != clean.given.get(site)
        )
        return sum(differ)

    async def start_differences(self, task: Task) -> Mapping[str, tuple[str, ...]]:
        """Set a task's sites up once more, and say in what each differs from its start.

        Raises:
            GivenError: what the task sets up cannot be done.
        """
        starts = self._world.starts
        if starts is None:
            return {}
        first = await starts.of(task, self._play_setup)
        again = {site: await starts.derive(task, site, self._play_setup) for site in first}
        return {
            site: again[site].fingerprint.differences(taken.fingerprint)
            for site, taken in first.items()
        }

    async def _play_setup(self, task: Task, site: str, step: DoAs, slot: Slot) -> None:
        """Do the actions of a step as an episode whose evidence nobody keeps."""
        setting_up = setup_task(task, site, step)
        spec = AttemptSpec(
            suite="given", task=setting_up, repeat=0, attempt=1, agent="oracle", screenshots=False
        )
        environment = self._environment(setting_up, slot, await self._browsers.browser())
        async with Episode(spec, environment) as episode:
            await play_setup(episode, site, step)
