"""The accessibility tree as YAML: every text stays one scalar of its line."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.browser.observation import Node
from orchestrator.browser.observations.axtree import aria_text

WORDS = st.text(st.characters(codec=None), max_size=40).map(lambda text: " ".join(text.split()))


def node(number: int, depth: int, role: str, name: str = "", **more: Any) -> Node:
    return Node(id=number, depth=depth, role=role, name=name, **more)


def test_it_reads_as_playwright_mcp_shows_a_page() -> None:
    nodes = [
        node(1, 0, "heading", "Kettles", level=1),
        node(2, 0, "paragraph"),
        node(3, 1, "StaticText", "Some"),
        node(4, 1, "StaticText", "words"),
        node(5, 1, "link", "here", url="http://shop.test/x"),
        node(6, 0, "textbox", "Name", value="Ada", states=("focused",)),
        node(7, 0, "checkbox", "Gift", states=("checked",)),
        node(8, 0, "combobox", "Size", value="Large", states=("expanded=false",)),
        node(9, 1, "option", "Large", states=("selected",)),
        node(10, 0, "listitem", "one"),
        node(11, 0, "Iframe"),
        node(12, 1, "button", "- x: y", states=("disabled", "pressed")),
        node(13, 0, "MarkListPopup"),
        node(14, 0, "checkbox", "All", states=("checked=mixed",)),
    ]
    assert aria_text(nodes, ['alert "Hi"']).splitlines() == [
        '# dialog: alert \\"Hi\\"',
        '- heading "Kettles" [level=1] [ref=e1]',
        "- paragraph [ref=e2]:",
        "  - text: Some words",
        '  - link "here" [ref=e5]:',
        "    - /url: http://shop.test/x",
        '- textbox "Name" [active] [ref=e6]: Ada',
        '- checkbox "Gift" [checked] [ref=e7]',
        '- combobox "Size" [ref=e8]:',
        '  - option "Large" [selected] [ref=e9]',
        "- listitem [ref=e10]: one",
        "- iframe [ref=e11]:",
        "  - 'button \"- x: y\" [disabled] [pressed] [ref=e12]'",
        "- generic [ref=e13]",
        '- checkbox "All" [checked=mixed] [ref=e14]',
    ]


@given(WORDS, WORDS, WORDS)
@example("a \"b\" 'c'", "- - : #", "\x85\x07\u2028\ud800\ufffe")
@example("yes", "0x1F", "- [ref=e9] button")
@example("=", "{a: b}", "`x`\\")
def test_no_text_of_a_page_breaks_out_of_its_line(name: str, value: str, text: str) -> None:
    nodes = [
        node(1, 0, "button", name),
        node(2, 0, "textbox", "T", value=value or None),
        node(3, 0, "listitem", text),
        node(4, 0, "paragraph"),
        node(5, 1, "StaticText", text or "x"),
        node(6, 1, "link", name, url=value),
    ]
    written = aria_text(nodes, [name])
    items = yaml.load(written, yaml.BaseLoader)  # noqa: S506 - strings alone
    assert len(items) == 4
    button, field, item, paragraph = items
    assert button.startswith("button")
    assert button.endswith("[ref=e1]")
    shown = {'textbox "T" [ref=e2]': value} if value else 'textbox "T" [ref=e2]'
    assert field == shown
    assert item == ({"listitem [ref=e3]": text} if text else "listitem [ref=e3]")
    inner = paragraph["paragraph [ref=e4]"]
    assert inner[0] == {"text": text or "x"}
    assert list(inner[1].values()) == [[{"/url": value}]]
