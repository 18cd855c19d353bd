"""The mouse by coordinates and on elements: buttons, counts, held keys, drags, the wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from arena_core.actions import (
    Button,
    Click,
    Drag,
    KeyDown,
    KeyUp,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    Point,
)

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

# Every mouse event as a line: type, button, buttons, detail, modifiers, trusted, place.
LOG = """<style>body { margin: 0 } #out { position: fixed; top: 400px; white-space: pre }</style>
<script>
const types = ["mousemove", "mousedown", "mouseup", "click", "dblclick", "auxclick", "contextmenu"];
const said = [];
for (const type of types) addEventListener(type, (e) => {
  if (type === "contextmenu") e.preventDefault();
  const held = ["alt", "ctrl", "meta", "shift"].filter((key) => e[key + "Key"]).join("+");
  const where = [e.isTrusted, e.clientX, e.clientY];
  said.push([e.type, e.button, e.buttons, e.detail, held || "free", ...where].join(" "));
  out.textContent = said.join(";");
}, true);
</script><p id=out></p>"""
FIRST = {"left": 0, "middle": 1, "right": 2}
BIT = {"left": 1, "middle": 4, "right": 2}


async def _log(drive: Drive, *, at: str = "") -> list[str]:
    """Return the events, at one place alone where a window that opens makes its own."""
    return [line for line in (await drive.text("#out")).split(";") if line.endswith(at)]


@pytest.mark.parametrize("button", get_args(Button))
async def test_a_click_by_coordinates_is_a_trusted_press_of_that_button_there(
    drive: Drive, button: Button
) -> None:
    await drive.open(LOG)
    assert await drive.do(MouseClick(x=30, y=40, button=button)) is None
    first, bit = FIRST[button], BIT[button]
    assert await _log(drive, at="30 40") == [
        "mousemove 0 0 0 free true 30 40",
        f"mousedown {first} {bit} 1 free true 30 40",
        *(["contextmenu 2 2 0 free true 30 40"] if button == "right" else []),
        f"mouseup {first} 0 1 free true 30 40",
        f"{'click' if button == 'left' else 'auxclick'} {first} 0 1 free true 30 40",
    ]


async def test_a_triple_click_counts_to_three(drive: Drive) -> None:
    await drive.open("<p>one two three</p>" + LOG)
    assert await drive.do(MouseClick(x=20, y=20, count=3)) is None
    lines = await _log(drive)
    assert [line.split()[3] for line in lines if line.startswith("click")] == ["1", "2", "3"]
    assert sum(line.startswith("dblclick") for line in lines) == 1


async def test_held_keys_are_held_for_the_click_alone(drive: Drive) -> None:
    await drive.open(LOG)
    await drive.do(MouseClick(x=30, y=40, modifiers=("Shift", "Control", "Shift")))
    await drive.do(MouseClick(x=31, y=40))
    clicks = [line for line in await _log(drive) if line.startswith("click")]
    assert [line.split()[4] for line in clicks] == ["ctrl+shift", "free"]


async def test_a_key_that_is_held_before_a_click_is_held_after_it(drive: Drive) -> None:
    await drive.open(LOG)
    assert await drive.do(KeyDown(key="Shift")) is None
    await drive.do(MouseClick(x=30, y=40, modifiers=("Shift",)))
    await drive.do(MouseClick(x=31, y=40))
    assert await drive.do(KeyUp(key="Shift")) is None
    await drive.do(MouseClick(x=32, y=40))
    clicks = [line.split()[4] for line in await _log(drive) if line.startswith("click")]
    assert clicks == ["shift", "shift", "free"]


async def test_an_element_is_clicked_twice_and_by_the_right_button(drive: Drive) -> None:
    await drive.open("""<button ondblclick="this.textContent='twice'"
        oncontextmenu="this.textContent='menu'">b</button>""")
    assert await drive.do(Click(element=drive.id("button", "b"), count=2)) is None
    assert drive.shows("button", "twice")
    assert await drive.do(Click(element=drive.id("button", "twice"), button="right")) is None
    assert drive.shows("button", "menu")


async def test_the_wheel_scrolls_what_lies_under_it(drive: Drive) -> None:
    await drive.open("""<body style="margin: 0">
        <div id=box style="width:200px;height:200px;overflow:auto"
          onscroll="document.title=this.scrollTop+' '+this.scrollLeft">
          <div style='height:900px;width:900px'>x</div></div>""")
    assert await drive.do(MouseWheel(x=50, y=50, dx=30, dy=100)) is None
    assert await drive.session.title() == "100 30"


AREAS = """<style>body { margin: 0 }
    div { width: 100px; height: 60px; position: absolute; top: 0 } #b { left: 300px }</style>
    <div id=a role=button aria-label=source></div><div id=b role=group aria-label=target></div>"""
BROWSER_DRAG = """<script>
    a.draggable = true;
    a.ondragstart = (e) => e.dataTransfer.setData("text/plain", "carried");
    b.ondragover = (e) => e.preventDefault();
    b.ondrop = (e) => { document.title = e.dataTransfer.getData("text/plain"); };
    </script>"""
PAGE_DRAG = """<script>
    let from = null;
    onmousedown = (e) => { if (e.target === a) from = e; };
    onmousemove = (e) => { if (from && e.buttons === 1) a.style.left = e.clientX - 50 + "px"; };
    onmouseup = (e) => { if (from && e.clientX > 300) document.title = "carried"; from = null; };
    </script>"""


@pytest.mark.parametrize("page", [BROWSER_DRAG, PAGE_DRAG], ids=["browser's", "page's"])
async def test_what_is_dragged_by_the_browser_or_by_the_page_is_reported_at_both_ends(
    drive: Drive, page: str
) -> None:
    await drive.open(AREAS + page)
    assert await drive.do(Drag(element=drive.id("button"), to=drive.id("group"))) is None
    assert await drive.session.title() == "carried"
    acted = [(a.event, a.name) for a in drive.drain().acted]
    assert acted[:2] == [("drag", "source"), ("drop", "target")]


@pytest.mark.parametrize("page", [BROWSER_DRAG, PAGE_DRAG], ids=["browser's", "page's"])
async def test_a_drag_by_coordinates_is_one_action_or_several(drive: Drive, page: str) -> None:
    await drive.open(AREAS + page)
    assert await drive.do(MouseDrag(path=(Point(x=50, y=30), Point(x=350, y=30)))) is None
    assert await drive.session.title() == "carried"
    await drive.open(AREAS + page)
    for action in (MouseDown(x=50, y=30), MouseMove(x=70, y=30), MouseMove(x=350, y=30)):
        assert await drive.do(action) is None
        assert await drive.session.title() == ""
    assert await drive.do(MouseUp()) is None
    assert await drive.session.title() == "carried"
