"""Focus, text that is added, keys that are held, several options, scrollers, waiting, uploads."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from arena_core.actions import (
    Clear,
    Click,
    Focus,
    Infeasible,
    KeyDown,
    KeyUp,
    Press,
    Scroll,
    ScrollDirection,
    Select,
    Type,
    Upload,
    Wait,
    Write,
)
from evaluators.episode_view import PageLook

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize(
    "field",
    [
        "<input aria-label=x value='one two'>",
        "<input type=search aria-label=x value='one two'>",
        "<textarea aria-label=x>one two</textarea>",
    ],
)
async def test_text_is_added_at_the_end_of_a_field(drive: Drive, field: str) -> None:
    await drive.open(field)
    element = drive.id("searchbox" if "search" in field else "textbox", "x")
    assert await drive.do(Type(element=element, text=" three", clear=False)) is None
    assert await drive.session.read_own("input, textarea", "value") == ("one two three",)
    assert drive.drain().acted[-1].value == "one two three"


@pytest.mark.parametrize(
    ("field", "role", "text", "whole"),
    [
        ("<input type=email aria-label=x value=a@b>", "textbox", ".org", "a@b.org"),
        ("<input type=number aria-label=x value=12>", "spinbutton", "34", "1234"),
    ],
)
async def test_text_is_added_to_fields_that_tell_nobody_of_their_caret(
    drive: Drive, field: str, role: str, text: str, whole: str
) -> None:
    await drive.open(field)
    assert await drive.do(Type(element=drive.id(role, "x"), text=text, clear=False)) is None
    assert await drive.session.read_own("input", "value") == (whole,)


async def test_text_is_added_at_the_end_of_an_editable_element(drive: Drive) -> None:
    await drive.open("<div contenteditable role=textbox aria-label=x>old <b>words</b></div>")
    assert await drive.do(Type(element=drive.id("textbox", "x"), text="!", clear=False)) is None
    assert await drive.text("div") == "old words!"


async def test_a_field_is_cleared_and_says_so(drive: Drive) -> None:
    await drive.open("<input aria-label=x value=text>")
    assert await drive.do(Clear(element=drive.id("textbox", "x"))) is None
    assert await drive.session.read_own("input", "value") == ("",)
    assert [(a.event, a.value) for a in drive.drain().acted][-1] == ("input", "")


async def test_what_has_the_focus_is_written_into_by_keys(drive: Drive) -> None:
    await drive.open("""<input aria-label=x oninput='out.textContent += "i"'
        onkeydown='out.textContent += "k"'><p id=out></p><button disabled>b</button>""")
    assert await drive.do(Focus(element=drive.id("textbox", "x"))) is None
    assert drive.drain().acted == ()
    assert await drive.do(Write(text="a é")) is None
    assert await drive.session.read_own("input", "value") == ("a é",)
    assert await drive.text("#out") == "kikii"
    button = drive.id("button", "b")
    assert await drive.do(Focus(element=button)) == f"element [{button}] is disabled"


async def test_what_takes_no_focus_says_so(drive: Drive) -> None:
    await drive.open("<h1>title</h1>")
    heading = drive.id("heading", "title")
    error = await drive.do(Focus(element=heading))
    assert error == f"element [{heading}] is a heading: it does not take this action"


async def test_a_held_key_changes_what_others_do_until_it_is_let_go(drive: Drive) -> None:
    await drive.open("<input aria-label=x autofocus value=abc>")
    assert await drive.do(Focus(element=drive.id("textbox", "x"))) is None
    assert await drive.do(KeyDown(key="ctrl")) is None
    await drive.do(Press(keys="a"))
    assert await drive.do(KeyUp(key="Control")) is None
    await drive.do(Write(text="z"))
    assert await drive.session.read_own("input", "value") == ("z",)
    assert await drive.do(KeyUp(key="Control")) == "the key 'Control' is not held; held are: none"
    assert "no key 'Control+A'" in (await drive.do(KeyDown(key="Control+A")) or "")


LIST = """<select multiple aria-label=l onchange="out.textContent += '.'">
    <option selected>A<option>B<option>C<option>D</select><p id=out></p>"""


async def test_several_options_are_chosen_and_no_others(drive: Drive) -> None:
    await drive.open(LIST)
    assert await drive.do(Select(element=drive.id("listbox", "l"), option=("D", "B"))) is None
    assert ("change", "B, D") in [(a.event, a.value) for a in drive.drain().acted]
    assert await drive.text("#out") == ".."


async def test_several_options_are_chosen_on_a_page_that_keeps_clicks_for_itself(
    drive: Drive,
) -> None:
    await drive.open(LIST + "<script>onmousedown = (e) => e.preventDefault()</script>")
    assert await drive.do(Select(element=drive.id("listbox", "l"), option=("D", "B"))) is None
    assert ("change", "B, D") in [(a.event, a.value) for a in drive.drain().acted]


async def test_a_select_of_one_option_takes_no_two(drive: Drive) -> None:
    await drive.open("<select aria-label=s><option>A<option>B</select>")
    choice = drive.id("combobox", "s")
    error = await drive.do(Select(element=choice, option=("A", "B")))
    assert error == f"element [{choice}] takes one option, not 2"
    assert await drive.do(Select(element=choice, option=("B",))) is None
    assert await drive.session.read_own("select", "value") == ("B",)


async def test_the_scroller_around_an_element_is_scrolled_each_way(drive: Drive) -> None:
    await drive.open("""<div id=box style="width:200px;height:100px;overflow:auto">
        <div style="width:900px;height:900px"><button>in</button></div></div>
        <p style="height:3000px">""")
    button = drive.id("button", "in")
    assert await drive.do(Scroll(direction=ScrollDirection.RIGHT, element=button)) is None
    assert await drive.do(Scroll(direction=ScrollDirection.DOWN, element=button)) is None
    place = PageLook(script="[box.scrollLeft, box.scrollTop].map(Math.round)")
    left, top = (await drive.session.look_own(place)).values
    assert int(left) > 100
    assert int(top) > 50
    assert await drive.do(Scroll(direction=ScrollDirection.LEFT, element=button)) is None
    error = await drive.do(Scroll(direction=ScrollDirection.LEFT, element=button))
    assert error == f"what is around element [{button}] does not scroll further left"


LATER = """<p id=out></p><script>(async () => {
    await fetch("/sending"); out.textContent = "Sending  order";
    await fetch("/sent"); out.textContent = "Sent"; })()</script>"""


async def test_waiting_ends_when_the_page_shows_a_text_and_when_it_shows_it_no_longer(
    drive: Drive,
) -> None:
    gates = {path: threading.Event() for path in ("/sending", "/sent")}
    for path, gate in gates.items():
        drive.site.page("", path, gate=gate)
    await drive.session.open([drive.site.page(LATER)])
    for wait, path, shown in (
        (Wait(text="Sending order", seconds=20), "/sending", "Sending order"),
        (Wait(gone="Sending", text="Sent", seconds=20), "/sent", "Sent"),
    ):
        waiting = asyncio.create_task(drive.session.act(wait))
        await asyncio.wait([waiting], timeout=0.3)
        assert not waiting.done()
        gates[path].set()
        assert await waiting is None
        assert await drive.text("#out") == shown


async def test_waiting_in_vain_ends_at_its_limit_and_says_what_is_missing(drive: Drive) -> None:
    await drive.open("<p>here</p><script>setInterval(() => { document.title += '.' }, 5)</script>")
    error = await drive.session.act(Wait(text="never", gone="here", seconds=0.3))
    assert error == 'after 0.3 s the page does not show "never" or still shows "here"'
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(20):
        assert await drive.session.act(Wait(seconds=0.2)) is None
    assert asyncio.get_running_loop().time() - began >= 0.2


@pytest.mark.parametrize(
    "change",
    [
        "f.contentDocument.body.textContent = 'Ready'",
        "h.shadowRoot.firstChild.textContent = 'Ready'",
        "location = '/ready'",
        "f.src = '/ready'",
        "p.style.display = 'block'",
    ],
)
async def test_a_wait_sees_frames_shadow_roots_styles_and_the_next_page(
    drive: Drive, change: str
) -> None:
    drive.site.page("<p>Ready</p>", "/ready")
    drive.site.page("<p>frame</p>", "/frame")
    await drive.open(f"""<iframe id=f src=/frame></iframe><div id=h></div>
        <p id=p style="display: none">Ready</p>
        <script>h.attachShadow({{mode: "open"}}).innerHTML = "<b>shadow</b>";
        go = () => setTimeout(() => {{ {change} }}, 200)</script>
        <button onclick="go()">go</button>""")
    await drive.session.act(Focus(element=drive.id("button", "go")))
    await drive.session.act(Press(keys="Enter"))
    assert await drive.session.act(Wait(text="Ready", seconds=15)) is None


async def test_saying_that_a_task_cannot_be_done_does_nothing_to_the_page(drive: Drive) -> None:
    await drive.open("<p>here")
    assert await drive.do(Infeasible(reason="no such product")) is None
    assert drive.drain().acted == ()


UPLOAD = """<form><label>Photo <input type=file id=f name=f onchange="read()"></label>
    <button type=button onclick="g.click()">Attach</button>
    <input type=file id=g multiple hidden onchange="read()">
    <button type=button>Nothing</button></form><p id=out></p><script>
    const read = async () => {
      const all = [...f.files, ...g.files].map(async (one) => one.name + "=" + await one.text());
      out.textContent = (await Promise.all(all)).join(" ");
    };</script>"""


async def test_the_files_of_the_task_are_uploaded_and_no_others(drive: Drive) -> None:
    await drive.open(UPLOAD)
    field = next(n.id for n in drive.seen.nodes if "Photo" in n.name and n.role == "button")
    assert await drive.do(Upload(element=field, files=("a.txt",))) is None
    assert await drive.text("#out") == "a.txt=alpha"
    acted = drive.drain().acted
    assert [(a.event, a.value) for a in acted] == [("input", "a.txt"), ("change", "a.txt")]
    for name in ("../a.txt", "/etc/passwd", "c.txt", ""):
        error = await drive.do(Upload(element=field, files=(name,)))
        assert error == f"the task provides no file '{name}'; it provides: 'a.txt', 'b.txt'"
    error = await drive.do(Upload(element=field, files=("a.txt", "b.txt")))
    assert error == f"element [{field}] takes one file, not 2"


async def test_files_are_uploaded_at_a_button_that_asks_for_some(drive: Drive) -> None:
    await drive.open(UPLOAD)
    attach, nothing = drive.id("button", "Attach"), drive.id("button", "Nothing")
    assert await drive.do(Upload(element=attach, files=("a.txt", "b.txt"))) is None
    assert await drive.text("#out") == "a.txt=alpha b.txt=beta"
    error = await drive.do(Upload(element=nothing, files=("a.txt",)))
    assert error == f"element [{nothing}] asks for no file: it is a button"


async def test_a_click_on_a_file_field_opens_no_chooser_and_says_so(drive: Drive) -> None:
    await drive.open(UPLOAD)
    assert await drive.do(Click(element=drive.id("button", "Attach"))) is None
    assert "(dialog: file chooser (not opened: use upload))" in drive.seen.text
    assert drive.settled
