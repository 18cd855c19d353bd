"""What a person does in a real browser, and what a page may do beside it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from playwright.async_api import Page
from quick_cases import ONE_QUICK, SLOW
from support.recorder.scripted_person import ScriptedPerson
from support.recorder.small_site import person_at_pages

from arena_core.actions import Scroll, ScrollDirection
from orchestrator.authoring.recorder.capture import PersonCapture
from orchestrator.authoring.recorder.reading import said
from orchestrator.authoring.recorder.recording import Recording, open_recording
from orchestrator.browser.observation import Node
from orchestrator.browser.tabs.journal import NotedSoFar
from orchestrator.browser.tabs.watcher import KeyReport

pytestmark = [pytest.mark.browser]


def at(tmp_path: Path, pages: dict[str, str]) -> AbstractAsyncContextManager[ScriptedPerson]:
    return person_at_pages(pages, tmp_path / "recording")


def done(recording: Recording) -> list[str]:
    """What a reference would do, in words."""
    return [
        said(one.action) if one.action is not None else f"no: {one.why_not}"
        for step in recording.steps
        for one in step.actions
    ]


async def test_two_elements_of_one_name_are_told_apart(tmp_path: Path) -> None:
    rows = "".join(f"<li>{n} <button onclick='this.after({n})'>Add</button>" for n in "123")
    async with at(tmp_path, {"/": f"<ul>{rows}</ul>"}) as person:
        await person.click("button", "Add", nth=1)
        await person.click("button", "Add")
    assert done(person.capture.recording) == [
        "click button “Add” (number 2 of that name)",
        "click button “Add”",
    ]


async def test_a_form_is_filled_as_a_person_says_it(tmp_path: Path) -> None:
    form = """<form action=/sent><label>Title <input name=t></label>
      <label><input type=checkbox name=c> Urgent</label>
      <label>Colour <select name=s><option>Red<option>Blue</select></label>
      <button>Send</button></form>"""
    async with at(tmp_path, {"/": form}) as person:
        await person.type("textbox", "Title", "Leeks")
        await person.type("textbox", "Title", "Leeks are leaning")
        await person.click("checkbox", "Urgent")
        await person.select("combobox", "Colour", "Blue")
        await person.click("button", "Send")
    recording = person.capture.recording
    assert done(recording) == [
        "type “Leeks are leaning” into textbox “Title”",
        "click checkbox “Urgent”",
        "choose “Blue” in “Colour”",
        "click button “Send”",
    ]
    assert recording.steps[-1].evidence.logical == "wiki:/sent?t=Leeks+are+leaning&c=on&s=Blue"


async def test_a_menu_that_shows_under_the_mouse_is_hovered_first(tmp_path: Path) -> None:
    menu = """<style>li ul { display: none } li:hover ul { display: block }</style><ul>
      <li><a href=#s>Shop</a><ul><li><a href=/tea>Tea</a><li><a href=/tin>Tins</a></ul>
      <li><a href=#h>Help</a><ul><li><a href=/mail>Mail</a></ul></ul>"""
    async with at(tmp_path, {"/": menu}) as person:
        _, session = person.capture.episode.shared_browser()
        page = session._bar.current.page  # type: ignore[attr-defined]
        before = person.capture.recording
        await page.hover("text=Help")
        await page.hover("text=Shop")
        await page.click("text=Tins")
        async with asyncio.timeout(30):
            await person.capture.wait_for_step(before)
    assert done(person.capture.recording) == ["hover link “Shop”", "click link “Tins”"]


async def test_keys_that_do_something_are_written_down(tmp_path: Path) -> None:
    page = """<dialog id=d open>Sale!</dialog><input role=combobox aria-label=Town>
      <input aria-label=Note>
      <script>const [town] = document.querySelectorAll("input"); let at = -1;
      addEventListener("keydown", (e) => { if (e.key === "Escape") d.close();
        if (e.target === town && e.key === "ArrowDown") at++;
        if (e.target === town && e.key === "Enter") town.value = ["Tula", "Turin"][at]; });
      </script>"""
    async with at(tmp_path, {"/": page}) as person:
        _, session = person.capture.episode.shared_browser()
        keyboard = session._bar.current.page.keyboard  # type: ignore[attr-defined]
        await presses(person, keyboard.press("Escape"))
        await person.type("combobox", "Town", "Tu")
        for name in ("ArrowDown", "ArrowDown", "Enter"):
            await presses(person, keyboard.press(name))
        await keyboard.press("Tab")
        await keyboard.press("ArrowLeft")
        await presses(person, keyboard.type("x"))
    assert done(person.capture.recording) == [
        "press Escape",
        "type “Tu” into combobox “Town”",
        "press ArrowDown",
        "press ArrowDown",
        "press Enter",
        "press Tab",
        "type “x” into textbox “Note”",
    ]


async def test_text_that_was_written_down_half_way_is_one_text(tmp_path: Path) -> None:
    """A busy recorder hears of the second half together with the key after it."""
    async with at(tmp_path, {"/": "<input role=combobox aria-label=Town>"}) as person:
        keyboard = page_of(person).keyboard
        await page_of(person).focus("input")
        await presses(person, keyboard.type("T"))
        before = person.capture.recording
        await keyboard.type("u")
        await presses(person, keyboard.press("ArrowDown"), before)
    assert done(person.capture.recording) == [
        "type “Tu” into combobox “Town”",
        "press ArrowDown",
    ]


async def test_what_is_done_right_before_the_stop_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PersonCapture, "_on_notice", lambda _: None)  # word of it comes too late
    async with at(tmp_path, {"/": "<button>Buy</button>"}) as person:
        await page_of(person).click("button")
    assert done(person.capture.recording) == ["click button “Buy”"]


LIST = """<ul id=l></ul><script>let n = 0; const more = () => { for (let k = 0; k < 30; k++)
  l.insertAdjacentHTML("beforeend", `<li style="height:60px"><button>Take ${++n}</button>`); };
  more(); addEventListener("scroll", () => {
    if (n < 90 && scrollY + innerHeight > l.scrollHeight - 100) more(); });</script>"""


async def test_a_scroll_that_the_page_grows_by_is_written_down_and_can_be_played(
    tmp_path: Path,
) -> None:
    async with at(tmp_path, {"/": LIST}) as person:
        page = page_of(person)
        await page.mouse.wheel(0, 300)  # shows nothing that was not there before: no step
        await page.wait_for_function("scrollY === 300")
        await presses(person, page.mouse.wheel(0, 1500))
        await person.click("button", "Take 31")
    first, *others, last = done(person.capture.recording)
    assert first == "scroll down"
    assert set(others) <= {"scroll down"}
    assert last == "click button “Take 31”"
    async with person_at_pages({"/": LIST}, tmp_path / "again") as person:
        for _ in (first, *others):
            assert await person.capture.act(Scroll(direction=ScrollDirection.DOWN)) is None
        await person.capture.episode.shared_browser()[1].settle(5)
        assert await page_of(person).get_by_text("Take 31", exact=True).count() == 1


async def test_chosen_files_are_kept_and_uploaded(tmp_path: Path) -> None:
    page = """<label>Picture <input type=file name=p></label><input type=file id=f hidden multiple>
      <button onclick="f.click()">Attach</button><button>Send</button>"""
    chosen = {"leek.txt": b"leeks", "2.bin": bytes(range(256))}
    paths = [write(tmp_path / name, content) for name, content in chosen.items()]
    long = write(tmp_path / "long.bin", b"x" * 4_000_001)
    async with at(tmp_path, {"/": page}) as person:
        kept_shut: list[str] = []  # a person's window shows its own choosers
        _, session = person.capture.episode.shared_browser()
        session._bar.current.choosers.refused = lambda: kept_shut.append("x")  # type: ignore[attr-defined]
        await presses(person, choose(person, "input[name=p]", paths[:1]))
        await person.click("button", "Attach")
        await presses(person, choose(person, "#f", paths))
        assert not kept_shut
        await presses(person, choose(person, "input[name=p]", [long]))
    recording = person.capture.recording
    said_first, clicked, said_second, refused = done(recording)
    assert said_first == "upload leek.txt at “Picture”"
    assert clicked == "click button “Attach”"
    assert said_second == "upload leek.txt, 2.bin at “Attach”"
    assert refused.startswith("no: it chooses a file that could not be kept (4 MB")
    kept = tmp_path / "recording" / "files"
    assert {one.name: one.read_bytes() for one in kept.iterdir()} == chosen


async def test_files_that_are_read_slowly_are_kept_with_their_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = PersonCapture._on_key

    def hears_late(capture: PersonCapture, report: KeyReport, so_far: NotedSoFar) -> None:
        later_s = 3.0 if report.files else 0.0
        asyncio.get_running_loop().call_later(later_s, heard, capture, report, so_far)

    monkeypatch.setattr(PersonCapture, "_on_key", hears_late)
    chosen = write(tmp_path / "leek.txt", b"leeks")
    page = "<label>Picture <input type=file name=p></label>"
    async with at(tmp_path, {"/": page}) as person:
        await presses(person, choose(person, "input", [chosen]))
    assert done(person.capture.recording) == ["upload leek.txt at “Picture”"]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


async def choose(person: ScriptedPerson, selector: str, files: Sequence[Path]) -> None:
    """Choose as a file chooser does: the browser makes the events."""
    page = page_of(person)
    wire = await page.context.new_cdp_session(page)
    found = await wire.send(
        "Runtime.evaluate", {"expression": f"document.querySelector({selector!r})"}
    )
    handle = found["result"]["objectId"]
    await wire.send("DOM.setFileInputFiles", {"files": [*map(str, files)], "objectId": handle})


def page_of(person: ScriptedPerson) -> Page:
    _, session = person.capture.episode.shared_browser()
    page: Page = session._bar.current.page  # type: ignore[attr-defined]
    return page


async def test_the_data_that_pages_asked_for_is_known(tmp_path: Path) -> None:
    page = """<link rel=stylesheet href=/a.css><img src=/p.png><a href=/wiki/A/Tea>Tea</a>
      <script>fetch("/api/list?page=1"); fetch("/api/new", {method: "POST"})</script>"""
    data = {"/": page, "/api/list": '{"items": ["Leeks"]}'}
    async with at(tmp_path, data) as person:
        await person.click("link", "Tea")
        locates = [one.locate.model_dump() for one in person.capture.asked()]
    assert [one["path"] for one in locates] == ["/api/list?page=1"]


async def presses(
    person: ScriptedPerson, hand: Awaitable[None], before: Recording | None = None
) -> None:
    before = before or person.capture.recording
    await hand
    async with asyncio.timeout(30):
        await person.capture.wait_for_step(before)


@SLOW
async def test_enter_in_a_field_is_done_once(tmp_path: Path) -> None:
    form = "<form action=/found><input aria-label=Search name=q></form>"
    async with at(tmp_path, {"/": form}) as person:
        await person.type("textbox", "Search", "kettle", submit=True)
    assert done(person.capture.recording) == ["type “kettle” into textbox “Search” and Enter"]


async def test_a_page_that_forges_events_records_nothing(tmp_path: Path) -> None:
    forging = """<button id=b>Buy</button><input id=i aria-label=Name><button id=go>Go</button>
      <script>go.onclick = () => { for (let n = 0; n < 20; n++) {
        b.click(); b.dispatchEvent(new MouseEvent("click", {bubbles: true}));
        i.value = "forged"; i.dispatchEvent(new InputEvent("input", {bubbles: true}));
        window.arenaReport?.("{}");
      } }</script>"""
    async with at(tmp_path, {"/": forging}) as person:
        await person.click("button", "Go")
    assert done(person.capture.recording) == ["click button “Go”"]


async def test_a_password_is_nowhere_in_the_folder(tmp_path: Path) -> None:
    form = """<form action=/in method=post><label>User <input name=u></label>
      <label>Password <input type=password name=p oninput="f.value = this.value"></label>
      <button type=button onclick="form.p.type = 'text'">Show</button>
      <button>Log in</button><output id=f hidden></output></form>"""
    async with at(tmp_path, {"/": form}) as person:
        await person.type("textbox", "User", "emma")
        await person.type("textbox", "Password", "hunter2-secret")
        await person.click("button", "Show")
        await person.type("textbox", "Password", "hunter2-secret")
        await person.click("button", "Log in")
    kept = tmp_path / "recording"
    assert b"emma" in (kept / "steps.jsonl").read_bytes()
    assert not [path for path in kept.iterdir() if b"hunter2" in path.read_bytes()]
    # A busy recorder keeps what was done meanwhile as one step, so their number is open: the page
    # is shown until the password is typed and after it is left, and never between.
    shown = "".join(
        "s" if step.evidence.screenshot else "-" for step in person.capture.recording.steps
    )
    assert re.fullmatch("s+-+s", shown)
    assert "no: it is a password" in "; ".join(done(person.capture.recording))


@SLOW
async def test_what_an_address_led_to_is_a_visit(tmp_path: Path) -> None:
    async with at(tmp_path, {"/": "<h1>Front</h1>"}) as person:
        await person.goto("http://wiki.arena.test/wiki/A/Kettle")
    recording = person.capture.recording
    assert done(recording) == ["go to wiki:/article/Kettle"]
    assert recording.steps[-1].heading == "/wiki/A/Kettle"


@SLOW
async def test_an_address_that_the_page_sets_on_a_click_is_a_visit(tmp_path: Path) -> None:
    page = """<button onclick="history.pushState(0, '', '/wiki/A/Tea')">Tea</button>"""
    async with at(tmp_path, {"/": page}) as person:
        await person.click("button", "Tea")
    (_, step) = person.capture.recording.steps
    assert [(one.logical, one.counts) for one in step.evidence.visits] == [
        ("wiki:/article/Tea", True)
    ]


async def test_a_page_in_a_new_tab_is_followed(tmp_path: Path) -> None:
    pages = {
        "/": "<a href=/wiki/A/Tea target=_blank>Tea</a>",
        "/wiki/A/Tea": "<button>Pour</button>",
    }
    async with at(tmp_path, pages) as person:
        await person.click("link", "Tea")
        await person.click("button", "Pour")
    assert done(person.capture.recording) == ["click link “Tea”", "click button “Pour”"]


async def test_a_switch_to_another_tab_is_seen_when_something_is_done_there(
    tmp_path: Path,
) -> None:
    add = "<button>Add</button><button>Add</button>"
    pages = {"/": f"<a href=/two target=_blank>Two</a>{add}", "/two": "<button>Pour</button>"}
    async with at(tmp_path, pages) as person:
        await person.click("link", "Two")
        _, session = person.capture.episode.shared_browser()
        first = session._bar.tabs[0].page  # type: ignore[attr-defined]
        before = person.capture.recording
        await first.bring_to_front()
        await first.get_by_role("button", name="Add").last.click()
        async with asyncio.timeout(30):
            await person.capture.wait_for_step(before)
        await person.click("button", "Add")
    assert done(person.capture.recording) == [
        "click link “Two”",
        "go to tab 0",
        "click button “Add” (number 2 of that name)",
        "click button “Add”",
    ]


async def test_the_paths_are_those_that_the_watcher_gives(tmp_path: Path) -> None:
    page = """<main id=m><p>x<a href=#1>one</a></p><p><a href=#2>two</a><a href=#3>three</a></p>
      <div id='7 odd:id'><button>odd</button></div><div id=twice></div><div id=twice>
      <button>second</button></div><my-card></my-card></main>
      <script>customElements.define("my-card", class extends HTMLElement { constructor() {
        super(); this.attachShadow({mode: "open"}).innerHTML = "<p><button>deep</button></p>"; }})
      </script>"""
    clicked: dict[str, str] = {}
    async with at(tmp_path, {"/": page}) as person:
        for name in ("one", "two", "three", "odd", "second", "deep"):
            node = named(person, name)
            clicked[name] = path_of(person, node)
            await person.click(node.role, name)
    acted = [step.evidence.acted[0] for step in person.capture.recording.steps[1:]]
    # A shadow root's elements stand under their host in a snapshot.
    assert {one.name: one.path.replace(" >>> ", " > ") for one in acted} == clicked


@ONE_QUICK
@pytest.mark.parametrize("what", ["tab", "browser"])
async def test_a_closed_window_stops_and_loses_nothing(tmp_path: Path, what: str) -> None:
    async with at(tmp_path, {"/": "<a href=/next>Next</a>"}) as person:
        await person.click("link", "Next")
        _, session = person.capture.episode.shared_browser()
        page = session._bar.current.page  # type: ignore[attr-defined]
        await (page.close() if what == "tab" else page.context.close())
        async with asyncio.timeout(30):
            await person.capture.stopped.wait()
    assert done(open_recording(tmp_path / "recording")) == ["click link “Next”"]


def named(person: ScriptedPerson, name: str) -> Node:
    return next(one for one in person.capture.page.nodes if one.name == name and one.role != "p")


def path_of(person: ScriptedPerson, node: Node) -> str:
    return next(path for path, one in person.capture.page.by_path.items() if one.id == node.id)
