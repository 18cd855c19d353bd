"""What a session shows is what it is asked for: forms of observation read the real page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.errors import BrowserError
from orchestrator.browser.observation import AXTREE
from orchestrator.browser.observations.axtree import AXTREE_FORM
from orchestrator.browser.observations.forms import ObservedPage

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGE = "<title>Shop</title><h1 data-left=3>Kettles</h1><a href=/k>Red kettle</a>"


class Html:
    """A form as somebody's package would have it."""

    async def observe(self, page: ObservedPage) -> str:
        document = await page.call("DOM.getDocument", {"depth": 0})
        found = await page.call("DOM.getOuterHTML", {"nodeId": document["root"]["nodeId"]})
        return str(found["outerHTML"])


class Lines:
    """One that is made of another."""

    async def observe(self, page: ObservedPage) -> int:
        return len((await page.axtree()).text.splitlines())


class Wrong:
    """One that calls what there is not."""

    async def observe(self, page: ObservedPage) -> object:
        return await page.call("Shop.getPrices")


async def test_each_form_yields_its_part_and_nothing_else_is_read(drive: Drive) -> None:
    await drive.open(PAGE)
    seen = await drive.session.observe(1, None, {"html": Html()})
    assert set(seen.parts) == {"html"}
    assert '<h1 data-left="3">Kettles</h1>' in str(seen.parts["html"])
    assert (seen.title, [tab.title for tab in seen.tabs]) == ("Shop", ["Shop"])
    assert (await drive.session.observe(1, None, {})).parts == {}


async def test_forms_stand_side_by_side_and_the_tree_names_the_same_elements(drive: Drive) -> None:
    await drive.open(PAGE)
    alone = await drive.session.observe(1)
    seen = await drive.session.observe(1, None, {AXTREE: AXTREE_FORM, "lines": Lines()})
    assert seen.parts["lines"] == len(seen.text.splitlines()) > 1
    assert (seen.nodes, seen.title, seen.tabs) == (alone.nodes, alone.title, alone.tabs)


async def test_a_call_that_the_browser_refuses_is_a_browser_error(drive: Drive) -> None:
    await drive.open(PAGE)
    with pytest.raises(BrowserError, match=r"refuses Shop\.getPrices"):
        await drive.session.observe(1, None, {"wrong": Wrong()})
