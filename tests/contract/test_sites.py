"""What every site that travels with Arena must keep, each checked on its own sealed image."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
import requests

from orchestrator.engine.engine import Engine
from orchestrator.fleet.doors import web_session
from orchestrator.fleet.logins import is_logged_in, login, replica_door, role_of
from orchestrator.fleet.pool import Fleet
from orchestrator.fleet.slot import Slot
from orchestrator.reset.fingerprint import take_fingerprint
from orchestrator.reset.ladder import LADDER, Rung, reset_replica
from orchestrator.reset.replica import Replica
from orchestrator.reset.watch import Watch
from sites.atlas import load_atlas
from sites.errors import DatabaseError
from sites.manifest import Site

pytestmark = [pytest.mark.docker]

ATLAS = load_atlas()
EVERY_SITE = pytest.mark.parametrize("site", ATLAS.sites.values(), ids=list(ATLAS.sites))
EVERY_ROLE = pytest.mark.parametrize(
    ("site", "role"),
    [
        pytest.param(site, role, id=f"{site.name}-{role}")
        for site in ATLAS.sites.values()
        for role in site.roles
    ],
)
EVERY_RUNG = pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
WITH_A_DATABASE = [site for site in ATLAS.sites.values() if site.database]


@asynccontextmanager
async def slot_of(site: Site) -> AsyncIterator[tuple[Engine, Slot]]:
    engine = await Engine.connect()
    try:
        async with (
            Fleet.open(engine, ATLAS, [site.name], "contract") as fleet,
            fleet.lease([site.name]) as slot,
        ):
            yield engine, slot
    finally:
        await engine.close()


class References(HTMLParser):
    """Collects what a page loads by itself, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        if tag in {"img", "script", "iframe", "source"} and "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload"}:
            self.loaded.append(given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def crawl(replica: Replica, starts: tuple[str, ...], limit: int) -> Iterator[requests.Response]:
    """Fetch pages and what they link to on the same host, breadth first."""
    door = replica_door(replica.site, replica.endpoint)
    with web_session(door) as session:
        waiting = [door.url(path) for path in starts]
        seen = set(waiting)
        while waiting and limit > 0:
            answer = session.get(waiting.pop(0), timeout=30)
            limit -= 1
            yield answer
            if "html" not in answer.headers.get("Content-Type", ""):
                continue
            page = References()
            page.feed(answer.text)
            for link in page.links:
                url = urljoin(answer.url, link).partition("#")[0]
                is_here = urlsplit(url).hostname == replica.site.host
                if is_here and url not in seen and not re.search(r"logout|skin|delete", url):
                    seen.add(url)
                    waiting.append(url)


@EVERY_SITE
async def test_its_image_is_sealed_and_a_fresh_replica_is_golden(site: Site) -> None:
    async with slot_of(site) as (engine, slot):
        replica = slot.replicas[site.name]
        found = await take_fingerprint(engine, site, replica.container)
        assert found.digest == replica.golden != ""


@EVERY_SITE
async def test_its_pages_answer_and_load_nothing_from_outside(site: Site) -> None:
    async with slot_of(site) as (_, slot):
        replica = slot.replicas[site.name]
        for answer in await asyncio.to_thread(lambda: list(crawl(replica, site.warm, 40))):
            assert answer.status_code < 400, answer.url
            if "html" in answer.headers.get("Content-Type", ""):
                page = References()
                page.feed(answer.text)
                outside = [
                    url
                    for url in page.loaded
                    if urlsplit(urljoin(answer.url, url)).hostname not in {site.host, None}
                ]
                assert outside == [], answer.url


@EVERY_SITE
async def test_looking_at_pages_changes_nothing(site: Site) -> None:
    async with slot_of(site) as (engine, slot):
        replica = slot.replicas[site.name]
        for role in site.roles:
            await slot.cookies(site.name, role)
        for _ in await asyncio.to_thread(lambda: list(crawl(replica, site.warm, 30))):
            pass
        after = await take_fingerprint(engine, site, replica.container)
        assert after.digest == replica.golden


@EVERY_ROLE
async def test_a_role_logs_in_and_is_known_only_with_its_cookies(site: Site, role: str) -> None:
    async with slot_of(site) as (_, slot):
        door = replica_door(site, slot.replicas[site.name].endpoint)
        recipe = role_of(site, role)
        cookies = await login(site, role, recipe, door)
        assert await is_logged_in(site, role, recipe, door, cookies)
        assert not await is_logged_in(site, role, recipe, door, ())


@pytest.mark.parametrize("site", WITH_A_DATABASE, ids=[site.name for site in WITH_A_DATABASE])
async def test_the_account_of_checks_cannot_write(site: Site) -> None:
    async with slot_of(site) as (_, slot):
        tables = await slot.query(site.name, "SHOW TABLES")
        assert tables
        delete = f"DELETE FROM `{tables[0][0]}`"  # noqa: S608 - a name the database gave
        for statement in (delete, "CREATE TABLE mark (id INT)"):
            with pytest.raises(DatabaseError):
                await slot.query(site.name, statement)


@EVERY_SITE
@EVERY_RUNG
async def test_every_rung_that_claims_a_replica_leads_to_golden(site: Site, rung: Rung) -> None:
    async with slot_of(site) as (engine, slot):
        replica = slot.replicas[site.name]
        watch = Watch.over(engine, replica)
        if not rung.applies(watch, wrote=False):
            assert site.state is None, "the image has a supervisor, so it can be rewound"
            return
        reset = await reset_replica(engine, watch, rungs=[rung], wrote=False)
        assert reset.receipt.proven
        assert reset.receipt.strategy == rung.name
        await reset.watch.close()
        if reset.replica.container.id != replica.container.id:
            await engine.remove(reset.replica.container.id)


@EVERY_SITE
async def test_its_container_has_no_privileges_and_no_way_out(site: Site) -> None:
    async with slot_of(site) as (engine, slot):
        container = slot.replicas[site.name].container
        user = await engine.execute(container.id, ["id", "-u"])
        assert user.stdout.strip() != b"0"
        reach = "exec 3<>/dev/tcp/1.1.1.1/80"
        out = await engine.execute(container.id, ["timeout", "3", "bash", "-c", reach])
        assert out.exit_code != 0
