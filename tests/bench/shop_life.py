"""What happens in the shop between two resets: real changes, and the first page after them."""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar
from urllib.parse import urlsplit

import requests
from mutations.seeds import word
from mutations.shop import (
    CUSTOMER,
    FIRST_ORDER,
    MERCHANT,
    PRODUCTS,
    place_order,
    png,
    product_page,
    rename_product,
    title_of,
    upload_picture,
    write_review,
)
from mutations.visitor import Visitor, visit

from arena_core.cookie import Cookie
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.logins import login, replica_client, role_of
from sites.manifest import Site

Result = TypeVar("Result")

# An episode opens the page of this product first; it was renamed before the reset.
SHOWN: Final = 54
_PAUSE_S: Final = 0.005
_LIMIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class ShopLife:
    """Changes of any replica of the shop, with the logins of one: they share their sessions' key.

    Attributes:
        path: of the shown product's page.
        title: what that product is called in the golden state.
    """

    site: Site
    dice: Random
    path: str
    title: str
    cookies: Mapping[str, tuple[Cookie, ...]]

    @classmethod
    async def at(cls, site: Site, endpoint: Endpoint, dice: Random) -> ShopLife:
        """Log every role in to a golden replica, and look the product's title up."""
        client = replica_client(site, endpoint)
        cookies = {
            name: await login(site, name, role_of(site, name), client) for name in site.roles
        }

        def look() -> tuple[str, str]:
            with visit(client, ()) as visitor:
                page = visitor.open(product_page(SHOWN))
                return urlsplit(page.url).path, title_of(visitor, SHOWN)

        path, title = await asyncio.to_thread(look)
        return cls(site, dice, path, title, cookies)

    @property
    def url(self) -> str:
        """The shown product's page, as a browser names it."""
        return f"http://{self.site.host}{self.path}"

    async def change(self, endpoint: Endpoint) -> None:
        """Rename the shown product, and make one more change: order, review or picture."""
        await self._visit(endpoint, MERCHANT, self._rename)
        role, work = self.dice.choice(
            ((CUSTOMER, self._order), (CUSTOMER, self._review), (MERCHANT, self._picture))
        )
        await self._visit(endpoint, role, work)

    async def change_once(self, endpoint: Endpoint) -> None:
        """Make one change: a product renamed, an order, a review or a picture."""
        role, work = self.dice.choice(
            (
                (MERCHANT, self._rename),
                (CUSTOMER, self._order),
                (CUSTOMER, self._review),
                (MERCHANT, self._picture),
            )
        )
        await self._visit(endpoint, role, work)

    async def read(self, endpoint: Endpoint) -> None:
        """Open a few pages as the customer; nothing is written."""

        def work(visitor: Visitor) -> None:
            for path in ("/", "/search/?q=kettle", "/basket/", "/accounts/profile/"):
                visitor.open(path)

        await self._visit(endpoint, CUSTOMER, work)

    async def _visit(
        self, endpoint: Endpoint, role: str, work: Callable[[Visitor], Result]
    ) -> Result:
        def visited() -> Result:
            with visit(replica_client(self.site, endpoint), self.cookies[role]) as visitor:
                return work(visitor)

        return await asyncio.to_thread(visited)

    def _rename(self, visitor: Visitor) -> None:
        rename_product(visitor, SHOWN, word(self.dice))

    def _order(self, visitor: Visitor) -> None:
        order = place_order(visitor, self.dice.choice(PRODUCTS))
        assert order == FIRST_ORDER, f"order {order} in a golden shop, not {FIRST_ORDER}"

    def _review(self, visitor: Visitor) -> None:
        write_review(visitor, self.dice.choice(PRODUCTS), word(self.dice))

    def _picture(self, visitor: Visitor) -> None:
        upload_picture(visitor, self.dice.choice(PRODUCTS), png(self.dice))


@asynccontextmanager
async def gateway_to(site: Site, endpoint: Endpoint) -> AsyncIterator[Gateway]:
    """Open an episode's gateway to one replica."""
    upstream = SocketAddress(endpoint.host, endpoint.port)
    route = Route(site=site.name, live=False, host=site.host, port=80, connect_to=upstream)
    async with Gateway.open(Policy((route,))) as gateway:
        yield gateway


async def first_page(gateway: Gateway, life: ShopLife) -> None:
    """Ask through the gateway until the shown product's page is there with its golden title."""
    await asyncio.to_thread(_await_page, gateway.url, life)


def _await_page(proxy: str, life: ShopLife) -> None:
    wanted = f"<h1>{html.escape(life.title)}</h1>"
    deadline = time.monotonic() + _LIMIT_S
    with requests.Session() as session:
        session.trust_env = False
        session.proxies = {"http": proxy}
        while time.monotonic() < deadline:
            answer = session.get(life.url, timeout=_LIMIT_S)
            if answer.status_code == 200 and wanted in answer.text:
                return
            time.sleep(_PAUSE_S)
    message = f"no page of product {SHOWN} with the title '{life.title}'"
    raise RuntimeError(message)
