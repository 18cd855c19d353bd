"""A world without engine and browser, for tests of whoever drives an episode.

It fills the Protocols that an episode asks of its environment: a session that does what a script
says, a gateway that carries nothing, accounts, databases and a lease that write down what they are
asked.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from arena_core.actions import Action
from arena_core.cookie import Cookie
from arena_core.worlds import World
from evaluators.changes import Change, IgnoredChanges
from evaluators.episode_view import PageLook, PageSeen, Ran
from evaluators.evidence import ActedElement, Receipt, UrlVisit
from orchestrator.browser.observation import AXTREE, AxTree, Observation, Tab
from orchestrator.browser.observations.forms import ObservationForm
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.network import NetworkRecord
from orchestrator.browser.session.page_reader import Fetched
from orchestrator.browser.session.page_state import BrowserState, NextNumbers, TabState
from orchestrator.browser.tabs.journal import Acting, Activity, Keyed, NotedSoFar
from orchestrator.browser.tabs.watcher import EventReport
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.gateway.journal import GatewayJournal, Pending
from orchestrator.gateway.policy import Policy, SocketAddress
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.sandbox.check_queries import ApiAnswer
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.watch import Mark
from sites.registry import SiteRegistry, load_registry
from tasks.schema import Task

WIKI = "http://wiki.arena.test"
IMAGE = f"sha256:{'1' * 64}"
Doing = Callable[[], Awaitable[object]]


async def nothing() -> None:
    """Do nothing: what a step of the script does where nothing is said."""


@dataclass
class FakeDocument:
    """A page of MiniWoB++, as far as its protocol asks it."""

    asked: dict[str, Any] | None
    states: list[dict[str, Any] | None]

    async def call(self, function: str, *arguments: object) -> dict[str, Any] | None:
        if arguments:
            return self.asked
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


@dataclass
class FakeSession:
    """An agent's browser that goes where it is sent, and does what the world's script says."""

    world: FakeWorld
    options: SessionOptions
    url: str = "about:blank"
    login: str = ""
    status: int | None = 200
    is_forged: bool = False
    retry_after: str | None = None
    is_open: bool = True
    is_traced: bool = False
    visits: list[UrlVisit] = field(default_factory=list)
    acted: list[ActedElement] = field(default_factory=list)

    async def open(self, urls: Sequence[str], logins: Sequence[str] = ()) -> None:
        self.world.log.append(f"open {' '.join(urls)}")
        await self.world.do("open")
        self._go(urls[0])

    async def act(self, action: Action) -> str | None:
        self.world.log.append(f"act {action.kind}")
        self.world.acting.set()
        await self.world.do("act")
        self._go(getattr(action, "url", None) or self.url)
        return self.world.refuses.get(action.kind)

    async def capture(self) -> BrowserState:
        await self.world.do("capture")
        return BrowserState(
            tabs=(
                TabState(
                    number=1,
                    login="",
                    url=self.url,
                    opened_url=self.url,
                    document=None,
                    is_current=True,
                    actions=self.world.document_at,
                ),
            ),
            cookies={"": ()},
            storage={"": ()},
            ids=NextNumbers(tab=2, element=1),
        )

    async def restore(self, *, with_fields: bool = True) -> None:
        captured: Any = self.options.state
        self.world.log.append(f"restore {captured.tabs[0].url}{'' if with_fields else ' alone'}")
        await self.world.do("restore")
        self._go(captured.tabs[0].url)

    async def end_answers(self) -> None:
        self.world.log.append("end answers")

    async def adopt_ids(self, seen: Observation | None = None) -> bool:
        return True

    async def settle(self, deadline_s: float) -> bool:
        await self.world.do("settle")
        return True

    async def observe(
        self,
        step: int,
        last_error: str | None = None,
        forms: Mapping[str, ObservationForm] | None = None,
    ) -> Observation:
        await self.world.do("observe")
        self.world.forms.append(frozenset(forms or ()))
        tab = Tab(index=1, title=self.world.title, url=self.url, is_current=True)
        return Observation(
            step=step,
            url=self.url,
            title=self.world.title,
            tabs=(tab,),
            parts={AXTREE: AxTree((), self.world.tree or f"a page at {self.url}")},
            last_error=last_error,
        )

    async def screenshot(self) -> bytes:
        return b"picture"

    async def film(self) -> AsyncIterator[str]:
        yield "picture"

    async def title(self) -> str:
        await self.world.do("title")
        return self.world.title

    async def cookies(self, login: str = "") -> tuple[Cookie, ...]:
        return ()

    async def pin(self) -> FakeDocument:
        assert self.world.document is not None
        return self.world.document

    async def look_own(self, what: PageLook) -> PageSeen:
        await self.world.do("read")
        return PageSeen(self.world.pages.get(what.selector or what.script or "", ()))

    async def look_fresh(
        self, url: str, what: PageLook, *, login: str = "", may_be_gone: bool = False
    ) -> PageSeen | None:
        self.world.log.append(f"read {url}")
        found = self.world.pages.get(what.selector or what.script or "", ())
        return PageSeen(found, status=self.world.statuses.get(url, 200))

    async def fetch_text(self, url: str) -> Fetched:
        self.world.log.append(f"fetch {url}")
        return Fetched(self.world.statuses.get(url, 200), "")

    def drain(self) -> Activity:
        activity = Activity(visits=tuple(self.visits), acted=tuple(self.acted))
        self.visits.clear()
        self.acted.clear()
        return activity

    async def traces(self) -> Mapping[str, bytes]:
        if not self.options.traces or self.is_traced:
            return {}
        self.is_traced = True
        self.world.log.append("trace ended")
        return {"trace.zip": b"zip"}

    async def network(self) -> NetworkRecord | None:
        return self.world.network

    def answers(self) -> tuple[tuple[str, int | None], ...]:
        return ((self.url, self.world.status),)

    def asked_of(self, host: str) -> frozenset[str]:
        return frozenset()

    def listen_to(
        self,
        noticed: Callable[[], None],
        is_scripting: Callable[[], bool],
        broke: Callable[[str], None],
        acting: Acting | None = None,
        keyed: Keyed | None = None,
    ) -> None:
        self.world.log.append("listened to")
        self.world.acts = acting or (lambda *_: None)
        self.world.noticed = noticed
        self.world.broke = broke

    async def lost(self) -> None:
        await self.world.browser_gone.wait()

    def distrust_answers(self) -> None:
        self.world.log.append("distrust answers")

    def attend(self, target: str) -> None:
        self.world.log.append(f"attend {target}")

    async def bear_out(self) -> bool:
        self.world.log.append("bear out")
        await self.world.do("bear out")
        return self.world.bears_out

    def goes(self, url: str) -> None:
        """Go somewhere by the doing of whoever drives the page from outside."""
        self._go(url)
        self.world.noticed()

    def does(self, report: EventReport, url: str | None = None) -> None:
        """Do something by hand, and go where it leads."""
        self.world.acts(report, NotedSoFar(len(self.visits), len(self.acted)))
        self.acted.append(report.acted(report.event, self.options.logical(self.url)))
        self._go(url or self.url)
        self.world.noticed()

    def _go(self, url: str) -> None:
        if url != self.url:
            self.url, self.status = url, self.world.statuses.get(url, 200)
            self.visits.append(
                UrlVisit(tab=1, url=url, logical=self.options.logical(url), status=self.status)
            )


@dataclass
class FakeGateway:
    """A gateway that carries nothing; a script may write into its journal."""

    url: str = "http://127.0.0.1:1"
    journal: GatewayJournal = field(default_factory=GatewayJournal)


@dataclass
class FakeReplica:
    """A replica, as far as routing looks at one."""

    endpoint: SocketAddress = field(default_factory=lambda: SocketAddress("127.0.0.1", 1))
    placement: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(image_id=IMAGE))


@dataclass
class FakeWorld:
    """Everything that an episode asks of its world, in one object.

    Attributes:
        script: what happens inside, by what is done: `open`, `act`, `settle`, `observe`, `title`,
            `read`, `log in`, `listen`, `marks`, `lost`, `close`; an exception is raised, anything
            else awaited.
        refuses: by kind of action, why it cannot be done.
        pages: what selectors find.
        title: of every page; `tree` is its accessibility tree.
        status: of the start page's answer.
        statuses: by URL, of all later answers; 200 where there is none.
        log: what was done, in order.
        forms: which forms of observation were asked for, each time.
    """

    script: dict[str, BaseException | Doing] = field(default_factory=dict)
    refuses: dict[str, str] = field(default_factory=dict)
    pages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = "Page"
    tree: str = ""
    statuses: dict[str, int] = field(default_factory=dict)
    rows: tuple[tuple[object, ...], ...] = ()
    status: int | None = 200
    network: NetworkRecord | None = None
    document: FakeDocument | None = None
    gone: str | None = None
    barred: bool = False
    receipts: tuple[Receipt, ...] = ()
    starts: dict[str, TakenState | None] = field(default_factory=dict)
    states: dict[str, TakenState] = field(default_factory=dict)
    moves: dict[str, Mark] = field(default_factory=dict)
    document_at: int = 1
    log: list[str] = field(default_factory=list)
    forms: list[frozenset[str]] = field(default_factory=list)
    acting: asyncio.Event = field(default_factory=asyncio.Event)
    gateway: FakeGateway = field(default_factory=FakeGateway)
    sessions: list[FakeSession] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    noticed: Callable[[], None] = lambda: None
    acts: Acting = lambda *_: None
    browser_gone: asyncio.Event = field(default_factory=asyncio.Event)
    broke: Callable[[str], None] = lambda _: None
    is_shared: bool = False
    bears_out: bool = True
    port: int = 1

    async def do(self, what: str) -> None:
        """Do what the script says."""
        scripted = self.script.get(what, nothing)
        if isinstance(scripted, BaseException):
            raise scripted
        await scripted()

    def environment(
        self, world: World = World.OFFLINE, sites: Sequence[str] = ("wiki",)
    ) -> EpisodeEnvironment:
        """Return an episode's environment made of this."""
        upstreams = ATLAS.upstreams(sites, world)
        replicas: Any = {name: FakeReplica() for name in upstreams.replicas}
        browser: Any = self
        return EpisodeEnvironment(
            registry=ATLAS,
            upstreams=upstreams,
            browser=browser,
            replicas=replicas,
            accounts=self,
            database=self,
            api=self,
            lease=self,
            is_shared=self.is_shared,
            open_gateway=self.open_gateway,
        )

    # a browser

    async def listen(self) -> str:
        await self.do("listen")
        return "127.0.0.1"

    async def socket_inside(self) -> socket.socket:
        return socket.socket()

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[FakeSession]:
        session = FakeSession(self, options)
        self.sessions.append(session)
        try:
            yield session
        finally:
            session.is_open = False
            self.log.append("session closed")
            await self.do("close")

    # a gateway

    @asynccontextmanager
    async def open_gateway(
        self,
        policy: Policy,
        *,
        bind: object,
        recorded: RecordedDocuments | None = None,
        arm: object = None,
    ) -> AsyncIterator[FakeGateway]:
        try:
            yield self.gateway
        finally:
            self.log.append("gateway closed")

    def requested(
        self, method: str, url: str, *, site: str, failed: str | None = None, live: bool = False
    ) -> None:
        """Write a request into the gateway's journal."""
        pending = Pending(self.gateway.journal, method, url, site=site, live=live)
        if method != "GET":
            pending.mark_write()
        pending.finish(None if failed else 200, failed=failed)

    # accounts

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        self.log.append(f"log in {site} {role}")
        await self.do("log in")
        return ()

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        return self.barred

    # databases

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        self.log.append("query")
        await self.do("query")
        return self.rows

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        return ()

    async def run(self, site: str, command: str, seconds: int) -> Ran:
        self.log.append(f"run {command}")
        await self.do("run")
        return Ran(0, "one\ntwo\n", "")

    async def marks(self) -> Mapping[str, Mark]:
        await self.do("marks")
        return self.moves

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:
        raise NotImplementedError

    # a lease

    @property
    def began(self) -> Mapping[str, TakenState | None]:
        return self.starts

    async def take_states(self) -> Mapping[str, TakenState]:
        await self.do("take states")
        return self.states

    def wrote(self, site: str) -> None:
        self.log.append(f"wrote {site}")
        self.written.append(site)

    async def lost(self) -> str | None:
        await self.do("lost")
        return self.gone


ATLAS: SiteRegistry = load_registry()


def browsing_task(**more: object) -> Task:
    """Return a task on one site that asks for an answer."""
    return Task.model_validate(
        {
            "id": "kettle",
            "family": "information",
            "intent": "Tell when the kettle was invented.",
            "sites": ["wiki"],
            "start": ["wiki:/"],
            "checks": [
                {
                    "name": "answer",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "number", "value": 1891},
                }
            ],
            "reference": [{"do": "stop", "answer": "1891"}],
            **more,
        }
    )


def attempt_at(task: Task) -> AttemptSpec:
    """Return the first attempt at a task."""
    return AttemptSpec(
        suite="tiny", task=task, repeat=0, attempt=1, agent="script", screenshots=False
    )
