"""The accessible roles that browsers give to elements, as observations name them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

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


def role_doubt(role: str) -> str | None:
    """Say that no browser gives a role that is called so; None where one does."""
    if role in ROLES or role.startswith("doc-"):
        return None
    near = ", ".join(get_close_matches(role, ROLES) or ("button", "link", "textbox"))
    return f"'{role}' is no accessible role that browsers give: such are {near}"
