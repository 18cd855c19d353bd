from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click
from orchestrator.browser.observation import UNNAMED

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGE = """
<title>Icons</title>
<style>
  .icon { display: inline-block; width: 20px; height: 10px }
  .off { display: none } .blind { visibility: hidden }
</style>
<p>Ann</p><span class="icon star" id="a" onclick="document.title = 'Ann'"></span>
<p>Bea</p><span class="icon star" onclick="document.title = 'Bea'"
  style="background: rgb(255, 0, 0)"></span>
<span class="icon off" onclick="1"></span><span class="icon blind" onclick="1"></span>
<span class="icon" title="not clickable"></span>
<button onclick="1">Save</button>
<svg width="60" height="60" style="position: absolute; left: 100px; top: 200px">
  <polygon points="0,20 10,0 20,20" fill="blue" /><circle cx="40" cy="40" r="5" fill="none" />
</svg>
"""


async def test_what_has_no_name_stands_where_it_is_with_its_look(keen_drive: Drive) -> None:
    shown = keen_drive
    await shown.open(PAGE)
    nodes = [(node.role, node.name) for node in shown.seen.nodes if node.role != "paragraph"]
    assert nodes == [
        (UNNAMED, "span#a.icon.star"),
        (UNNAMED, "span.icon.star"),
        ("button", "Save"),
        (UNNAMED, "polygon of 3 corners"),
        (UNNAMED, "circle"),
    ]
    order = [node.name for node in shown.seen.nodes]
    assert order.index("span#a.icon.star") < order.index("Bea") < order.index("span.icon.star")
    looks = [node.value or "" for node in shown.seen.nodes if node.role == UNNAMED]
    assert looks[0].startswith("20x10 at ")
    assert looks[1].endswith(" rgb(255,0,0)")
    assert looks[2] == "20x20 at 100,200 rgb(0,0,255)"
    assert looks[3] == "10x10 at 135,235"


async def test_patches_of_colour_and_icons_that_nobody_can_click_are_shown(
    keen_drive: Drive,
) -> None:
    await keen_drive.open("""
        <style>span { display: inline-block; width: 10px; height: 10px }</style>
        <p style="background: yellow">text <b>in it</b> <span class=block style="background: red">
        </span><span class=icon style="background-image: linear-gradient(red, blue)"></span>
        <span class=nothing></span></p>""")
    assert [node.name for node in keen_drive.seen.nodes if node.role == UNNAMED] == [
        "span.block",
        "span.icon",
    ]


async def test_an_unnamed_element_can_be_clicked_and_keeps_its_id(keen_drive: Drive) -> None:
    shown = keen_drive
    await shown.open(PAGE)
    second = shown.id(UNNAMED, "span.icon.star")
    assert await shown.do(Click(element=second)) is None
    assert shown.seen.title == "Bea"
    assert shown.id(UNNAMED, "span.icon.star") == second


async def test_other_sessions_show_none_of_it(drive: Drive) -> None:
    await drive.open(PAGE)
    assert not drive.shows(UNNAMED)
