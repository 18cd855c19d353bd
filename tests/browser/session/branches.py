"""Sessions behind gateways: one that is captured, others that are restored from its state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from browser.session.conftest import Drive, Site

from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    HTML,
    PRUNED_HTML,
    SCREENSHOT,
    SOM,
    Observation,
)
from orchestrator.browser.observations.equality import first_difference
from orchestrator.browser.observations.forms import ObservationForm, load_form
from orchestrator.browser.process.launch import Browser
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.page_state import BrowserState
from orchestrator.browser.session.session import Session
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.gateway.server import Gateway

SHOP = "http://shop.arena.test"
FORUM = "http://forum.arena.test"


class Driven(Drive):
    """A session with the site behind a gateway of its own."""

    def __init__(self, gateway: Gateway, site: Site, session: Session) -> None:
        super().__init__(session, site)
        self.gateway = gateway

    async def start(self, *urls: str, logins: tuple[str, ...] = ()) -> None:
        await self.session.open(urls, logins)
        await self.rest()
        await self.see()

    async def restore(self, *, with_fields: bool = True) -> bool:
        """Restore, settle, take the ids over and see; whether all pages took theirs."""
        await self.session.restore(with_fields=with_fields)
        await self.rest()
        is_equal = await self.session.adopt_ids()
        await self.see()
        return is_equal

    async def run(self, function: str) -> object:
        """Call a function in the page's own world, on its document."""
        return await (await self.session.pin()).call(function)

    async def see_as(self, forms: Mapping[str, ObservationForm]) -> Observation:
        self.seen = await self.session.observe(0, forms=forms)
        return self.seen


class Branches:
    """Opens sessions that share a site and nothing else."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self.browser = browser
        self.site = site
        self._open = AsyncExitStack()

    async def session(
        self, state: BrowserState | None = None, *, has_documents: bool = True, **options: Any
    ) -> Driven:
        """Open a session, and a gateway that has the state's documents."""
        address = SocketAddress("127.0.0.1", self.site.port)
        route = Route(site="shop", live=False, host="shop.arena.test", port=80, connect_to=address)
        policy = Policy((route, replace(route, site="forum", host="forum.arena.test")))
        recorded = RecordedDocuments(state.documents) if state and has_documents else None
        opening = Gateway.open(policy, bind=await self.browser.listen(), recorded=recorded)
        gateway = await self._open.enter_async_context(opening)
        made = SessionOptions(proxy_url=gateway.url, state=state, **options)
        session = await self._open.enter_async_context(self.browser.session(made))
        return Driven(gateway, self.site, session)

    async def branch(self, source: Driven, **options: Any) -> Driven:
        """Open a session of a source's state as it is now, not restored yet."""
        return await self.session(await source.session.capture(), **options)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Branches]:
        async with self._open:
            yield self


def plain(state: BrowserState) -> BrowserState:
    """Return a state without what differs in a restored session: actions are counted anew."""
    tabs = tuple(replace(tab, actions=0) for tab in state.tabs)
    return replace(state, tabs=tabs)


FORMS = {
    name: load_form(name) for name in (AXTREE, ARIA, HTML, PRUNED_HTML, SCREENSHOT, SOM, BOXES)
}


async def equal_branch(branches: Branches, source: Driven) -> Driven:
    """Restore a source in another session, and hold the two against each other in every form."""
    before = await source.see_as(FORMS)
    branch = await branches.branch(source)
    assert await branch.restore()
    after = await branch.see_as(FORMS)
    assert first_difference(before, after) is None
    return branch
