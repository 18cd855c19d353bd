"""Every action: what it does on a page, and what an agent is told where it cannot."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from arena_core.actions import (
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
)

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

BANNER = """<div role=dialog aria-label="Cookies" style="position:fixed;inset:0;background:#fff">
    <p>We use cookies</p><button onclick="this.parentElement.remove()">Accept</button></div>"""


async def test_a_click_reaches_an_element_far_down_the_page(drive: Drive) -> None:
    await drive.open(
        "<div style='height:5000px'></div><button onclick=\"this.textContent='hit'\">far</button>"
    )
    assert await drive.do(Click(element=drive.id("button", "far"))) is None
    assert drive.shows("button", "hit")


async def test_a_click_reaches_an_element_that_an_inner_scroller_hides(drive: Drive) -> None:
    items = "".join(
        f"<button onclick=\"this.textContent='hit'\">item {n}</button><br>" for n in range(40)
    )
    await drive.open(
        f"<div style='height:120px;overflow:auto'>{items}</div><p style='height:90px'>"
    )
    assert await drive.do(Click(element=drive.id("button", "item 9"))) is None
    assert drive.shows("button", "hit")


async def test_a_covered_element_is_not_clicked_and_the_agent_is_told_what_covers_it(
    drive: Drive,
) -> None:
    await drive.open(f"<button onclick=\"this.textContent='hit'\">Buy</button>{BANNER}")
    buy = drive.id("button", "Buy")
    assert await drive.do(Click(element=buy)) == f'element [{buy}] is covered by dialog "Cookies"'
    assert await drive.do(Hover(element=buy)) == f'element [{buy}] is covered by dialog "Cookies"'
    assert drive.drain().acted == ()
    assert await drive.do(Click(element=drive.id("button", "Accept"))) is None
    assert await drive.do(Click(element=buy)) is None
    assert drive.node("button", "hit").id == buy


async def test_a_menu_that_opens_is_clicked_once_it_has_opened(drive: Drive) -> None:
    """Material's menus let no click through before their transition has ended."""
    await drive.open("""
        <style>
        menu { opacity: .1; pointer-events: none; transition: opacity .6s }
        menu.open { opacity: 1 }
        </style>
        <button onclick="document.querySelector('menu').classList.add('open')">More</button>
        <menu ontransitionend="this.style.pointerEvents='auto'">
        <button onclick="this.textContent='hit'">Move</button></menu>""")
    move = drive.id("button", "Move")
    assert "is covered by" in (await drive.do(Click(element=move)) or "")
    assert await drive.do(Click(element=drive.id("button", "More"))) is None
    assert await drive.do(Click(element=move)) is None
    assert drive.shows("button", "hit")


async def test_no_click_waits_for_a_cover_that_never_rests(drive: Drive) -> None:
    await drive.open(f"""
        <style>@keyframes turn{{to{{rotate:1turn}}}}i{{animation:turn 1s infinite}}</style>
        <i>…</i><button>Buy</button>{BANNER}""")
    buy = drive.id("button", "Buy")
    assert await drive.do(Click(element=buy)) == f'element [{buy}] is covered by dialog "Cookies"'


async def test_fields_under_a_cover_take_no_text_and_no_choice(drive: Drive) -> None:
    await drive.open(
        f"<input aria-label=q><select aria-label=s><option>A<option>B</select>{BANNER}"
    )
    field, choice = drive.id("textbox", "q"), drive.id("combobox", "s")
    assert "covered by dialog" in (await drive.do(Type(element=field, text="x")) or "")
    assert "covered by dialog" in (await drive.do(Select(element=choice, option="B")) or "")
    assert drive.drain().acted == ()


async def test_a_frame_under_a_cover_is_covered(drive: Drive) -> None:
    drive.site.page("<button>inner</button>", "/frame")
    await drive.open(f"<iframe src=/frame></iframe>{BANNER}")
    error = await drive.do(Click(element=drive.id("button", "inner")))
    assert error is not None
    assert 'covered by dialog "Cookies"' in error


async def test_an_element_partly_covered_is_clicked_where_it_is_free(drive: Drive) -> None:
    await drive.open("""
        <button onclick="this.textContent='hit'" style="width:300px;height:60px">Buy</button>
        <div style="position:fixed;left:0;top:0;width:200px;height:200px;background:red"></div>""")
    assert await drive.do(Click(element=drive.id("button", "Buy"))) is None
    assert drive.shows("button", "hit")


async def test_a_hidden_checkbox_is_clicked_by_its_label(drive: Drive) -> None:
    await drive.open("""
        <input type=checkbox id=c style="opacity:0;position:absolute;width:0;height:0">
        <label for=c style="display:inline-block;width:90px">I agree</label>""")
    assert await drive.do(Click(element=drive.id("checkbox", "I agree"))) is None
    assert "checked" in drive.node("checkbox", "I agree").states


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<button disabled>b</button>", "is disabled"),
        ("<div aria-disabled=true><button>b</button></div>", "is disabled"),
        ("<fieldset disabled><button>b</button></fieldset>", "is disabled"),
    ],
)
async def test_a_disabled_button_is_not_clicked(drive: Drive, html: str, reason: str) -> None:
    await drive.open(html)
    button = drive.id("button", "b")
    assert await drive.do(Click(element=button)) == f"element [{button}] {reason}"


async def test_an_element_that_was_hidden_or_removed_meanwhile_is_not_clicked(drive: Drive) -> None:
    await drive.open(
        "<button id=a>a</button><button id=b>b</button><button onclick='"
        'a.style.display="none"; b.remove()\'>go</button>'
    )
    hidden, removed = drive.id("button", "a"), drive.id("button", "b")
    await drive.do(Click(element=drive.id("button", "go")))
    assert await drive.do(Click(element=hidden)) == f"element [{hidden}] is not visible"
    assert (
        await drive.do(Click(element=removed))
        == f"element [{removed}] is gone: the page removed it"
    )


async def test_ids_of_a_page_that_was_left_name_no_element_of_the_next(drive: Drive) -> None:
    await drive.open("<button>one</button>")
    old = drive.id("button", "one")
    await drive.do(Goto(url=drive.site.page("<button>two</button>", "/two")))
    assert drive.id("button", "two") != old
    assert await drive.do(Click(element=old)) == f"element [{old}] is gone: its page was left"
    await drive.do(Goto(url=drive.site.base + "/"))
    assert await drive.do(Click(element=old)) == f"element [{old}] is gone: its page was left"
    assert await drive.do(Click(element=999)) == "there is no element [999]"
    assert await drive.do(Click(element=-1)) == "there is no element [-1]"


async def test_elements_of_another_tab_are_named_as_such(drive: Drive) -> None:
    await drive.open("<button>one</button>")
    one = drive.id("button", "one")
    await drive.do(NewTab())
    error = await drive.do(Click(element=one))
    assert error == f"element [{one}] is on tab 0; focus that tab first"


async def test_hover_opens_a_menu(drive: Drive) -> None:
    await drive.open("""
        <style>ul { display: none } nav:hover ul { display: block }</style>
        <nav><a href=#>Shop</a><ul><li>Kettles</ul></nav>""")
    assert "Kettles" not in drive.seen.text
    assert await drive.do(Hover(element=drive.id("link", "Shop"))) is None
    assert "Kettles" in drive.seen.text


async def test_typing_replaces_what_stood_there_and_pages_hear_keys(drive: Drive) -> None:
    await drive.open("""
        <input aria-label=q value="old text" onkeyup="out.textContent = this.value"><p id=out>""")
    assert await drive.do(Type(element=drive.id("textbox", "q"), text="new")) is None
    assert await drive.session.read_own("input", "value") == ("new",)
    assert await drive.text("#out") == "new"
    await drive.do(Type(element=drive.id("textbox", "q"), text=""))
    assert await drive.session.read_own("input", "value") == ("",)


@pytest.mark.parametrize("text", ["a\nb", "“–™ 日本語 👩‍👩‍👧", "x" * 3000, "{Enter}+^%", "tail é"])
async def test_any_text_can_be_typed(drive: Drive, text: str) -> None:
    await drive.open("<textarea aria-label=t>before</textarea>")
    assert await drive.do(Type(element=drive.id("textbox", "t"), text=text)) is None
    assert await drive.session.read_own("textarea", "value") == (text,)


async def test_editable_elements_take_text(drive: Drive) -> None:
    await drive.open("<div contenteditable aria-label=e role=textbox>old <b>words</b></div>")
    assert await drive.do(Type(element=drive.id("textbox", "e"), text="new words")) is None
    assert await drive.text("div") == "new words"


async def test_date_fields_are_set_and_the_change_is_reported(drive: Drive) -> None:
    await drive.open("<input type=date aria-label=Day onchange='out.textContent=value'><p id=out>")
    day = drive.id("Date", "Day")
    assert await drive.do(Type(element=day, text="2024-02-29")) is None
    assert await drive.text("#out") == "2024-02-29"
    assert ("change", "2024-02-29") in [(a.event, a.value) for a in drive.drain().acted]
    error = await drive.do(Type(element=day, text="tomorrow"))
    assert error == f"element [{day}] is a date field and does not accept that text"


@pytest.mark.parametrize(
    ("html", "role", "reason"),
    [
        ("<input readonly aria-label=x>", "textbox", "is read-only"),
        ("<button>x</button>", "button", "is a button: it does not take this action"),
        ("<input disabled aria-label=x>", "textbox", "is disabled"),
    ],
)
async def test_what_takes_no_text_says_so(drive: Drive, html: str, role: str, reason: str) -> None:
    await drive.open(html)
    field = drive.id(role, "x")
    assert await drive.do(Type(element=field, text="t")) == f"element [{field}] {reason}"


OPTIONS = """<select aria-label=s onchange="out.textContent += value + ' '">
    <option value=1>One
    <optgroup label=G><option value=2>Two <option disabled value=3>Three</optgroup>
    <option value=4 selected>Four  and more <option value=5>Five</select><p id=out>"""


@pytest.mark.parametrize(
    ("option", "chosen"),
    [("One", "1"), ("2", "2"), ("Five", "5"), ("five", "5"), ("Two", "2")],
)
async def test_options_are_chosen_by_label_or_value_with_one_change(
    drive: Drive, option: str, chosen: str
) -> None:
    await drive.open(OPTIONS)
    assert await drive.do(Select(element=drive.id("combobox", "s"), option=option)) is None
    assert await drive.session.read_own("select", "value") == (chosen,)
    assert await drive.text("#out") == chosen


async def test_choosing_what_is_chosen_changes_nothing(drive: Drive) -> None:
    await drive.open(OPTIONS)
    assert await drive.do(Select(element=drive.id("combobox", "s"), option="Four and more")) is None
    assert await drive.text("#out") == ""


async def test_an_unknown_option_is_answered_with_those_there_are(drive: Drive) -> None:
    await drive.open(OPTIONS)
    choice = drive.id("combobox", "s")
    error = await drive.do(Select(element=choice, option="Six"))
    assert error == (
        f"element [{choice}] has no such option; it has: "
        '"One", "Two", "Three", "Four and more", "Five"'
    )
    assert (
        await drive.do(Select(element=choice, option="Three")) == f"element [{choice}] is disabled"
    )


async def test_a_click_on_an_option_of_a_drop_down_chooses_it(drive: Drive) -> None:
    await drive.open(OPTIONS)
    assert await drive.do(Click(element=drive.id("option", "Two"))) is None
    assert await drive.session.read_own("select", "value") == ("2",)


async def test_list_boxes_are_chosen_from(drive: Drive) -> None:
    await drive.open("<select multiple aria-label=l><option>A<option>B<option>C</select>")
    assert await drive.do(Select(element=drive.id("listbox", "l"), option="C")) is None
    assert await drive.session.read_own("select", "value") == ("C",)
    assert ("change", "C") in [(a.event, a.value) for a in drive.drain().acted]


async def test_long_drop_downs_and_pages_that_keep_keys_for_themselves_can_be_chosen_from(
    drive: Drive,
) -> None:
    options = "".join(f"<option>Country {n}" for n in range(230))
    await drive.open(
        f"<select aria-label=s>{options}</select>"
        "<script>addEventListener('keydown', (e) => e.preventDefault(), true)</script>"
    )
    assert await drive.do(Select(element=drive.id("combobox", "s"), option="Country 211")) is None
    assert await drive.session.read_own("select", "value") == ("Country 211",)
    assert ("change", "Country 211") in [(a.event, a.value) for a in drive.drain().acted]


async def test_a_choice_that_leaves_the_page_is_done(drive: Drive) -> None:
    drive.site.page("<p>sorted", "/sorted")
    await drive.open(
        "<select aria-label=s onchange=\"location='/sorted'\"><option>A<option>B</select>"
    )
    assert await drive.do(Select(element=drive.id("combobox", "s"), option="B")) is None
    assert drive.session.url.endswith("/sorted")


@pytest.mark.parametrize("keys", ["Control+A", "ctrl+a", "Escape", "esc", "PageDown", "a", "+"])
async def test_keys_are_pressed_in_their_common_names(drive: Drive, keys: str) -> None:
    await drive.open("<body><script>onkeydown = (e) => { document.title = e.key; }</script>")
    assert await drive.do(Press(keys=keys)) is None
    pressed = {"ctrl+a": "a", "Control+A": "A", "esc": "Escape"}.get(keys, keys)
    assert (await drive.session.title()).lower() == pressed.lower()


async def test_an_unknown_key_is_named(drive: Drive) -> None:
    await drive.open("<p>x")
    assert "no key 'Control+Nonsense'" in (await drive.do(Press(keys="Control+Nonsense")) or "")


async def scrolled_to(drive: Drive) -> int:
    """Return what the page's own handler wrote; it is called with the next frame."""
    async with asyncio.timeout(20):
        while not (title := await drive.session.title()):  # noqa: ASYNC110 - no event of ours
            await asyncio.sleep(0.01)
    return int(title)


async def test_scrolling_goes_most_of_a_screen_and_ends_at_the_end(drive: Drive) -> None:
    await drive.open("<body onscroll='document.title=scrollY'><div style='height:1100px'>x</div>")
    assert await drive.do(Scroll(direction=ScrollDirection.DOWN)) is None
    assert 300 <= await scrolled_to(drive) <= 720
    error = await drive.do(Scroll(direction=ScrollDirection.DOWN))
    assert error == "the page does not scroll further down"
    assert await drive.do(Scroll(direction=ScrollDirection.UP)) is None


async def test_a_page_with_an_inner_scroller_is_scrolled_there(drive: Drive) -> None:
    await drive.open("""<style>body { margin: 0; overflow: hidden; height: 100vh }</style>
        <main style="height:100vh;overflow:auto" onscroll="document.title=this.scrollTop">
        <div style="height:3000px">x</div></main>""")
    assert await drive.do(Scroll(direction=ScrollDirection.DOWN)) is None
    assert await scrolled_to(drive) > 300


async def test_history_goes_back_and_forward_and_ends_at_its_ends(drive: Drive) -> None:
    await drive.open("<p>one")
    await drive.do(Goto(url=drive.site.page("<p>two", "/two")))
    assert await drive.do(Forward()) == "there is no page to go forward to"
    assert await drive.do(Back()) is None
    assert await drive.text("p") == "one"
    assert await drive.do(Back()) == "there is no page to go back to"
    assert await drive.do(Forward()) is None
    assert await drive.text("p") == "two"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "chrome://crash",
        "shop.test/x",
        "http://",
        "data:,x",
        "http://[",
        "view-source:http://x",
    ],
)
async def test_only_web_addresses_are_opened(drive: Drive, url: str) -> None:
    await drive.open("<p>here")
    assert "is not a web address" in (await drive.do(Goto(url=url)) or "")
    assert "is not a web address" in (await drive.do(NewTab(url=url)) or "")
    assert len(drive.seen.tabs) == 1
    assert await drive.text("p") == "here"


async def test_an_address_where_nobody_answers_is_an_error_and_a_refusing_page_is_a_page(
    drive: Drive,
) -> None:
    await drive.open("<p>here")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    assert "ERR_CONNECTION_REFUSED" in (await drive.do(Goto(url=nobody)) or "")
    assert drive.session.url == nobody
    refused = drive.site.page("<h1>No such site here</h1>", "/refused", status=403)
    assert await drive.do(Goto(url=refused)) is None
    assert drive.shows("heading", "No such site here")


async def test_a_download_is_no_page_and_disturbs_none(drive: Drive) -> None:
    file = drive.site.page(
        "bytes", "/file", headers={"content-disposition": "attachment; filename=a.bin"}
    )
    await drive.open("<a href=/file>get</a>")
    assert "download" in (await drive.do(Goto(url=file)) or "")
    await drive.open("<a href=/file>get</a>")
    assert await drive.do(Click(element=drive.id("link", "get"))) is None
    assert drive.settled
    assert drive.shows("link", "get")


async def test_an_address_without_content_leaves_the_page_as_it_is(drive: Drive) -> None:
    nothing = drive.site.page("", "/nothing", status=204)
    await drive.open("<p>here</p><a href=/nothing>link</a>")
    assert await drive.do(Goto(url=nothing)) == f"{nothing} has no page to show"
    assert await drive.do(Click(element=drive.id("link", "link"))) is None
    assert drive.settled
    assert await drive.text("p") == "here"


async def test_tabs_are_opened_focused_and_closed(drive: Drive) -> None:
    await drive.open("<title>One</title>")
    two = drive.site.page("<title>Two</title>", "/two")
    assert await drive.do(NewTab(url=two)) is None
    assert [(t.index, t.title, t.is_current) for t in drive.seen.tabs] == [
        (0, "One", False),
        (1, "Two", True),
    ]
    assert await drive.do(FocusTab(index=0)) is None
    assert drive.seen.title == "One"
    assert await drive.do(FocusTab(index=7)) == "there is no tab 7; open are: 0, 1"
    await drive.do(FocusTab(index=1))
    assert await drive.do(CloseTab()) is None
    assert drive.seen.title == "One"
    assert await drive.do(CloseTab()) == "the only tab cannot be closed"
    await drive.do(NewTab())
    assert [tab.index for tab in drive.seen.tabs] == [0, 2]


async def test_stopping_does_nothing_to_the_page(drive: Drive) -> None:
    await drive.open("<p>here")
    assert await drive.do(Stop(answer="x")) is None
    assert await drive.text("p") == "here"
