"""Pages answer, load nothing from outside, and looking at them changes nothing."""

from __future__ import annotations

import asyncio

import pytest
from support.sites.every_site import ATLAS, EVERY_SITE, Shared

from orchestrator.authoring.site_check.pages import broken_pages, outside_requests, starts_of
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import Site

pytestmark = pytest.mark.docker

HOSTS = frozenset(site.host for site in ATLAS.sites.values())


@EVERY_SITE
async def test_links_of_front_page_and_three_deeper_ones_answer_and_load_nothing_from_outside(
    engine: Engine, shared: Shared, site: Site
) -> None:
    assert await broken_pages(await shared.of(engine, site), HOSTS) == ()


@EVERY_SITE
async def test_pages_of_the_warm_up_load_nothing_from_outside(
    engine: Engine, shared: Shared, site: Site
) -> None:
    assert await outside_requests(await shared.of(engine, site)) == ()


@EVERY_SITE
async def test_a_replica_is_golden_whatever_pages_of_it_were_looked_at_in_every_role(
    engine: Engine, shared: Shared, site: Site
) -> None:
    """Whatever the other tests looked at is in it too: all share one replica."""
    replica = await shared.of(engine, site)
    for role in (None, *site.roles):
        await look(replica, role)
    found = await take_fingerprint(engine, site, replica.container)
    assert found.digest == replica.golden != ""


async def look(replica: Replica, role: str | None) -> None:
    """Open the pages of the warm-up and those that a role may open."""
    site, client = replica.site, replica_client(replica.site, replica.endpoint)
    account = role_of(site, role) if role else None
    cookies = await login(site, role, account, client) if role and account else ()
    paths = [*starts_of(replica), *(page.path for page in (account.may if account else ()))]

    def opened() -> None:
        with origin_session(client) as session:
            for one in cookies:
                session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
            for path in paths:
                assert session.get(client.url(path), timeout=30).status_code < 400, path

    await asyncio.to_thread(opened)
