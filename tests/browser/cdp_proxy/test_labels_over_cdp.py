"""A program from outside in an arm of other labels: what it does is named as its site names it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from support.agents.cdp_endpoint import Client, Endpoint, open_endpoint

from evaluators.episode_view import PageLook
from evaluators.evidence import ActedElement, ElementEvent
from orchestrator.browser.tabs.arm_scripts import ArmScripts
from orchestrator.gateway.scripts import page_script_of
from orchestrator.gateway.variations import Variation

pytestmark = pytest.mark.browser

_SOURCE: Final = page_script_of(Variation.parse("labels=mine"), 0, {"Buy": "Kaufen", "Go": "Los"})
CORNER: Final = "style='position:fixed;left:0;top:0;width:99px;height:99px'"


def arm(altered: list[str]) -> ArmScripts:
    assert _SOURCE is not None
    return ArmScripts(sources={"labels": _SOURCE}, altered=altered.append)


async def press(client: Client, session: str = "") -> None:
    for kind in ("mousePressed", "mouseReleased"):
        await client.send(
            "Input.dispatchMouseEvent", session, type=kind, x=20, y=20, button="left", clickCount=1
        )


async def test_a_click_is_named_as_the_site_names_it_and_the_page_keeps_its_new_name(
    tmp_path: Path,
) -> None:
    altered: list[str] = []
    async with open_endpoint(tmp_path, arm=arm(altered)) as endpoint:
        await endpoint.open(f"<button id=b {CORNER}>Buy</button>")
        assert altered == ["labels"]
        async with endpoint.page() as client:
            await press(client)
            (clicked,) = (await endpoint.settled()).acted
            assert (clicked.name, clicked.text, clicked.trusted) == ("Buy", "Buy", True)
            assert await client.evaluate("b.textContent") == "Kaufen"
            look = await endpoint.session.look_own(PageLook(selector="button"))
            assert look.values == ("Buy",)
            fresh = await endpoint.session.look_fresh(
                "http://site.test/", PageLook(selector="button")
            )
            assert fresh is not None
            assert fresh.values == ("Buy",)
            assert await client.evaluate("b.textContent") == "Kaufen"


async def test_clicks_by_script_of_which_nothing_came_are_not_borne_out_by_the_arm(
    tmp_path: Path,
) -> None:
    async with open_endpoint(tmp_path, arm=arm([])) as endpoint:
        await endpoint.open("<button id=b>Buy</button><button id=c>Go</button>")
        async with endpoint.page() as client:
            await client.evaluate("b.click(); c.click(); b.click()")
            seen = (await endpoint.settled()).acted
    assert [(one.name, one.trusted, one.confirmed) for one in seen] == [
        ("Buy", False, False),
        ("Go", False, False),
        ("Buy", False, False),
    ]


async def test_a_pop_up_has_the_labels_too(tmp_path: Path) -> None:
    altered: list[str] = []
    async with open_endpoint(tmp_path, arm=arm(altered)) as endpoint:
        endpoint.site.page(f"<button {CORNER}>Go</button>", "/up")
        await endpoint.open(f"<button {CORNER} onclick=\"window.open('/up')\">Buy</button>")
        async with endpoint.client() as client:
            await client.send(
                "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True
            )
            opener = (await client.event("Target.attachedToTarget"))["params"]["sessionId"]
            await press(client, opener)
            opened = (await client.event("Target.attachedToTarget"))["params"]["sessionId"]
            await client.until("document.querySelector('button')?.textContent", "Los", opened)
            await press(client, opened)
            seen = await until_named(endpoint, "Go")
    assert [one.name for one in seen if one.event is ElementEvent.CLICK] == ["Buy", "Go"]
    assert altered == ["labels", "labels"]


async def until_named(endpoint: Endpoint, name: str) -> list[ActedElement]:
    seen: list[ActedElement] = []
    async with asyncio.timeout(60):
        while name not in {one.name for one in seen}:
            seen += (await endpoint.settled()).acted
    return seen
