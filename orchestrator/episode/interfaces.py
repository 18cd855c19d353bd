"""What an episode needs of a browser and of a gateway, and nothing else of them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from arena_core.actions import Action
from arena_core.cookie import Cookie
from evaluators.page_look import PageLook, PageSeen
from orchestrator.browser.cdp_channel import Reply
from orchestrator.browser.context import SessionOptions
from orchestrator.browser.journal import Activity
from orchestrator.browser.locate import Fetched
from orchestrator.browser.network import NetworkRecord
from orchestrator.gateway import GatewayJournal, Policy
from orchestrator.observation import Observation
from orchestrator.observation_forms import ObservationForm


class PageDocument(Protocol):
    """One document of a tab, however its tab fares afterwards."""

    async def call(self, function: str, *arguments: object) -> Reply | None:
        """Call a function among the page's own variables; None where the document is gone.

        Raises:
            BrowserError: the function threw, or the browser does not answer.
        """


class EpisodeSession(Protocol):
    """The agent's browser for one episode; every method may raise BrowserError."""

    @property
    def url(self) -> str:
        """The current tab's URL."""

    @property
    def status(self) -> int | None:
        """The HTTP status of the current tab's document; None where it is not known."""

    @property
    def login(self) -> str:
        """The login that the current tab's context is for; empty for the first roles'."""

    async def open(self, urls: Sequence[str], logins: Sequence[str] = ()) -> None:
        """Open the start pages, a tab each, each in the context of its login."""

    async def act(self, action: Action) -> str | None:
        """Do one action; why it could not be done, None where it was."""

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
        """Return the current tab's viewport as WebP; None where an outside program broke it."""

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

    def answers(self) -> tuple[tuple[str, int | None], ...]:
        """Return each open tab's URL and the HTTP status that its document came with."""

    def asked_of(self, host: str) -> frozenset[str]:
        """Return the paths, with queries, that open pages asked a host for."""


class SharedSession(EpisodeSession, Protocol):
    """A session whose pages an outside program drives."""

    def listen_to(
        self,
        noticed: Callable[[], None],
        is_scripting: Callable[[], bool],
        broke: Callable[[str], None],
    ) -> None:
        """Say who learns of what the program does, and who knows whether a script of it runs.

        A page that crashed by itself or hangs is told to `broke`, and shows nothing from then on.
        """

    def attend(self, target: str) -> None:
        """Make the tab current in which the program acts, by its target's id."""

    async def bear_out(self) -> bool:
        """Ask the pages which events of scripts they bear out, note it; whether they do all."""


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
        self, policy: Policy, *, bind: str | socket.socket
    ) -> AbstractAsyncContextManager[EpisodeGateway]:
        """Listen where the browser reaches it; it stops with the block.

        Raises:
            GatewayError: nothing can listen there.
        """
