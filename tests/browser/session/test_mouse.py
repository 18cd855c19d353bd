"""The mouse by coordinates and on elements: buttons, counts, held keys, drags, the wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from arena_core.actions import (
    Button,
    Click,
    Drag,
    FocusTab,
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
    # The page hears of it with its next frame.
    await drive.session._bar.current.page.wait_for_function("document.title === '100 30'")


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


async def test_a_point_outside_the_viewport_is_refused_with_its_size(drive: Drive) -> None:
    await drive.open(LOG)
    said = "is outside the viewport: 1280 pixels wide and 720 high"
    for action in (
        MouseMove(x=1280, y=10),
        MouseClick(x=10, y=720),
        MouseWheel(x=99_999, y=0, dy=10),
        MouseDown(x=2000, y=10),
        MouseDrag(path=(Point(x=1, y=1), Point(x=1, y=5000))),
    ):
        assert said in (await drive.do(action) or "")
    assert await drive.do(MouseUp()) == "the left button is not held"


async def test_a_button_that_is_held_clicks_nothing_else(drive: Drive) -> None:
    await drive.open("<button>b</button>")
    assert await drive.do(MouseDown(x=400, y=300)) is None
    held = "the left button is held: let go of it first (mouse_up)"
    assert await drive.do(Click(element=drive.id("button", "b"))) == held
    assert await drive.do(MouseDown()) == held
    assert await drive.do(MouseUp(x=400, y=300)) is None
    assert await drive.do(Click(element=drive.id("button", "b"))) is None


async def test_coordinates_reach_into_frames_and_closed_shadow_roots(drive: Drive) -> None:
    drive.site.page("<body style='margin:0'><button style='width:90px'>in</button>", "/frame")
    await drive.open("""<style>
        body { margin: 0 } iframe { border: 0; position: absolute; top: 50px }
        </style><div id=h></div><iframe src=/frame></iframe><script>
        h.attachShadow({mode: "closed"}).innerHTML = "<button style='width:90px'>shadow</button>";
        </script>""")
    assert await drive.do(MouseClick(x=20, y=60)) is None
    assert await drive.do(MouseClick(x=20, y=8)) is None
    acted = [(a.event, a.path) for a in drive.drain().acted]
    assert acted == [("click", "html > body > button"), ("click", "#h")]


async def test_what_lies_above_takes_a_click_by_coordinates_and_keys_are_let_go(
    drive: Drive,
) -> None:
    await drive.open("""<button>under</button><div role=button aria-label=cover
        style="position: fixed; inset: 0"></div><script>
        const swallow = (e) => { e.preventDefault(); e.stopImmediatePropagation(); };
        for (const type of ["mousedown", "mouseup", "click", "keydown", "keyup"])
          addEventListener(type, swallow, true);
        </script>""")
    assert await drive.do(MouseClick(x=20, y=15, modifiers=("Shift",))) is None
    assert [a.name for a in drive.drain().acted] == ["cover"]
    under = drive.id("button", "under")
    error = await drive.do(Drag(element=under, to=drive.id("button", "cover")))
    assert error == f'element [{under}] is covered by button "cover"'


async def test_what_has_no_size_is_neither_clicked_nor_dragged(drive: Drive) -> None:
    await drive.open("""<button style="width:0;height:0;padding:0;border:0;overflow:hidden">
        none</button><button>one</button>""")
    none, one = drive.id("button", "none"), drive.id("button", "one")
    for action in (
        Click(element=none, count=2),
        Drag(element=none, to=one),
        Drag(element=one, to=none),
    ):
        assert await drive.do(action) == f"element [{none}] is not visible"


async def test_a_click_that_leaves_a_page_which_asks_first_leaves_it(drive: Drive) -> None:
    drive.site.page("<h1>next", "/next")
    await drive.open("""<body style="margin: 0"><a href=/next style="display: block">go</a>
        <script>onbeforeunload = (e) => { e.preventDefault(); e.returnValue = "stay"; }</script>""")
    assert await drive.do(MouseClick(x=10, y=8)) is None
    assert drive.session.url.endswith("/next")
    assert drive.shows("heading", "next")


@pytest.mark.parametrize("by_element", [False, True])
async def test_a_double_click_that_leaves_a_page_which_asks_first_leaves_it(
    drive: Drive,
    by_element: bool,  # noqa: FBT001  a case
) -> None:
    """The second click would make it ask again, and nobody could answer that."""
    drive.site.page("<h1>next", "/next")
    for _ in range(3):
        await drive.open("""<body style="margin: 0"><a href=/next style="display: block">go</a>
            <script>onbeforeunload = (e) => { e.preventDefault(); e.returnValue = "" }</script>""")
        twice = MouseClick(x=10, y=8, count=2)
        action = Click(element=drive.id("link", "go"), count=2) if by_element else twice
        assert await drive.do(action) is None
        assert drive.session.url.endswith("/next")
        assert drive.settled
        assert drive.shows("heading", "next")


async def test_a_drag_goes_from_one_frame_into_another(drive: Drive) -> None:
    drive.site.page("<body style='margin:0'><b draggable=true>source</b>", "/from")
    drive.site.page(
        "<body style='margin:0; height:80px' ondragover='event.preventDefault()' "
        "ondrop='document.body.textContent = \"dropped\"'>",
        "/to",
    )
    await drive.open("""<style>body { margin: 0 } iframe { border: 0; width: 200px; height: 90px }
        </style><iframe src=/from></iframe><iframe src=/to></iframe>""")
    assert await drive.do(MouseDrag(path=(Point(x=20, y=10), Point(x=300, y=40)))) is None
    assert "dropped" in drive.seen.text
    assert [a.event for a in drive.drain().acted] == ["drag", "drop"]


@pytest.mark.parametrize(
    "how", [{"modifiers": ("Control",)}, {"modifiers": ("Shift",)}, {"button": "middle"}]
)
async def test_a_link_that_is_opened_in_a_tab_of_its_own_is_watched_there(
    drive: Drive, how: dict[str, object]
) -> None:
    drive.site.page("<title>Next</title><button>there</button>", "/next")
    await drive.open("<a href=/next>go</a>")
    assert await drive.do(Click(element=drive.id("link", "go"), **how)) is None
    assert [(tab.url.rpartition("/")[2], tab.is_current) for tab in drive.seen.tabs] == [
        ("", True),
        ("next", False),
    ]
    assert any(visit.url.endswith("/next") for visit in drive.drain().visits)
    await drive.do(FocusTab(index=1))
    assert await drive.do(Click(element=drive.id("button", "there"))) is None
    assert [a.name for a in drive.drain().acted] == ["there"]
