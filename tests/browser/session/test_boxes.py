"""Boxes and marks are where the browser draws the elements, however the page places them."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from orchestrator.browser.observation import (
    BOXES,
    IN_VIEWPORT,
    SCREENSHOT,
    SOM,
    Box,
    MarkedPicture,
    Observation,
    Picture,
)
from orchestrator.browser.observations.forms import ObservedPage, load_form

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

STYLE = (
    "<style>body{margin:0;height:3000px}button{width:90px;height:20px;padding:0;border:0}</style>"
)
PLACED = f"""<!doctype html>{STYLE}
<button aria-label=plain style="position:absolute;left:10px;top:60px"></button>
<button aria-label=fixed style="position:fixed;left:300px;top:50px"></button>
<div style="transform:translate(100px,100px) scale(2);position:absolute;left:0;top:100px">
  <button aria-label=turned></button></div>
<div id=list style="position:absolute;left:400px;top:200px;width:150px;height:100px;overflow:auto">
  <button aria-label="scrolled away"></button><div style="height:300px"></div>
  <button aria-label=scrolled></button></div>
<div style="zoom:2;position:absolute;left:5px;top:200px"><button aria-label=zoomed></button></div>
<iframe title=framed style="position:absolute;left:200px;top:400px;width:200px;height:150px;
  border:3px solid red;padding:7px 0 0 9px"
  srcdoc="{STYLE}<button aria-label=inner style='position:absolute;left:20px;top:300px'></button>
  <button aria-label=held style='position:fixed;left:20px;top:30px'></button>
  <button aria-label='cut off' style='position:absolute;left:20px;top:700px'></button>
  <script>scrollTo(0,250)</script>"></iframe>
<div style="position:sticky;top:0;height:20px"><button aria-label=sticky></button></div>
<div style="position:absolute;left:0;top:500px;width:150px;height:50px;background:white;z-index:3">
  over it</div>
<button aria-label=covered style="position:absolute;left:10px;top:510px"></button>
<button aria-label=beside style="position:absolute;left:110px;top:560px"></button>
<div style="position:absolute;left:100px;top:550px;width:200px;height:50px;z-index:3;
  pointer-events:none"></div>
<div style="width:0;height:0;position:absolute;left:600px;top:70px">
  <button aria-label=spilling></button></div>
<div style="width:0;height:0;overflow:hidden;position:absolute;left:600px;top:100px">
  <button aria-label=swallowed></button></div>
<div style="overflow:hidden;width:10px;height:10px">
  <button aria-label=escaped style="position:absolute;left:700px;top:200px"></button></div>
<button aria-label=below style="position:absolute;left:10px;top:2000px"></button>
<div id=listens style="position:absolute;left:600px;top:600px;width:60px">Menu</div>
<script>
document.getElementById("listens").addEventListener("click", () => 1);
document.getElementById("list").scrollTop = 250; scrollTo(0, 37);
Object.defineProperty(window, "devicePixelRatio", {{get: () => 3}});
</script>"""
UNSEEN = {"covered", "scrolled away", "swallowed", "cut off", "below"}
RECTS = """JSON.stringify((() => {
  const found = {};
  const read = (document, x, y) => {
    for (const one of document.querySelectorAll("button")) {
      const box = one.getBoundingClientRect();
      found[one.ariaLabel] = [box.x + x, box.y + y, box.width, box.height];
    }
  };
  read(document, 0, 0);
  const frame = document.querySelector("iframe"), box = frame.getBoundingClientRect();
  read(frame.contentDocument, box.x + 3 + 9, box.y + 3 + 7);
  return found;
})())"""


class Rects:
    """What the page itself says of its buttons: a look of the tests, which is no observation."""

    async def observe(self, page: ObservedPage) -> dict[str, Any]:
        reply = await page.call("Runtime.evaluate", {"expression": RECTS})
        found: dict[str, Any] = json.loads(reply["result"]["value"])
        return found


async def look(drive: Drive, *names: str) -> Observation:
    forms = {name: load_form(name) for name in names}
    return await drive.session.observe(0, None, {**forms, "rects": Rects()})


async def boxes_of(drive: Drive) -> tuple[dict[str, Box], Observation]:
    await drive.open(PLACED)
    seen = await look(drive, "axtree", BOXES)
    boxes = seen.parts[BOXES]
    assert isinstance(boxes, dict)
    return {n.name: boxes[n.id] for n in seen.nodes if n.role == "button"}, seen


async def test_boxes_are_where_the_browser_draws_the_elements(drive: Drive) -> None:
    boxes, seen = await boxes_of(drive)
    rects = seen.parts["rects"]
    assert isinstance(rects, dict)
    assert set(boxes) == set(rects) >= UNSEEN | {"fixed", "inner", "held", "sticky", "zoomed"}
    for name, box in boxes.items():
        assert (box.x, box.y, box.width, box.height) == pytest.approx(rects[name], abs=0.02), name


async def test_visible_is_what_lies_in_the_viewport_and_under_nothing(drive: Drive) -> None:
    boxes, _ = await boxes_of(drive)
    assert {name for name, box in boxes.items() if not box.visible} == UNSEEN


async def test_forms_of_the_viewport_leave_out_what_it_does_not_show(drive: Drive) -> None:
    await drive.open(PLACED)
    seen = await look(drive, "axtree@viewport", BOXES + IN_VIEWPORT)
    assert {n.name for n in seen.nodes if n.role == "button"}.isdisjoint(UNSEEN - {"covered"})
    assert {n.name for n in seen.nodes} >= {"covered", "inner", "Menu", "framed"}
    boxes = seen.parts[BOXES + IN_VIEWPORT]
    assert isinstance(boxes, dict)
    assert {n.id for n in seen.nodes if n.role == "button"} <= set(boxes)


async def test_marks_are_what_can_be_acted_on_and_seen_and_nothing_enters_the_page(
    drive: Drive,
) -> None:
    await drive.open(PLACED)
    before = await drive.text("body")
    tree = drive.seen
    seen = await look(drive, SOM, SCREENSHOT, BOXES)
    marked, plain, boxes = seen.parts[SOM], seen.parts[SCREENSHOT], seen.parts[BOXES]
    assert isinstance(marked, MarkedPicture)
    assert isinstance(plain, Picture)
    assert isinstance(boxes, dict)
    names = {mark.name: mark for mark in marked.marks}
    assert set(names) == {n.name for n in tree.nodes if n.role == "button"} - UNSEEN | {
        "Menu",
        "framed",
    }
    assert (names["fixed"].role, names["Menu"].role) == ("button", "generic")
    assert all(mark.box == boxes[mark.id] for mark in marked.marks)
    assert names["fixed"].id == next(n.id for n in tree.nodes if n.name == "fixed")
    assert (
        (plain.width, plain.height) == (marked.picture.width, marked.picture.height) == (1280, 720)
    )
    with Image.open(BytesIO(plain.data)) as one, Image.open(BytesIO(marked.picture.data)) as two:
        assert one.size == two.size == (1280, 720)
        assert one.convert("RGB").tobytes() != two.tobytes()
    assert await drive.text("body") == before


async def test_a_picture_is_of_one_pixel_for_each_css_pixel_whatever_the_page_claims(
    drive: Drive,
) -> None:
    await drive.open(
        "<body style='margin:0;zoom:2'><div style='width:50px;height:30px;background:#f00'>"
    )
    names = (SCREENSHOT, SCREENSHOT + IN_VIEWPORT)
    seen = await drive.session.observe(0, None, {name: load_form(name) for name in names})
    picture = seen.parts[SCREENSHOT]
    assert isinstance(picture, Picture)
    assert seen.parts[SCREENSHOT + IN_VIEWPORT] is picture
    with Image.open(BytesIO(picture.data)) as image:
        drawn = image.convert("RGB")
    assert drawn.size == (picture.width, picture.height) == (1280, 720)
    assert (drawn.getpixel((99, 59)), drawn.getpixel((101, 61))) == ((255, 0, 0), (255, 255, 255))
