"""What members write is shown as Markdown that can do no harm."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

markdown = import_module("waypost.markdown")

HARMLESS = {
    "p", "a", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
# Made of what Markdown and HTML act on, so that most examples mean something.
PIECES = st.lists(
    st.sampled_from([
        *"<>&\"'`*_[]()!#~|/:=- \n", "script", "onload=", "javascript:", "http://a.test/b",
        "![x](/y)", "<img src=x onerror=y>", "](", "data:text/html,", "/f/books", "u/anna",
        "word", "1. ",
    ])
).map("".join)  # fmt: skip


class Elements(HTMLParser):
    """Collects the elements of a piece of HTML with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


@given(PIECES)
@example("[x](javascript:alert(1))")
@example("[x](JaVaScRiPt&colon;alert(1))")
@example("<a href='javascript:alert(1)'>x</a>")
@example('"><script>alert(1)</script>')
@example('http://a.test/"onmouseover="alert(1)')
def test_no_text_becomes_an_element_that_acts_or_loads(text: str) -> None:
    for tag, attributes in Elements(markdown.render(text)).found:
        assert tag in HARMLESS
        allowed = {"a": {"href", "rel", "title"}, "ol": {"start"}, "code": {"class"}}
        assert set(attributes) <= allowed.get(tag, {"style"})
        if tag == "a":
            href = attributes["href"].strip().lower()
            assert not href.startswith(("javascript:", "vbscript:", "data:", "file:"))


@given(st.one_of(st.text(), PIECES))
@example("a\x0bb\n\n\x0cc")
@example("a\n\n\n\nb\n")
@example('He said "no" & left')
def test_the_quick_way_for_plain_text_gives_what_the_parser_gives(text: str) -> None:
    assert markdown.render(text) == markdown.parse(text)


MARKS = [
    "*a*", "_a_", "`a`", "[a](/b)", "<http://a.test>", "> a", "# a", "~~a~~", "a\\\nb", "a  \nb",
    "- a", "+ a", "1. a", "a\n===", "&amp;", "a\n| - |", "    a", "a\tb", "x/y", "a\\*b",
]  # fmt: skip


@pytest.mark.parametrize("text", MARKS)
def test_every_mark_of_markdown_is_left_to_the_parser(text: str) -> None:
    assert markdown.render(text) == markdown.parse(text)


@pytest.mark.parametrize(
    ("text", "href", "shown"),
    [
        ("see /f/books.", "/f/books", "/f/books"),
        ("see f/books", "/f/books", "f/books"),
        ("ask u/anna_f!", "/user/anna_f", "u/anna_f"),
        ("/f/tea/12/which-pot?", "/f/tea/12/which-pot", "/f/tea/12/which-pot"),
        ("(http://a.test/b?c=d)", "http://a.test/b?c=d", "http://a.test/b?c=d"),
    ],
)
def test_forums_members_and_addresses_link_themselves(text: str, href: str, shown: str) -> None:
    html = markdown.render(text)
    assert [attributes["href"] for tag, attributes in Elements(html).found if tag == "a"] == [href]
    assert f">{shown}</a>" in html


@pytest.mark.parametrize("text", ["`/f/books`", "and/or", "half/f/full", "[a /f/books](/x)"])
def test_what_is_no_reference_is_left_alone(text: str) -> None:
    links = [
        attributes["href"]
        for tag, attributes in Elements(markdown.render(text)).found
        if tag == "a"
    ]
    assert links in ([], ["/x"])
