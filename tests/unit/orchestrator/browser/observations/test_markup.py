"""Markup, whole and simplified, of pages made by hand."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.browser.observation import Html, PrunedHtml
from orchestrator.browser.observations.forms import PageNode, PageSnapshot, Rect
from orchestrator.browser.observations.markup import HTML_FORM
from orchestrator.browser.observations.pruned_html import (
    Limits,
    PrintStyle,
    PrunedHtmlForm,
    Simplified,
    labels,
    printed,
    pruned,
    simplify,
)

DRAWN = Rect(0, 0, 10, 10)


def element(tag: str, *children: PageNode | str, id: int | None = None, **given: str) -> PageNode:  # noqa: A002
    attributes = {name.replace("_", "-"): value for name, value in given.items()}
    made = PageNode(tag=tag, attributes=attributes, id=id, rect=DRAWN, shown=DRAWN)
    made.children = [
        PageNode(tag="#text", text=one, rect=DRAWN, shown=DRAWN) if isinstance(one, str) else one
        for one in children
    ]
    for child in made.children:
        child.parent = made
    return made


class Page:
    """A page that a test made."""

    url = "http://shop.test/"
    dialogs: tuple[str, ...] = ()

    def __init__(self, *nodes: PageNode) -> None:
        self.root = element("#document", element("html", element("body", *nodes)))
        self.root.rect = self.root.shown = None

    async def snapshot(self) -> PageSnapshot:
        window = Rect(0, 0, 100, 50)
        return PageSnapshot(
            root=self.root, viewport=window, scrolled=25, height=290, find=lambda _: None
        )


async def html_of(*nodes: PageNode) -> str:
    found = await HTML_FORM.observe(Page(*nodes))  # type: ignore[arg-type]
    assert isinstance(found, Html)
    return found.text


async def pruned_of(style: PrintStyle, *nodes: PageNode) -> PrunedHtml:
    return await PrunedHtmlForm(style).observe(Page(*nodes))  # type: ignore[arg-type]


async def test_markup_has_ids_present_values_and_neither_code_nor_embedded_files() -> None:
    shown = await html_of(
        element("a", "More", id=3, href="/x?a=1&b=2", arena="99"),
        element("img", src="data:image/png;base64," + "A" * 9000),
        element("script", "alert(1)"),
        element("textarea", "as it was", id=4, value="<now>"),
        element("input", id=5, type="checkbox", checked=""),
        element("div", element("#shadow-root", element("b", "in"), mode="closed")),
    )
    assert len(shown) < 800
    assert '<a arena="3" href="/x?a=1&amp;b=2">More</a>' in shown
    assert "<script></script>" in shown
    assert '<input arena="5" type="checkbox" checked>' in shown
    assert '<template shadowrootmode="closed"><b>in</b></template>' in shown
    assert "&lt;now&gt;" in shown


@given(st.text(max_size=30), st.text(max_size=30))
async def test_no_text_or_value_of_a_page_makes_an_element(value: str, text: str) -> None:
    class Ids(HTMLParser):
        found: list[str | None]

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found += [f"{tag} {number}" for name, number in attrs if name == "arena"]

    reader = Ids()
    reader.found = []
    reader.feed(await html_of(element("p", text), element("a", text, id=7, title=value)))
    assert reader.found == ["a 7"]


async def test_a_page_cannot_forge_a_label() -> None:
    seen = await pruned_of(
        PrintStyle.REFINE, element("p", "<button[A]| Pay >"), element("button", "No", id=9)
    )
    assert seen.ids == {"A": 9}
    assert seen.text.count("<button[A]|") == 1


async def test_both_styles_hold_the_same_and_hoist_what_says_nothing() -> None:
    nodes = (
        element("div", element("div", element("a", element("span", "Home"), id=2, role="link"))),
        element("input", id=3, type="text", placeholder="Search", title="Search", name="q"),
        element("input", type="hidden", value="token"),
        element("p", "Hello ", element("b", "bold"), " tail"),
    )
    refined = await pruned_of(PrintStyle.REFINE, *nodes)
    assert refined.text == (
        "<html| <body| <a[A]| <span| Home > > <input[B]| q; Search; text >"
        " <p| <text| Hello > <b| bold > <text| tail > > > >"
    )
    assert refined.ids == {"A": 2, "B": 3}
    assert refined.viewports == (0.5, 5.8)
    xml = await pruned_of(PrintStyle.XML, *nodes)
    assert xml.ids == refined.ids
    assert '<input id="B" name="q" placeholder="Search" title="Search" type="text">' in xml.text


async def test_a_segment_is_the_element_and_little_around_it() -> None:
    items = [element("li", element("a", f"Item {n}", id=n)) for n in range(1, 6)]
    seen = await pruned_of(PrintStyle.REFINE, element("ul", *items), element("p", "far away"))
    assert seen.segments["C"].count("<a[") == 3
    assert "<a[C]| Item 3 >" in seen.segments["C"]
    assert "far away" not in seen.segments["C"]


def test_labels_go_on_after_the_alphabet() -> None:
    found = list(islice(labels(), 26 + 26 * 26 + 2))
    assert (found[0], found[25], found[26], found[27]) == ("A", "Z", "AA", "AB")
    assert (found[-3], found[-2:]) == ("ZZ", ["AAA", "AAB"])
    assert len(set(found)) == len(found)


@pytest.fixture
def tree() -> Simplified:
    rows = [element("tr", *(element("td", f"{n}.{m}") for m in range(4))) for n in range(9)]
    table = element("table", *rows, title="t")
    return simplify(element("#document", element("main", table, title="m")), lambda _: "")


def test_pruning_keeps_what_is_near_the_target_and_shrinks_until_it_fits(tree: Simplified) -> None:
    row = tree.children[0].children[0].children[4]
    near = pruned([row], Limits(depth=1, children=2, siblings=1), PrintStyle.XML)
    assert near == (
        '<table title="t"> <tr> </tr> <tr> <td>4.0 </td> <td>4.1 </td> </tr> <tr> </tr> </table>'
    )
    whole = pruned([row], Limits(), PrintStyle.XML)
    assert len(whole) > 150
    short = pruned([row], Limits(), PrintStyle.XML, most=60)
    assert len(short) <= 60
    assert short.startswith("<tr>")
    assert pruned([], Limits(), PrintStyle.XML) == ""
    assert "8.3" in printed(tree, PrintStyle.XML)
