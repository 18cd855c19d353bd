"""The first phase of scoring: look, write down what was found, judge nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import JsonValue, ValidationError

from arena_core.bugs import bug_in_words
from arena_core.errors import ArenaError, BrowserError, SiteGoneError, TaskError
from arena_core.foreign import first_fault
from arena_core.worlds import World
from evaluators.checks import Look
from evaluators.episode_view import HttpAnswer, PageLook, PageSeen, Ran
from evaluators.evidence import Evidence, Located
from evaluators.fields import When
from evaluators.locators.base import LookingLocator, Need
from orchestrator.episode.environment import Database, EpisodeEnvironment, EpisodeSession
from orchestrator.episode.faults import login_name
from orchestrator.episode.protocol import EpisodeProtocol
from orchestrator.gateway.arm import Arm
from orchestrator.sandbox.check_queries import call_function
from tasks.schema import Task


class Locators:
    """Lets the locators of a task's checks look at the environment and the agent's session.

    It is the `EpisodeView` of `evaluators`.
    """

    def __init__(
        self,
        environment: EpisodeEnvironment,
        session: EpisodeSession,
        task: Task,
        protocol: EpisodeProtocol,
        *,
        evidence: Callable[[], Evidence],
        arm: Arm | None = None,
        beside: EpisodeSession | None = None,
    ) -> None:
        self._environment = environment
        self._session = session
        self._task = task
        self._protocol = protocol
        self._evidence = evidence
        self._arm = arm or Arm(())
        self._found: list[Located] = []
        self.own_page = _OwnPage(session, self._arm, is_left=beside is None)
        # Opens what is not the agent's own page: the agent's session, unless it must not notice.
        self.fresh_pages = _FreshPages(beside or session, session, environment, task)
        self.apis = _Apis(environment)

    @property
    def databases(self) -> Database:
        return self._environment.database

    @property
    def world(self) -> World:
        return self._environment.world

    async def reward(self) -> float | None:
        """Return the raw reward that the task's own page gave; None where it gave none yet."""
        return await self._protocol.reward()

    def through(self, beside: EpisodeSession) -> Locators:
        """Return locators that open pages in another session, and read the agent's own in its."""
        return Locators(
            self._environment,
            self._session,
            self._task,
            self._protocol,
            evidence=self._evidence,
            arm=self._arm,
            beside=beside,
        )

    async def at_step(self, checks: Iterable[Look]) -> tuple[Located, ...]:
        """Look for the key nodes that the step's own record does not hold."""
        return tuple([await self._look(*one) for one in _looking(checks, When.STEP)])

    async def at_end(self, checks: Iterable[Look]) -> tuple[Located, ...]:
        """Look for end checks, in the order in which no look spoils another one.

        First the agent's own page as it was left; then what only reads; then commands in replicas;
        at last what reads the evidence, with all that was found.
        """
        self._found = []
        wanted = sorted(_looking(checks, When.END), key=lambda one: _turn(one[1].needs))
        for check, locate in wanted:
            self._found.append(await self._look(check, locate))
        return tuple(self._found)

    async def shell(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in a replica, and see that it only read."""
        database = self._environment.database
        before = (await database.marks()).get(site)
        if site in self._environment.replicas:
            self._environment.lease.wrote(site)  # whatever it did, the next reset is proven
        ran = await database.run(site, command, seconds)
        after = (await database.marks()).get(site)
        moved = None if before is None or after is None else after.moved_since(before)
        if moved is not None:
            message = f"the command changed the replica of '{site}' ({moved}): let it only read"
            raise TaskError(message)
        return ran

    async def python(
        self, function: str, arguments: Mapping[str, JsonValue], seconds: int
    ) -> tuple[str, ...]:
        evidence = self._evidence().model_copy(update={"located": tuple(self._found)})
        return await call_function(function, arguments, evidence, seconds)

    async def _look(self, check: Look, locate: LookingLocator) -> Located:
        """Locate one check; what keeps it from looking is written down, not raised.

        What it opens is as the site sent it: an arm is for the agent, and changes no verdict.
        """
        self.fresh_pages.asking = check.name
        try:
            with self._arm.at_rest():
                found = await locate.look(self)
        except (BrowserError, SiteGoneError):
            raise
        except ArenaError as error:
            return Located(check=check.name, error=error.message)
        try:
            return Located(check=check.name, values=found.values, data=dict(found.data))
        except (TypeError, ValueError) as cause:  # of a locator that is not Arena's own
            why = f"what it found cannot be kept: {_in_short(cause)}"
            return Located(check=check.name, error=why)


def _in_short(cause: Exception) -> str:
    return first_fault(cause) if isinstance(cause, ValidationError) else bug_in_words(cause)


class _OwnPage:
    """The agent's current tab.

    Args:
        session: the agent's.
        arm: of the episode; where it refused the page, there is none to read.
        is_left: the agent does not go on with it.
    """

    def __init__(self, session: EpisodeSession, arm: Arm, *, is_left: bool) -> None:
        self._session = session
        self._arm = arm
        self._is_left = is_left

    @property
    def url(self) -> str:
        return "" if self._is_refused else self._session.url

    @property
    def _is_refused(self) -> bool:
        return self._arm.may_be_refusal(self._session.status)

    async def look(self, what: PageLook) -> PageSeen:
        if what.prep and not self._is_left:
            raise TaskError("`prep` would change the page that the agent goes on with")
        if self._is_refused:
            return PageSeen(())
        return await self._session.look_own(what)

    async def read(self, selector: str, attribute: str | None) -> tuple[str, ...]:
        return (await self.look(PageLook(selector=selector, attribute=attribute))).values


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """A page of a site that a check opened, and its document's status."""

    check: str
    site: str
    url: str
    status: int | None


class _FreshPages:
    """Pages opened in a browser session.

    Attributes:
        asking: the check that is looked at.
        opened: what checks named and opened, in order.
    """

    def __init__(
        self,
        session: EpisodeSession,
        agents: EpisodeSession,
        environment: EpisodeEnvironment,
        task: Task,
    ) -> None:
        self._session = session
        self._agents = agents
        self._environment = environment
        self._task = task
        self.asking = ""
        self.opened: list[OpenedPage] = []

    async def look(self, page: str, what: PageLook, role: str | None) -> PageSeen:
        url = self._environment.upstreams.url(page)
        site = page.partition(":")[0]
        login = login_name(self._task, site, role)
        seen = await self._session.look_fresh(url, what, login=login) or PageSeen(())
        self.opened.append(OpenedPage(self.asking, site, url, seen.status))
        return seen

    async def look_at(self, url: str, what: PageLook) -> PageSeen | None:
        login = self._agents.login
        return await self._session.look_fresh(url, what, login=login, may_be_gone=True)

    async def read(
        self, page: str, selector: str, attribute: str | None, role: str | None
    ) -> tuple[str, ...]:
        what = PageLook(selector=selector, attribute=attribute)
        return (await self.look(page, what, role)).values

    async def get(self, page: str) -> HttpAnswer:
        url = self._environment.upstreams.url(page)
        answer = await self._session.fetch_text(url)
        return HttpAnswer(url, answer.status, answer.body)


class _Apis:
    """The APIs of an environment's sites, asked by logical paths."""

    def __init__(self, environment: EpisodeEnvironment) -> None:
        self._environment = environment

    async def get(self, site: str, role: str, path: str) -> HttpAnswer:
        url = self._environment.upstreams.url(f"{site}:{path}")
        parts = urlsplit(url)
        there = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = await self._environment.api.ask_api(site, role, there)
        return HttpAnswer(url, answer.status, answer.body)


def _turn(needs: frozenset[Need]) -> int:
    if Need.EVIDENCE in needs:
        return 3
    if Need.SHELL in needs:
        return 2
    return 0 if Need.OWN_PAGE in needs else 1


def _looking(checks: Iterable[Look], when: When) -> Iterable[tuple[Look, LookingLocator]]:
    for check in checks:
        for way in check.ways if check.when is when else ():
            if isinstance(way.locate, LookingLocator):
                yield way, way.locate
