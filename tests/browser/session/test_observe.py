"""What an agent sees: the accessibility tree as text, with ids that stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click, Goto
from orchestrator.browser.page import axtree

if TYPE_CHECKING:
    from browser.session.conftest import Drive

PAGE_AS_READ = """\
heading "All kettles"
navigation "Main"
list
listitem
link "Home"
paragraph
StaticText "Two"
StaticText "fine"
StaticText "ones."
paragraph "Plain text."
StaticText "Search"
textbox "Search" value="old value"
checkbox "New" checked
button "More" disabled expanded=false
combobox "Sort" value="Price" expanded=false
option "Name"
option "Price" selected
"""

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_page_reads_as_one_line_a_node_indented_by_depth(drive: Drive) -> None:
    await drive.open("""
        <title>Kettles</title>
        <div><div><h1>All kettles</h1></div></div>
        <nav aria-label=Main><ul><li><a href=#>Home</a></ul></nav>
        <p>Two <b>fine</b> ones.</p><p>Plain text.</p>
        <label>Search <input value="old  value"></label>
        <input type=checkbox aria-label=New checked>
        <button aria-expanded=false disabled>More</button>
        <select aria-label=Sort><option>Name<option selected>Price</select>""")
    text = "\n".join(line.partition("] ")[2] for line in drive.seen.text.splitlines())
    assert drive.seen.title == "Kettles"
    assert text.splitlines() == PAGE_AS_READ.splitlines()
    assert [n.depth for n in drive.seen.nodes][:5] == [0, 0, 1, 2, 3]


async def test_an_element_keeps_its_id_while_its_document_lives(drive: Drive) -> None:
    await drive.open("""
        <button onclick="this.insertAdjacentHTML('beforebegin', '<a href=#n>new</a>');
                         this.before(document.querySelector('h1'))">add</button><h1>Title</h1>""")
    button, heading = drive.id("button", "add"), drive.id("heading", "Title")
    await drive.do(Click(element=button))
    assert (drive.id("button", "add"), drive.id("heading", "Title")) == (button, heading)
    assert drive.id("link", "new") not in {button, heading}


async def test_no_id_is_ever_given_twice(drive: Drive) -> None:
    await drive.open("<button>one</button>")
    given = {node.id for node in drive.seen.nodes}
    for _ in range(3):
        await drive.do(Goto(url=drive.site.base + "/"))
        now = {node.id for node in drive.seen.nodes}
        assert not now & given
        given |= now


async def test_frames_are_shown_where_they_stand(drive: Drive) -> None:
    drive.site.page("<button>deep</button>", "/inner")
    drive.site.page("<p>before<iframe title=Inner src=/inner></iframe>", "/frame")
    await drive.open(
        f"<h1>Top</h1><iframe title=Frame src=http://localhost:{drive.site.port}/frame></iframe><h2>End</h2>"
    )
    shown = [(node.depth, node.role, node.name) for node in drive.seen.nodes]
    roles = [role for _, role, _ in shown]
    assert roles.index("heading") < roles.index("button") < len(roles) - 1
    assert shown[-1] == (0, "heading", "End")
    deep = next(depth for depth, role, _ in shown if role == "button")
    assert deep >= 2


async def test_hidden_content_is_not_shown(drive: Drive) -> None:
    await drive.open("<p hidden>no<p style='display:none'>no<p aria-hidden=true>no<p>yes")
    assert [node.name for node in drive.seen.nodes] == ["yes"]


async def test_a_very_large_page_is_cut_and_says_so(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(axtree, "MAX_NODES", 50)
    await drive.open("".join(f"<p>row {n}" for n in range(80)))
    assert len(drive.seen.nodes) == 50
    assert drive.seen.text.endswith("(the page goes on: only its first 50 nodes are shown)")


async def test_names_with_line_breaks_stay_on_one_line(drive: Drive) -> None:
    await drive.open("<button aria-label='a&#10;b  c'>x</button><textarea>one\ntwo</textarea>")
    assert len(drive.seen.text.splitlines()) == len(drive.seen.nodes)


async def test_a_password_shows_as_dots(drive: Drive) -> None:
    await drive.open("<input type=password aria-label=p value=hunter2>")
    assert "hunter2" not in drive.seen.text


async def test_an_answered_dialog_is_told_until_the_step_is_over(drive: Drive) -> None:
    await drive.open("<button onclick=\"alert('Out of stock'); this.textContent='b'\">a</button>")
    await drive.do(Click(element=drive.id("button", "a")))
    assert drive.seen.text.startswith('(dialog: alert "Out of stock" (accepted))\n[')
    assert drive.seen.last_error is None
    assert drive.drain().dialogs == ('alert "Out of stock" (accepted)',)
    assert "dialog" not in (await drive.see()).text


async def test_an_empty_page_can_be_seen(drive: Drive) -> None:
    seen = await drive.see()
    assert (seen.nodes, seen.text, seen.url) == ((), "", "about:blank")
