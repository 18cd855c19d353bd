"""The first phase of scoring: look, write down what was found, judge nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from arena_core.errors import ApiError, ArenaError, BrowserError, SiteGoneError
from evaluators.changes import change_as_text
from evaluators.checks import (
    Check,
    LocateAnswer,
    LocateApi,
    LocateDb,
    LocateDelta,
    LocateElement,
    LocatePage,
    LocateUrl,
    LocateWob,
    PerWorld,
    When,
)
from evaluators.evidence import Located
from evaluators.json_path import JsonPathError, read_json_path
from orchestrator.access.apis import ApiAnswer
from orchestrator.browser.locate import Fetched
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.interfaces import EpisodeSession
from orchestrator.episode.logins import login_name
from orchestrator.episode.protocol import EpisodeProtocol
from tasks.schema import Task


class Locators:
    """Runs the locators of a task's checks against the stage and the agent's browser session."""

    def __init__(
        self,
        environment: EpisodeEnvironment,
        session: EpisodeSession,
        task: Task,
        protocol: EpisodeProtocol,
        beside: EpisodeSession | None = None,
    ) -> None:
        self._environment = environment
        self._session = session
        self._task = task
        self._protocol = protocol
        # Opens what is not the agent's own page: the agent's session, unless it must not notice.
        self._opener = beside or session

    def through(self, beside: EpisodeSession) -> Locators:
        """Return locators that open pages in another session, and read the agent's own in its."""
        return Locators(self._environment, self._session, self._task, self._protocol, beside)

    async def at_step(self, checks: Iterable[Check]) -> tuple[Located, ...]:
        """Look for the key nodes that read the agent's own page; the others need no look."""
        return tuple(
            [
                await self._look(check)
                for check in checks
                if check.when is When.STEP and isinstance(check.locate, LocatePage)
            ]
        )

    async def at_end(self, checks: Iterable[Check]) -> tuple[Located, ...]:
        """Look for end checks: first the agent's own page as it was left, then everything else."""
        wanted = [
            check
            for check in checks
            if check.when is When.END and not isinstance(check.locate, LocateUrl | LocateAnswer)
        ]
        wanted.sort(key=lambda check: not _is_own_page(check))
        return tuple([await self._look(check) for check in wanted])

    async def _look(self, check: Check) -> Located:
        """Locate one check; what keeps it from looking is written down, not raised.

        Raises:
            BrowserError, SiteGoneError: the stage itself is gone: the episode breaks off.
        """
        try:
            return Located(check=check.name, values=await self._values(check))
        except (BrowserError, SiteGoneError):
            raise
        except ArenaError as error:
            return Located(check=check.name, error=error.message)

    async def _values(self, check: Check) -> tuple[str, ...]:
        match check.locate:
            case LocatePage() as locate:
                return await self._page(locate)
            case LocateDb() as locate:
                return rows_as_text(await self._environment.database.query(locate.site, locate.sql))
            case LocateApi() as locate:
                return await self._api(locate)
            case LocateDelta() as locate:
                changes = await self._environment.database.changes(locate.site, locate.ignore)
                return tuple(map(change_as_text, changes))
            case LocateWob():
                raw = await self._protocol.reward()
                return () if raw is None else (repr(raw),)
            case LocateUrl() | LocateAnswer() | LocateElement():
                return ()  # read from the steps themselves when scored

    async def _page(self, locate: LocatePage) -> tuple[str, ...]:
        selector = locate.selector
        if isinstance(selector, PerWorld):
            selector = selector.of(self._environment.world)
        if locate.at == "own":
            return await self._session.read_own(selector, locate.attribute)
        url = self._environment.upstreams.url(locate.at)
        login = login_name(self._task, locate.at.partition(":")[0], locate.role)
        return await self._opener.read_fresh(url, selector, locate.attribute, login=login)

    async def _api(self, locate: LocateApi) -> tuple[str, ...]:
        url = self._environment.upstreams.url(f"{locate.site}:{locate.path}")
        answer = await self._answer(locate, url)
        if answer.status != 200:  # noqa: PLR2004
            message = f"site '{locate.site}': GET {url} answered {answer.status}, wanted 200"
            raise ApiError(message)
        if locate.json_path is None:
            return (answer.body,)
        try:
            return tuple(
                as_text(value)
                for value in read_json_path(json.loads(answer.body), locate.json_path)
            )
        except (ValueError, JsonPathError) as error:
            message = f"site '{locate.site}': the answer to GET {url} cannot be read: {error}"
            raise ApiError(message) from error

    async def _answer(self, locate: LocateApi, url: str) -> Fetched | ApiAnswer:
        if locate.role is None:
            return await self._opener.fetch_text(url)
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return await self._environment.api.ask_api(locate.site, locate.role, path)


def rows_as_text(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Return one value per row, columns joined with ` | `."""
    return tuple(" | ".join(as_text(cell) for cell in row) for row in rows)


def as_text(value: object) -> str:
    """Return a database's or JSON's value as the text that matchers compare."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.decode("utf-8", "replace")
        case Mapping() | list():
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        case _:
            return str(value)


def _is_own_page(check: Check) -> bool:
    return isinstance(check.locate, LocatePage) and check.locate.at == "own"
