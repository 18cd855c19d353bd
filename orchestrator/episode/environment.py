"""What an episode is played on, and with whom: environment, browser, gateway, accounts, lease."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from arena_core.actions import Action
from arena_core.cookie import Cookie
from arena_core.worlds import World
from evaluators.changes import Change, IgnoredChanges
from evaluators.episode_view import PageLook, PageSeen, Ran
from evaluators.evidence import Receipt
from orchestrator.browser.observation import AXTREE, Observation
from orchestrator.browser.observations.forms import ObservationForm
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.network import NetworkRecord
from orchestrator.browser.session.page_reader import Fetched
from orchestrator.browser.session.page_state import BrowserState
from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.browser.tabs.cdp_channel import Reply
from orchestrator.browser.tabs.journal import Acting, Activity, Keyed
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.labels import table_named
from orchestrator.gateway.live_limits import LiveMeters
from orchestrator.gateway.policy import Policy, Resolve
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.gateway.server import Gateway
from orchestrator.gateway.tapes.hosts import SiteTape
from orchestrator.gateway.variations import Variation, labels_in
from orchestrator.sandbox.check_queries import ApiAnswer
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.watch import Mark
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams
from tasks.schema import Task


class PageDocument(Protocol):
    """One document of a tab, however its tab fares afterwards."""

    async def call(self, function: str, *arguments: object) -> Reply | None:
        """Call a function among the page's own variables; None where the document is gone."""


class EpisodeSession(Protocol):
    """The agent's browser for one episode; every method may raise BrowserError."""

    @property
    def url(self) -> str:
        """The current tab's URL."""

    @property
    def status(self) -> int | None:
        """The HTTP status of the current tab's document; None where it is not known."""

    @property
    def retry_after(self) -> str | None:
        """When the current tab's site, which refused, wants to be asked again, in its words."""

    @property
    def is_forged(self) -> bool:
        """Whether the current tab's address is the doing of a script of an external program."""

    @property
    def login(self) -> str:
        """The login that the current tab's context is for; empty for the first roles'."""

    async def open(self, urls: Sequence[str], logins: Sequence[str] = ()) -> None:
        """Open the start pages, a tab each, each in the context of its login."""

    async def act(self, action: Action) -> str | None:
        """Do one action; why it could not be done, None where it was."""

    async def capture(self) -> BrowserState:
        """Return the state of all tabs; StateError where they could not be brought back."""

    async def restore(self, *, with_fields: bool = True) -> None:
        """Open the tabs of `SessionOptions.state` again, in place of `open`."""

    async def end_answers(self) -> None:
        """Let the sites answer all that scripts ask for, after `restore(with_fields=False)`."""

    async def adopt_ids(self, seen: Observation | None = None) -> bool:
        """Give elements of restored pages the ids that they had; whether all pages are the same.

        `seen` is what the current tab showed; without it, each tab is compared with the state.
        """

    async def settle(self, deadline_s: float) -> bool:
        """Wait until the page has settled; False where the deadline came first."""

    async def observe(
        self,
        step: int,
        last_error: str | None = None,
        forms: Mapping[str, ObservationForm] | None = None,
    ) -> Observation:
        """Read the current tab as an agent sees it, in these forms."""

    async def screenshot(self) -> bytes | None:
        """Return the current tab's viewport as WebP; None where an external program broke it."""

    async def title(self) -> str:
        """Return the current tab's title."""

    async def cookies(self, login: str = "") -> tuple[Cookie, ...]:
        """Return a context's cookies as they are now."""

    async def pin(self) -> PageDocument:
        """Keep hold of the document in the current tab."""

    async def look_own(self, what: PageLook) -> PageSeen:
        """Read the agent's own page; TaskError where that cannot be done."""

    async def look_fresh(
        self, url: str, what: PageLook, *, login: str = "", may_be_gone: bool = False
    ) -> PageSeen | None:
        """Read a page opened for that; None where it leads nowhere and may."""

    async def fetch_text(self, url: str) -> Fetched:
        """GET a URL with the first context's cookies."""

    def drain(self) -> Activity:
        """Return what happened since the last drain, and forget it."""

    async def network(self) -> NetworkRecord | None:
        """Return what the pages asked for so far; None where it was not recorded."""

    async def traces(self) -> Mapping[str, bytes]:
        """End Playwright's traces and return them by file name; none the second time."""

    def film(self) -> AsyncIterator[str]:
        """Yield the current tab's newest picture as it changes, in base64."""

    def answers(self) -> tuple[tuple[str, int | None], ...]:
        """Return each open tab's URL and the HTTP status that its document came with."""

    def asked_of(self, host: str) -> frozenset[str]:
        """Return the paths, with queries, that open pages asked a host for."""


class SharedSession(EpisodeSession, Protocol):
    """A session whose pages an external program drives."""

    def listen_to(
        self,
        noticed: Callable[[], None],
        is_scripting: Callable[[], bool],
        broke: Callable[[str], None],
        acting: Acting | None = None,
        keyed: Keyed | None = None,
    ) -> None:
        """Say who learns of what the program does, and who knows whether a script of it runs.

        A page that crashed by itself or hangs is told to `broke`, and shows nothing from then on.
        Of a person, `acting` gets each event before it is noted, and `keyed` what keys they press.
        """

    async def show_choosers(self) -> None:
        """Let a person at the window choose files."""

    async def lost(self) -> None:
        """Return when the browser is gone."""

    def distrust_answers(self) -> None:
        """Take it that the program answers requests in place of sites from now on."""

    def attend(self, target: str) -> None:
        """Make the tab current in which the program acts, by its target's id."""

    async def bear_out(self) -> bool:
        """Ask which events and visits of scripts are borne out, note it; whether all are."""


class EpisodeBrowser(Protocol):
    """Opens the contexts of one episode."""

    async def listen(self) -> str | socket.socket:
        """Return where a gateway must listen, for this browser to reach it."""

    def session(self, options: SessionOptions) -> AbstractAsyncContextManager[EpisodeSession]:
        """Open a session; it ends with the block."""


class EpisodeGateway(Protocol):
    """The forward proxy of one episode."""

    @property
    def url(self) -> str:
        """What a browser context takes as its proxy."""

    @property
    def journal(self) -> GatewayJournal:
        """What went through and what was refused."""


class OpenGateway(Protocol):
    """Starts the gateway of one episode."""

    def __call__(
        self,
        policy: Policy,
        *,
        bind: str | socket.socket,
        recorded: RecordedDocuments | None = None,
        arm: Arm | None = None,
    ) -> AbstractAsyncContextManager[EpisodeGateway]:
        """Listen where the browser reaches it; vary as the arm does; it stops with the block."""


class Accounts(Protocol):
    """Hands out what makes a browser context logged in."""

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role, in the world of the episode."""

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the site bars the role's page to whoever has these cookies."""


class Database(Protocol):
    """Answers what only the database and the files behind a site can."""

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        """Return the rows of one SELECT."""

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs from the state that the replica was golden in."""

    async def run(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in a replica, by its image's own user."""

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site."""


class SiteApi(Protocol):
    """Answers what a site's own HTTP API can."""

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:
        """Return the API's answer to a GET with a role's login, whatever its status."""


class Lease(Protocol):
    """The replicas that are held for this episode alone, as far as it must account for them."""

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs that they were golden when the episode got them."""

    @property
    def began(self) -> Mapping[str, TakenState | None]:
        """By site that holds state, the state that the episode began in; None is golden."""

    async def take_states(self) -> Mapping[str, TakenState]:
        """Take the state that each of these sites is in; StateError where that cannot be done."""

    def wrote(self, site: str) -> None:
        """Take it that a request which may write was sent to a site's replica."""

    async def lost(self) -> str | None:
        """Say which container is gone; None while all of them run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnvironment:
    """The world of one episode, ready to be entered.

    Attributes:
        upstreams: what answers for each site of the task.
        replicas: by site name; sites that no replica answers for have none.
        resolves: where live hosts are sent elsewhere.
        tapes: what answers in place of live origins, by site.
        recorder: keeps what the browser gets, for a tape; None where nothing does.
        is_shared: the browser is the episode's own, and an external program drives its pages.
        changed: how many sites begin otherwise than in the clean arm.
        live: what all episodes of the run together may ask of live hosts.
    """

    registry: SiteRegistry
    upstreams: Upstreams
    browser: EpisodeBrowser
    replicas: Mapping[str, Replica]
    accounts: Accounts
    database: Database
    api: SiteApi
    lease: Lease
    resolves: tuple[Resolve, ...] = ()
    tapes: Mapping[str, SiteTape] = field(default_factory=dict)
    recorder: TapeRecorder | None = None
    is_shared: bool = False
    changed: int = 0
    live: LiveMeters = field(default_factory=LiveMeters)
    open_gateway: OpenGateway = Gateway.open

    @property
    def world(self) -> World:
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
        vary: how the world differs that the agent meets; empty for the clean arm.
        may_go_back: checkpoints may be taken, so all that the agent saw stays in memory.
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
    vary: tuple[Variation, ...] = ()
    may_go_back: bool = False

    @property
    def labels(self) -> Mapping[str, str]:
        """What the arm calls elements: a new name by the site's own."""
        return table_named(labels_in(self.vary), self.task.labels)
