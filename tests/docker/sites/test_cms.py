"""What the newspaper shows, and what of a visit the next episode sees, asked over HTTP."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from support.sites.crawling import visitor

from orchestrator.authoring.site_check.pages import read_answer
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

SITE = "cms"
EDITOR = "/wp-admin/post.php?post=2500&action=edit"
ARTICLES = "/wp-admin/edit.php"
LOCKED, IN_LIST = '"isLocked":true', "is currently editing"


@pytest.fixture
async def slot_pool() -> AsyncIterator[SlotPool]:
    async with (
        await Engine.connect() as engine,
        SlotPool.open(engine, load_registry(), [SITE], "cms-test", workers=1, spares=0) as opened,
    ):
        yield opened


async def pages(slot: Slot, role: str | None, *paths: str) -> list[str]:
    """Return what pages answer to a role by GET."""
    cookies = await slot.cookies(SITE, role) if role else ()

    def fetch() -> list[str]:
        with visitor(slot.replicas[SITE], role, cookies) as one:
            return [
                one.session.get(one.client.url(path), timeout=PAGE_TIMEOUT_S).text for path in paths
            ]

    return await asyncio.to_thread(fetch)


async def test_who_opened_an_article_in_the_editor_is_nothing_to_the_next_episode(
    slot_pool: SlotPool,
) -> None:
    async with slot_pool.lease([SITE]) as slot:
        await pages(slot, "administrator", EDITOR)
        article, listed = await pages(slot, "editor", EDITOR, ARTICLES)
        assert LOCKED in article
        assert IN_LIST in listed
    async with slot_pool.lease([SITE]) as slot:
        (receipt,) = slot.receipts
        article, listed = await pages(slot, "editor", EDITOR, ARTICLES)
        assert LOCKED not in article
        assert IN_LIST not in listed
        assert (receipt.strategy, receipt.proven) == ("rewind", True)
        assert receipt.fallbacks[0].startswith("clean: ")


async def test_a_visit_that_opened_no_editor_leaves_the_replica_clean(slot_pool: SlotPool) -> None:
    async with slot_pool.lease([SITE]) as slot:
        await pages(slot, None, "/", "/category/tested/", "/?s=kettle", "/visitors-guide/")
        await pages(slot, "administrator", "/wp-admin/", "/wp-admin/users.php", ARTICLES)
    async with slot_pool.lease([SITE]) as slot:
        (receipt,) = slot.receipts
        assert (receipt.strategy, receipt.proof) == ("clean", "counters")


async def test_the_front_page_names_the_sections(slot_pool: SlotPool) -> None:
    async with slot_pool.lease([SITE]) as slot:
        (front,) = await pages(slot, None, "/")
        sections = front.partition("Sections</h2>")[2].partition("</ul>")[0]
        assert re.findall(r">([^<>]+)</a>", sections) == [
            "Culture", "Explained", "Life", "News", "Noticeboard", "Opinion", "Places", "Sport",
            "Tested",
        ]  # fmt: skip


async def test_the_pages_about_wordpress_load_nothing_from_elsewhere(slot_pool: SlotPool) -> None:
    async with slot_pool.lease([SITE]) as slot:
        cookies = await slot.cookies(SITE, "administrator")

        def loads() -> list[str]:
            with visitor(slot.replicas[SITE], "administrator", cookies) as one:
                answers = [
                    one.session.get(one.client.url(f"/wp-admin/{page}.php"), timeout=PAGE_TIMEOUT_S)
                    for page in ("about", "credits", "freedoms", "privacy")
                ]
                return [load for answer in answers for load in read_answer(answer).loads]

        found = await asyncio.to_thread(loads)
        assert found
        assert [load for load in found if not load.startswith("http://cms.arena.test/")] == []
