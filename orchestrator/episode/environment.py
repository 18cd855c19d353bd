"""What an episode is played on, and with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena_core.cookie import Cookie
from arena_core.worlds import World
from evaluators.changes import Change, IgnoredChanges
from evaluators.episode_view import Ran
from evaluators.evidence import Receipt
from orchestrator.access.apis import ApiAnswer
from orchestrator.episode.interfaces import EpisodeBrowser, OpenGateway
from orchestrator.gateway import Gateway
from orchestrator.gateway.addresses import Resolve
from orchestrator.observation import AXTREE
from orchestrator.reset.replica import Replica
from orchestrator.reset.watch import Mark
from sites.atlas import Atlas
from sites.upstreams import Upstreams
from tasks.schema import Task


class Accounts(Protocol):
    """Hands out what makes a browser context logged in."""

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role, in the world of the episode.

        Raises:
            LoginError: the role cannot log in or is not recognised.
        """

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the site bars the role's page to whoever has these cookies.

        Raises:
            LoginError: a replica's page could not be fetched at all.
        """


class Database(Protocol):
    """Answers what only the database and the files behind a site can."""

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        """Return the rows of one SELECT.

        Raises:
            DatabaseError: the query failed.
        """

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs from the state that the replica was golden in.

        Raises:
            SiteError: its state could not be read.
            ImageError: its image was sealed without rows.
        """

    async def run(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in a replica, by its image's own user.

        Raises:
            SiteError: no replica answers for the site.
            TaskError: it took longer, printed too much, or would have run as root.
        """

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site.

        Raises:
            SiteError: a replica does not answer.
        """


class SiteApi(Protocol):
    """Answers what a site's own HTTP API can."""

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:
        """Return what the site's API answers to a GET with a role's API login, whatever its status.

        Raises:
            ApiError: the role has none at the site's upstream, or nothing answered.
        """


class Lease(Protocol):
    """The replicas that are held for this episode alone, as far as it must account for them."""

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs that they were golden when the episode got them."""

    def wrote(self, site: str) -> None:
        """Take it that a request which may write was sent to a site's replica."""

    async def lost(self) -> str | None:
        """Say which container is gone; None while all of them run.

        Raises:
            EngineError: the engine does not answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnvironment:
    """The world of one episode, ready to be entered.

    Attributes:
        upstreams: what answers for each site of the task.
        replicas: by site name; sites that no replica answers for have none.
        lease: accounts for the replicas.
        resolves: where live hosts are sent elsewhere.
        is_shared: the browser is the episode's own, and an outside program drives its pages.
    """

    atlas: Atlas
    upstreams: Upstreams
    browser: EpisodeBrowser
    replicas: Mapping[str, Replica]
    accounts: Accounts
    database: Database
    api: SiteApi
    lease: Lease
    resolves: tuple[Resolve, ...] = ()
    is_shared: bool = False
    open_gateway: OpenGateway = Gateway.open

    @property
    def world(self) -> World:
        """Which upstreams these are."""
        return self.upstreams.world


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSpec:
    """Who plays what: one attempt at one task.

    Attributes:
        agent: the name that the evidence shows, with the model where there is one.
        observations: the forms of observation that it reads; no other is computed.
        viewport: width and height of the window in CSS pixels; None for the task's own.
        records_requests: those of every task, and not only where one asks for them.
        traces: Playwright's traces are kept beside the evidence.
    """

    suite: str
    task: Task
    repeat: int
    attempt: int
    agent: str
    screenshots: bool = True
    observations: frozenset[str] = frozenset({AXTREE})
    viewport: tuple[int, int] | None = None
    records_requests: bool = False
    traces: bool = False
