"""The headless shell and the full browser show and report the same."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from browser.session.conftest import Drive, Site
from browser.session.test_boxes import PLACED
from browser.session.test_names import _PAGE as NAMED

from arena_core.actions import Click, Press, Select, Type
from orchestrator.browser.observations.forms import OBSERVATIONS, load_form
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session.context import SessionOptions

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not shutil.which("chromium-headless-shell"), reason="no headless shell"),
]
FORM = """<title>Order</title><form action=/done><label>Name <input name=n></label>
<label>Size <select name=s><option>Small<option>Large</select></label>
<label><input type=checkbox name=c> Gift</label><label>Day <input type=date name=d></label>
<button>Order</button></form>"""
# Rows of words: where letters are as wide, lines break at the same places.
ROWS = "<table width=400>" + "".join(
    f"<tr><td><a href=/{n}>Kettle number {n}</a><td>It whistles at {n}° and pours well"
    for n in range(60)
)
OF_PIXELS = {"screenshot", "som"}


async def test_every_form_of_observation_and_every_report_is_the_same(outer_site: Site) -> None:
    shell = await told_by(BrowserOptions(isolated=False), outer_site)
    full = await told_by(BrowserOptions(isolated=False, full=True), outer_site)
    assert (shell.pop("is shell"), full.pop("is shell")) == (True, False)
    for what, told in full.items():
        assert shell[what] == told, what


async def told_by(options: BrowserOptions, site: Site) -> dict[str, Any]:
    names = [one for one in OBSERVATIONS.names() if one not in OF_PIXELS]
    forms = {name: load_form(name) for name in names}
    told: dict[str, Any] = {}
    async with launch(options) as browser:
        told["is shell"] = "shell" in browser.version
        for what, page in {"placed": PLACED, "named": NAMED, "rows": ROWS}.items():
            async with browser.session(SessionOptions(proxy_url=None)) as session:
                drive = Drive(session, site)
                await drive.open(page)
                seen = await session.observe(0, None, forms)
                told |= {f"{what}: {name}": part for name, part in seen.parts.items()}
        async with browser.session(SessionOptions(proxy_url=None)) as session:
            told["done"] = await done_in(Drive(session, site))
    return told


async def done_in(drive: Drive) -> list[Any]:
    """Fill in a form and send it; returns what was reported, and what the pages looked like."""
    drive.site.page("<title>Done</title><h1>Thanks</h1>", "/done")
    await drive.open(FORM)
    done: list[Any] = []
    for action in (
        Type(element=drive.id("textbox", "Name"), text="Ada"),
        Select(element=drive.id("combobox", "Size"), option="Large"),
        Click(element=drive.id("checkbox", "Gift")),
        Type(element=drive.id("Date", "Day"), text="2026-11-22"),
        Press(keys="Tab"),
        Click(element=drive.id("button", "Order")),
    ):
        done += [await drive.do(action), drive.seen.text, drive.drain()]
    assert drive.seen.title == "Done", drive.seen
    return done
