"""What locators read of a page by selector, script and markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.errors import TaskError
from evaluators.episode_view import ElementProperty, PageLook, Spelling
from orchestrator.browser.page import page_query

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<!doctype html><title>T</title><h1>Head</h1>
  <select id=s><option>a<option selected>b</select><input id=c type=checkbox checked>
  <input id=p type=password value=hunter2><p class=x>one</p><p class=x>two  three</p>"""

# What WebArena's tasks evaluate, and what str() of Playwright's answer tells apart.
SCRIPTS = [
    "document.querySelector('h1').outerText",
    "document.querySelector('#s').selectedIndex",
    "document.querySelector('#c').checked",
    "document.querySelector('#s').value",
    "document.querySelector('h1').getAttribute('gone')",
    "[...document.querySelectorAll('.x')].map(e => e.outerText).join(' ')",
    "[...document.querySelectorAll('.x')].map(e => e.outerText)",
    "document.querySelectorAll('.x')[1].outerText",
    "document.querySelectorAll('.x')",
    "document.querySelector('h1')",
    "document",
    "undefined",
    "null",
    "[1, 0.5, -0, NaN, Infinity, -Infinity, 1e21, 1e20, 2 ** 53, true, null, undefined]",
    "['q\\'\"', 10n]",
    "({a: {b: [1]}, f: () => 1, 'ü': '☃\\n'})",
    "() => 7",
    "function () { return 8 }",
    "async () => [await Promise.resolve(9)]",
    "(() => { const a = []; a.push(a); return a })()",
    "''",
    "-0",
    "document.title + 1",
    "let x = 3; x + 1",
]
THROWS = ["document.querySelector('.gone').outerText", "nothing.here", "][", "throw 5", "{"]


def python(script: str) -> PageLook:
    return PageLook(script=script, spelling=Spelling.PYTHON)


async def test_a_script_yields_what_playwright_for_python_would(drive: Drive) -> None:
    await drive.open(PAGE)
    page = drive.session._bar.current.page
    for script in SCRIPTS:
        seen = await drive.session.look_own(python(script))
        assert seen.values == (str(await page.evaluate(script)),), script
        assert not seen.data
    for script in THROWS:
        seen = await drive.session.look_own(python(script))
        assert seen.values == ("",), script
        assert seen.data["thrown"]


async def test_a_script_in_plain_spelling(drive: Drive) -> None:
    await drive.open(PAGE)
    for script, values in (
        ("document.querySelector('h1').outerText", ("Head",)),
        ("document.querySelector('.gone')?.outerText", ()),
        ("document.querySelector('.gone').outerText", ()),
        ("[...document.querySelectorAll('.x')].map(e => e.outerText)", ("one", "two three")),
        ("[1, 2.5, true, {a: 1}]", ("1", "2.5", "true", '{"a": 1}')),
    ):
        assert (await drive.session.look_own(PageLook(script=script))).values == values


async def test_the_markup_is_what_playwright_gives(drive: Drive) -> None:
    await drive.open(PAGE)
    [markup] = (await drive.session.look_own(PageLook(html=True))).values
    assert markup == await drive.session._bar.current.page.content()


async def test_live_properties_and_the_password_that_is_none(drive: Drive) -> None:
    await drive.open(PAGE)

    async def of(selector: str, name: ElementProperty) -> tuple[str, ...]:
        what = PageLook(selector=selector, element_property=name)
        return (await drive.session.look_own(what)).values

    assert await of("#c", ElementProperty.CHECKED) == ("true",)
    assert await of("#s", ElementProperty.SELECTED_INDEX) == ("1",)
    assert await of(".x", ElementProperty.TEXT_CONTENT) == ("one", "two  three")
    assert await of("#p", ElementProperty.VALUE) == ()


async def test_a_page_that_overrides_everything_changes_nothing(drive: Drive) -> None:
    await drive.open(
        PAGE
        + """<script>
        Object.defineProperty(Element.prototype, "textContent", {get: () => "forged"});
        Object.defineProperty(HTMLElement.prototype, "outerText", {get: () => "forged"});
        document.querySelector = () => ({outerText: "forged"});
        Document.prototype.querySelectorAll = () => [];
        Array.prototype.map = () => ["forged"];
        JSON.stringify = () => '"forged"';
        window.arena = {read: () => ({values: ["forged"]})};
        </script>"""
    )
    look = drive.session.look_own
    assert (await look(python("document.querySelector('h1').textContent"))).values == ("Head",)
    assert (await look(python(SCRIPTS[5]))).values == ("one two three",)
    assert (await look(PageLook(selector=".x"))).values == ("one", "two three")
    assert "<h1>Head</h1>" in (await look(PageLook(html=True))).values[0]


@pytest.mark.parametrize("script", ["for (;;) {}", "new Promise(() => 0)", "() => { for (;;) {} }"])
async def test_a_script_that_never_ends_is_no_failure(
    drive: Drive, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(page_query, "SCRIPT_S", 0.5)
    await drive.open(PAGE)
    with pytest.raises(TaskError, match="did not end"):
        await drive.session.look_own(PageLook(script=script))
    assert await drive.text("h1") == "Head"


async def test_scripts_share_nothing_with_one_another_or_with_arena(drive: Drive) -> None:
    await drive.open(PAGE)
    await drive.session.look_own(PageLook(script="globalThis.left = 1"))
    what = PageLook(script="[typeof left, typeof arena, typeof arenaReport]")
    assert (await drive.session.look_own(what)).values == ("undefined",) * 3


async def test_a_fresh_page_is_prepared_before_it_is_read(drive: Drive) -> None:
    await drive.open("<p>own")
    url = drive.site.page(
        """<button onclick="fetch('/more').then(r => r.text()).then(t => { o.textContent = t })">
        </button><p id=o>closed""",
        "/folded",
    )
    drive.site.page("open", "/more")
    unfold = ("nothing.here()", "document.querySelector('button').click()")
    seen = await drive.session.look_fresh(url, PageLook(selector="#o", prep=unfold))
    assert seen is not None
    assert seen.values == ("open",)
    assert await drive.text("p") == "own"
    assert (
        await drive.session.look_fresh("http://127.0.0.1:1/", python("1"), may_be_gone=True) is None
    )
