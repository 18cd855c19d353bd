"""What a locator wants read of a page, and what was seen there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import JsonValue


class ElementProperty(StrEnum):
    """A live property of an element, which no attribute shows."""

    VALUE = "value"
    CHECKED = "checked"
    SELECTED_INDEX = "selectedIndex"
    TEXT_CONTENT = "textContent"
    OUTER_HTML = "outerHTML"


class Spelling(StrEnum):
    """How what a script returns becomes text.

    `plain`: text stands as it is, each element of an array is a value, null and undefined are none,
    anything else is JSON; a script that throws finds nothing.

    `python`: one value, `str(page.evaluate(script))` of Playwright for Python, as WebArena compares
    it: `None`, `True`, `nan`, `['a', 1]`; empty where the script throws.
    """

    PLAIN = "plain"
    PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLook:
    """What is read of a page: a selector's matches, what a script returns, or the whole markup.

    Attributes:
        selector: CSS; each match yields its visible text, its `attribute` or `element_property`.
        script: an expression of JavaScript, evaluated in an isolated world: the page's DOM, and
            nothing of its variables and of what it overrides. A function is called, and a promise
            awaited.
        html: the document's markup as it is now, as Playwright's `page.content()` gives it.
        prep: scripts that are evaluated before, in their order; what they throw is passed over.
    """

    selector: str | None = None
    attribute: str | None = None
    element_property: ElementProperty | None = None
    script: str | None = None
    spelling: Spelling = Spelling.PLAIN
    html: bool = False
    prep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSeen:
    """What was read: values, and what else is kept of the look, such as what a script threw."""

    values: tuple[str, ...]
    data: Mapping[str, JsonValue] = field(default_factory=dict)
