"""What forms of observation say of a real page, and what they keep to themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from arena_core.actions import Click, Type
from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    HTML,
    IN_VIEWPORT,
    PRUNED_HTML,
    PRUNED_HTML_XML,
    AriaSnapshot,
    Html,
    Observation,
    PrunedHtml,
)
from orchestrator.browser.observations.forms import OBSERVATIONS, load_form

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<title>Order</title><h1>Kettles: "best" #1</h1><button disabled>Save</button>
<label>Name <input value=Ada></label><input type=checkbox checked aria-label=Gift>
<select aria-label=Size><option>One<option selected>Two</select><ul><li>first<li>second</ul>
<button aria-pressed=true>- x: y</button><a href=/y>A link</a><textarea aria-label=T>long
text</textarea><input type=password aria-label=Secret value=hunter2><div id=menu>Menu</div>
<div id=host></div><p>tail <b>bold</b> more</p><img alt=Logo src="data:image/gif;base64,R0lGOD">
<iframe title=inner srcdoc="<button>framed</button>"></iframe>
<div style="height:3000px"></div><button>far below</button>
<script>
document.getElementById("menu").onclick = () => 1;
document.getElementById("host").attachShadow({mode: "closed"}).innerHTML = "<button>shady</button>";
</script>"""
TEXTS = (AXTREE, ARIA, HTML, PRUNED_HTML, PRUNED_HTML_XML)


async def look(drive: Drive, *names: str) -> Observation:
    return await drive.session.observe(0, None, {name: load_form(name) for name in names})


def text(seen: Observation, name: str) -> str:
    return str(getattr(seen.parts[name], "text"))  # noqa: B009 - every text form has one


async def test_ids_are_the_same_in_every_form_and_are_those_that_actions_name(
    drive: Drive,
) -> None:
    await drive.open(PAGE)
    seen = await look(drive, *TEXTS, BOXES)
    for name in ("Save", "framed", "shady", "far below"):
        element = next(n.id for n in seen.nodes if n.role == "button" and n.name == name)
        assert f'- button "{name}"' in text(seen, ARIA)
        assert f"[ref=e{element}]" in text(seen, ARIA)
        assert f'<button arena="{element}"' in text(seen, HTML)
        for form in (PRUNED_HTML, PRUNED_HTML_XML):
            part = seen.parts[form]
            assert isinstance(part, PrunedHtml)
            assert element in part.ids.values(), name
            assert name in part.segments[next(k for k, v in part.ids.items() if v == element)]
    menu = re.search(r'<div arena="(\d+)" id="menu">', text(seen, HTML))
    assert menu is not None
    assert await drive.do(Click(element=int(menu[1]))) is None
    assert [one.text for one in drive.drain().acted] == ["Menu"]


async def test_the_viewport_leaves_out_what_is_far_below(drive: Drive) -> None:
    await drive.open(PAGE)
    whole = await look(drive, *TEXTS)
    shown = await look(drive, *(name + IN_VIEWPORT for name in TEXTS))
    for name in TEXTS:
        assert "far below" in text(whole, name), name
        assert "far below" not in text(shown, name + IN_VIEWPORT), name
        assert "framed" in text(shown, name + IN_VIEWPORT), name
        assert "Two" in text(shown, name + IN_VIEWPORT), name
    part = shown.parts[PRUNED_HTML + IN_VIEWPORT]
    assert isinstance(part, PrunedHtml)
    assert part.viewports[0] == 0
    assert part.viewports[1] > 4


async def test_a_password_is_shown_by_no_form_whether_it_stood_there_or_was_typed(
    drive: Drive,
) -> None:
    await drive.open(PAGE)
    secret = drive.id("textbox", "Secret")
    for word in ("hunter2", "correct horse"):
        seen = await look(drive, *OBSERVATIONS.names())
        assert word not in str({k: v for k, v in seen.parts.items() if k != "som"}), word
        assert "•" in text(seen, HTML)
        assert await drive.session.act(Type(element=secret, text="correct horse")) is None


async def test_nothing_of_an_observation_is_written_into_the_page(drive: Drive) -> None:
    watch = """<script>window.seen = []; new MutationObserver((all) => {
      for (const one of all) if (!one.target.closest?.("#told")) seen.push(one.type);
      document.getElementById("told").value = seen.join(); }).observe(document,
      {subtree: true, childList: true, attributes: true, characterData: true});
      addEventListener("resize", () => seen.push("resize"));
      addEventListener("scroll", () => seen.push("scroll"));
      setInterval(() => { const told = document.getElementById("told");
        const now = seen.join() || "nothing"; if (told.title !== now) told.title = now; }, 50);
      </script>"""
    await drive.open("<input id=told aria-label=told>" + PAGE + watch)
    await drive.rest()
    before = (await drive.session.read_own("#told", "title"))[0]
    for _ in range(2):
        await look(drive, *OBSERVATIONS.names())
        await drive.rest()
    after = (await drive.session.read_own("#told", "title"))[0]
    assert set(after.split(",")) == set(before.split(","))
    assert "resize" not in after


async def test_the_snapshot_is_playwrights_own_where_both_say_the_same(drive: Drive) -> None:
    await drive.open(PAGE)
    part = (await look(drive, ARIA)).parts[ARIA]
    assert isinstance(part, AriaSnapshot)
    page = drive.session._bar.current.page
    theirs = await page.aria_snapshot(mode="ai")
    kinds = ("heading", "button", "checkbox", "option", "listitem", "img", "textbox", "'")

    def lines(snapshot: str) -> list[str]:
        plain = [_without_refs(line).strip("- ") for line in snapshot.splitlines()]
        return sorted(one for one in plain if one.startswith(kinds) and "Secret" not in one)

    assert lines(part.text) == sorted([*lines(theirs), 'button "shady"'])
    assert yaml.load(part.text, yaml.BaseLoader)  # noqa: S506 - strings alone


def _without_refs(line: str) -> str:
    return re.sub(r" \[ref=\w+\]| \[cursor=pointer\]", "", line)


async def test_a_page_that_changes_all_the_time_is_seen_whole(drive: Drive) -> None:
    await drive.open(
        "<div id=a></div><script>setInterval(() => { const all = document.getElementById('a');"
        " all.innerHTML = '<button>b' + Math.random() + '</button>'.repeat(50); }, 1)</script>"
    )
    for _ in range(10):
        seen = await look(drive, *OBSERVATIONS.names())
        assert set(seen.parts) == set(OBSERVATIONS.names())


async def test_a_page_that_nests_deeper_than_python_calls_is_seen(drive: Drive) -> None:
    await drive.open("<div>" * 400 + "<button>deep</button>")
    seen = await look(drive, HTML, PRUNED_HTML, PRUNED_HTML + IN_VIEWPORT)
    assert isinstance(seen.parts[HTML], Html)
    assert "deep" in text(seen, PRUNED_HTML + IN_VIEWPORT)


async def test_scripts_nest_deeper_than_markup_can_and_every_form_shows_it(drive: Drive) -> None:
    await drive.open(
        "<body><script>let at = document.body; for (let n = 0; n < 1100; n++) {"
        " const inner = document.createElement('section'); inner.title = n; at.append(inner);"
        " at = inner } at.innerHTML = '<button>deep</button>'</script>"
    )
    seen = await look(drive, *OBSERVATIONS.names())
    assert seen.nodes[-1].depth == 1100
    assert "deep" in text(seen, HTML)


async def test_halves_of_surrogate_pairs_are_shown_as_the_page_has_them(drive: Drive) -> None:
    await drive.open(
        "<p></p><script>document.querySelector('p').textContent = 'a\\ud800b'</script>"
    )
    seen = await look(drive, *OBSERVATIONS.names())
    assert "a\ud800b" in seen.text
    assert "a\ud800b" in text(seen, HTML)


async def test_every_form_takes_a_page_of_two_thousand_rows(drive: Drive) -> None:
    rows = "".join(f"<tr><td><a href=/{n}>Row {n}</a><td>{n}" for n in range(2000))
    await drive.open(f"<table>{rows}</table>")
    seen = await look(drive, *OBSERVATIONS.names())
    assert "Row 1999" in text(seen, HTML)
    assert "Row 1999" in text(seen, PRUNED_HTML)
