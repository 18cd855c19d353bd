"""Which elements of a page can be acted on: those that carry an id in markup and on pictures.

By what they are (a link, a button, a field, a frame), by their role, by being reached with the
keyboard, or by listening to clicks. AutoWebGLM's marker decides alike; unlike there, an element
outside the viewport has its id too, and nothing is written into the page.
"""

from __future__ import annotations

from typing import Final

from orchestrator.observation_forms import PageNode

_TAGS: Final = frozenset(
    {"button", "select", "textarea", "summary", "iframe", "video", "audio", "embed", "object"}
)
_ROLES: Final = frozenset(
    {"button", "link", "checkbox", "radio", "switch", "tab", "option", "combobox", "listbox"}
    | {"textbox", "searchbox", "spinbutton", "slider", "scrollbar", "treeitem", "gridcell"}
    | {"menuitem", "menuitemcheckbox", "menuitemradio"}
)
_WHOLE: Final = frozenset({"html", "body", "#document", "#text", "#shadow-root"})


def is_control(node: PageNode) -> bool:
    """Whether an element is made to be acted on, whatever scripts listen to."""
    tag, given = node.tag, node.attributes
    if tag in _WHOLE:
        return False
    if tag == "input":
        return given.get("type", "").lower() != "hidden"
    if tag in _TAGS:
        return True
    if tag in {"a", "area"}:
        return "href" in given
    if given.get("role", "").lower() in _ROLES:
        return True
    editable = given.get("contenteditable")
    return (editable is not None and editable.lower() != "false") or _takes_focus(
        given.get("tabindex")
    )


def may_listen(node: PageNode) -> bool:
    """Whether it is an element whose listening to clicks says something: no whole page's is."""
    return node.tag not in _WHOLE


def _takes_focus(tabindex: str | None) -> bool:
    return tabindex is not None and tabindex.strip().isdigit()
