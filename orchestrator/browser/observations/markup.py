"""The page's markup as it is now, with the ids of what can be acted on."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from orchestrator.browser.observation import Html
from orchestrator.browser.observations.forms import ObservationForm, ObservedPage, PageNode

ID_ATTRIBUTE: Final = "arena"
LONGEST_VALUE: Final = 300  # letters of an attribute; longer values are embedded files
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track"}
    | {"wbr"}
)
# Code, not text: these elements are shown empty.
_UNREAD: Final = frozenset({"script", "style", "noscript", "template"})


class HtmlForm:
    """The markup of the page, its frames and its shadow roots.

    Fields have their present values. Comments, scripts and style sheets are left out; values of
    more than 300 letters are cut.
    """

    async def observe(self, page: ObservedPage) -> Html:
        return await _html(page, only_shown=False)

    async def observe_viewport(self, page: ObservedPage) -> Html:
        return await _html(page, only_shown=True)


HTML_FORM: Final[ObservationForm] = HtmlForm()


async def _html(page: ObservedPage, *, only_shown: bool) -> Html:
    snapshot = await page.snapshot()
    shown = visible_with_ancestors(snapshot.root) if only_shown else None
    said = [f"<!-- dialog: {line.replace('--', '- -')} -->\n" for line in page.dialogs]
    return Html("".join([*said, *_printed(snapshot.root, shown)]))


def visible_with_ancestors(root: PageNode) -> frozenset[int]:
    """Return what the viewport shows, with its ancestors, by the nodes' identity.

    A node that is not drawn itself, such as an option of a closed list, goes with its parent.
    """
    held: set[int] = set()
    left: list[tuple[PageNode, bool]] = [(root, False)]
    while left:
        node, is_around_shown = left.pop()
        is_shown = node.shown is not None if node.rect is not None else is_around_shown
        if is_shown and (node.rect is not None or node.parent is not None):
            above: PageNode | None = node
            while above is not None and id(above) not in held:
                held.add(id(above))
                above = above.parent
        left += [(child, is_shown) for child in node.children]
    held.add(id(root))
    return frozenset(held)


def _printed(root: PageNode, shown: frozenset[int] | None) -> Iterator[str]:
    """Yield the pieces of the markup; a page may nest deeper than Python calls."""
    left: list[PageNode | str] = [root]
    while left:
        node = left.pop()
        if isinstance(node, str):
            yield node
            continue
        if shown is not None and id(node) not in shown:
            continue
        opening, closing = _tags(node)
        yield opening
        left.append(closing)
        if node.tag not in _UNREAD:
            left.extend(reversed(node.children))


def _tags(node: PageNode) -> tuple[str, str]:
    match node.tag:
        case "#text":
            return escape(node.text, quote=False), ""
        case "#document":
            return "", ""
        case "#shadow-root":
            mode = escape(node.attributes.get("mode", "open"))
            return f'<template shadowrootmode="{mode}">', "</template>"
        case "textarea":
            value = escape(node.attributes.get("value", ""), quote=False)
            return f"<textarea{_attributes(node)}>{value}", "</textarea>"
        case tag:
            return f"<{tag}{_attributes(node)}>", "" if tag in _VOID else f"</{tag}>"


def _attributes(node: PageNode) -> str:
    given = {
        name: value
        for name, value in node.attributes.items()
        if name != ID_ATTRIBUTE and not (node.tag == "textarea" and name == "value")
    }
    if node.id is not None:
        given = {ID_ATTRIBUTE: str(node.id)} | given
    return "".join(
        f' {name}="{escape(short(value))}"' if value else f" {name}"
        for name, value in given.items()
    )


def short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…"
