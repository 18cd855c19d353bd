"""What browsers know: CSS selectors and accessible roles, judged without a browser."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

_NOT_CSS: Final = ("/", "..", "xpath=", "text=", "css=", "role=", "id=", "internal:")
_PLAYWRIGHT_ONLY: Final = (":has-text(", ":text(", ":text-is(", ":visible", ":nth-match(", ">>")
_QUOTED: Final = re.compile(r"\\.|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
# What browsers take and soupsieve, which matches documents and not pages, does not.
_OF_BROWSERS: Final = re.compile(
    r"(?<!\\)(?:::[\w-]+(?:\([^()]*\))?|:-(?:webkit|moz|internal)-[\w-]+"
    r"|:(?:after|before|first-letter|first-line|invalid|modal|state\([^()]*\)|user-invalid"
    r"|user-valid|valid)(?![\w-]))"
)
# What soupsieve takes and browsers do not: its own pseudo-classes, jQuery's `!=`, namespaces.
_OF_SOUPSIEVE: Final = re.compile(r":(?:-soup-)?contains(?:-own)?(?=\()|!=|[\w-]\|(?!=)")
_HINTS: Final = {
    "Malformed attribute": "write [attribute] or [attribute='value'], the value in quotes",
    "Malformed class": "a class begins with a letter, '-' or '_'",
    "Malformed id": "an id begins with a letter, '-' or '_'",
}

# WAI-ARIA 1.2 with its digital-publishing and graphics modules, and Chromium's own.
ROLES: Final = frozenset(
    (
        *("alert", "alertdialog", "application", "article", "banner", "blockquote", "button"),
        *("caption", "cell", "checkbox", "code", "columnheader", "combobox", "comment"),
        *("complementary", "contentinfo", "definition", "deletion", "dialog", "directory"),
        *("document", "emphasis", "feed", "figure", "form", "generic", "grid", "gridcell"),
        *("group", "heading", "image", "img", "insertion", "link", "list", "listbox", "listitem"),
        *("log", "main", "mark", "marquee", "math", "menu", "menubar", "menuitem"),
        *("menuitemcheckbox", "menuitemradio", "meter", "navigation", "none", "note", "option"),
        *("paragraph", "presentation", "progressbar", "radio", "radiogroup", "region", "row"),
        *("rowgroup", "rowheader", "scrollbar", "search", "searchbox", "separator", "slider"),
        *("spinbutton", "status", "strong", "subscript", "suggestion", "superscript", "switch"),
        *("tab", "table", "tablist", "tabpanel", "term", "textbox", "time", "timer", "toolbar"),
        *("tooltip", "tree", "treegrid", "treeitem", "label", "unnamed", "RootWebArea"),
        *("StaticText", "LabelText", "Legend", "Date", "DateTime", "InputTime", "ColorWell"),
        *("MenuListPopup", "DisclosureTriangle", "DisclosureTriangleGrouped", "Details", "Summary"),
        *("Canvas", "Video", "Audio", "Iframe", "IframePresentational", "EmbeddedObject"),
        *("PluginObject", "Figcaption", "Pre", "Abbr", "Section", "SvgRoot", "Ruby", "Footer"),
        *("DescriptionList", "DescriptionListTerm", "DescriptionListDetail", "LayoutTable"),
        *("LayoutTableRow", "LayoutTableCell", "ImageMap", "Legend", "Dialog", "Popover"),
        *("sectionheader", "sectionfooter", "graphics-document", "graphics-object"),
        *("graphics-symbol", "HeaderAsNonLandmark", "FooterAsNonLandmark"),
    )
)


def selector_fault(selector: str) -> str | None:
    """Say what keeps text from being a CSS selector; None where nothing is seen.

    A page's own `querySelectorAll` has the last word. This finds what people write by mistake:
    XPath, the engines and pseudo-classes of testing tools, and whatever breaks CSS's grammar.
    """
    text = selector.strip()
    if not text:
        return "the selector is empty"
    fault = _foreign(text) or _grammar_fault(text)
    return f"'{text}' is no CSS selector: {fault}" if fault else None


def _foreign(text: str) -> str | None:
    for mark in _NOT_CSS:
        if text.startswith(mark):
            return f"CSS does not begin with '{mark}'"
    found = _OF_SOUPSIEVE.search(_QUOTED.sub("_", text))
    known = next((mark for mark in _PLAYWRIGHT_ONLY if mark in text), found and found[0])
    return f"browsers do not know '{known}'" if known else None


def _grammar_fault(text: str) -> str | None:
    from bs4 import BeautifulSoup  # noqa: PLC0415  only where a suite is linted
    from soupsieve import SelectorSyntaxError  # noqa: PLC0415

    try:
        BeautifulSoup("", "html.parser").css.compile(_OF_BROWSERS.sub(":root", text))
    except SelectorSyntaxError as error:
        said = str(error).splitlines()[0].partition(". If the syntax")[0]
        hint = next((hint for kind, hint in _HINTS.items() if said.startswith(kind)), "")
        return f"{said[:1].lower()}{said[1:]}" + (f" ({hint})" if hint else "")
    except (NotImplementedError, RecursionError):
        return "it is nested too deeply, or holds what no selector of a page does"
    return None


def role_doubt(role: str) -> str | None:
    """Say that no browser gives a role that is called so; None where one does."""
    if role in ROLES or role.startswith("doc-"):
        return None
    near = ", ".join(get_close_matches(role, ROLES) or ("button", "link", "textbox"))
    return f"'{role}' is no accessible role that browsers give: such are {near}"
