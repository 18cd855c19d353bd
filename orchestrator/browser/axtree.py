"""The accessibility tree as an agent reads it: one line a node, ids that stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.elements import ElementAddress, ElementIds
from orchestrator.browser.frames import Frame
from orchestrator.browser.tabs import OpenTab
from orchestrator.observation import Node

MAX_NODES = 10_000
MAX_FRAMES = 20
_TRIES = 3

# Says nothing by itself where it has no name: its children stand in its place.
_TRANSPARENT = frozenset(
    {"none", "generic", "group", "rowgroup", "image", "LabelText", "Legend", "MenuListPopup"}
    | {"LayoutTable", "LayoutTableRow", "LayoutTableCell", "Section", "DescriptionList"}
    | {"SvgRoot", "Ruby"}
)
_DROPPED = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
# Fields whose inner parts are the browser's own.
_CLOSED = frozenset({"Date", "DateTime", "InputTime", "ColorWell"})
# Boxes for text: where one holds a single text, that is shown as its name.
_TEXT_BOXES = frozenset(
    {"paragraph", "listitem", "term", "definition", "blockquote", "code", "strong", "emphasis"}
    | {"mark", "time", "caption", "Figcaption", "superscript", "subscript", "LabelText", "Legend"}
    | {"status", "alert", "Pre", "deletion", "insertion", "label"}
)
_STATES = (
    ("focused", "focused"),
    ("disabled", "disabled"),
    ("checked", "checked"),
    ("pressed", "pressed"),
    ("selected", "selected"),
    ("expanded", "expanded"),
    ("required", "required"),
    ("readonly", "readonly"),
    ("invalid", "invalid"),
    ("modal", "modal"),
    ("busy", "busy"),
)
# Shown when false, too: that it can be switched is worth knowing.
_TWO_SIDED = frozenset({"checked", "pressed", "expanded"})


@dataclass(frozen=True, slots=True)
class Tree:
    """A page's accessibility tree.

    Attributes:
        was_cut: the page had more nodes than are shown.
    """

    title: str
    nodes: tuple[Node, ...]
    was_cut: bool


def _one_line(text: str) -> str:
    return " ".join(text.split())


@dataclass(slots=True)
class _Raw:
    """One document's nodes as the browser sent them."""

    frame: Frame
    loader: str
    nodes: Mapping[str, Reply]
    root: Reply


@dataclass(slots=True)
class _Reading:
    """The walk over the merged tree."""

    tab: int
    ids: ElementIds
    by_owner: Mapping[int, _Raw]
    nodes: list[Node] = field(default_factory=list)
    was_cut: bool = False

    def walk(self, raw: _Raw, node: Reply, depth: int, said: tuple[str, ...]) -> None:
        for child in _children(raw, node):
            if self.was_cut:
                return
            self._visit(raw, child, depth, said)

    def _visit(self, raw: _Raw, node: Reply, depth: int, said: tuple[str, ...]) -> None:
        role = "" if node["ignored"] else str(node["role"]["value"])
        if role in _DROPPED:
            return
        name = _one_line(str(node.get("name", {}).get("value", "")))
        if role == "StaticText" and (not name or name in said):
            return
        inner = self.by_owner.get(node.get("backendDOMNodeId", -1))
        if not role or (role in _TRANSPARENT and not name and inner is None):
            self.walk(raw, node, depth, said)
            return
        if not name and role in _TEXT_BOXES:
            name = _only_text(raw, node)
        value = _one_line(str(node.get("value", {}).get("value") or ""))
        self._show(raw, node, depth, (role, name, value))
        if role not in _CLOSED:
            self.walk(raw, node, depth + 1, (name, value))
        if inner is not None:
            self.walk(inner, inner.root, depth + 1, ())

    def _show(self, raw: _Raw, node: Reply, depth: int, said: tuple[str, str, str]) -> None:
        if len(self.nodes) >= MAX_NODES:
            self.was_cut = True
            return
        backend = node.get("backendDOMNodeId")
        if backend is None:
            return
        role, name, value = said
        address = ElementAddress(self.tab, raw.frame.id, raw.loader, backend)
        shown = Node(
            id=self.ids.id_of(address),
            depth=depth,
            role=role,
            name=name,
            value=value or None,
            states=tuple(_states(node)),
            level=_property(node, "level"),
            url=_property(node, "url"),
        )
        self.nodes.append(shown)


def _children(raw: _Raw, node: Reply) -> Iterator[Reply]:
    for child_id in node.get("childIds", ()):
        child = raw.nodes.get(child_id)
        if child is not None:
            yield child


def _only_text(raw: _Raw, node: Reply) -> str:
    """Return the text of a node that holds one text and nothing else, '' otherwise."""
    children = [child for child in _children(raw, node) if not _is_marker(child)]
    if len(children) != 1:
        return ""
    (only,) = children
    if only["ignored"]:
        return _only_text(raw, only)
    if only["role"]["value"] != "StaticText":
        return ""
    return _one_line(str(only.get("name", {}).get("value", "")))


def _is_marker(node: Reply) -> bool:
    return not node["ignored"] and node["role"]["value"] == "ListMarker"


def _states(node: Reply) -> Iterator[str]:
    found = {entry["name"]: entry["value"].get("value") for entry in node.get("properties", ())}
    for name, shown in _STATES:
        value = found.get(name)
        if value in (None, "") or (value in (False, "false") and name not in _TWO_SIDED):
            continue
        if value in (True, "true"):
            yield shown
        else:
            yield f"{shown}={str(value).lower()}"


def _property(node: Reply, name: str) -> Any:
    for entry in node.get("properties", ()):
        if entry["name"] == name:
            return entry["value"].get("value")
    return None


async def read_tree(tab: OpenTab, ids: ElementIds) -> Tree:
    """Read a page's accessibility tree, its frames merged in.

    One call for the page and one for each frame; nothing in the page is touched.

    Raises:
        RefusedError: the page kept navigating while it was read.
    """
    main = await _main_document(tab)
    by_owner = await _inner_documents(tab)
    reading = _Reading(tab.number, ids, by_owner)
    reading.walk(main, main.root, 0, ())
    title = _one_line(str(main.root.get("name", {}).get("value", "")))
    return Tree(title, tuple(reading.nodes), reading.was_cut)


async def _main_document(tab: OpenTab) -> _Raw:
    """Read the main document; again where another one came while it was read."""
    for _ in range(_TRIES):
        try:
            raw = await _document(tab, tab.frames.main)
        except RefusedError:
            continue
        if raw.loader == tab.frames.main.loader:
            return raw
    message = f"{tab.url} kept navigating while it was read"
    raise RefusedError(message)


async def _document(tab: OpenTab, frame: Frame) -> _Raw:
    loader = frame.loader
    reply = await tab.channel.send_for_bulk("Accessibility.getFullAXTree", {"frameId": frame.id})
    nodes: list[Reply] = reply["nodes"]
    if not nodes:
        message = "the document has no accessibility tree yet"
        raise RefusedError(message)
    return _Raw(frame, loader, {node["nodeId"]: node for node in nodes}, nodes[0])


async def _inner_documents(tab: OpenTab) -> Mapping[int, _Raw]:
    found: dict[int, _Raw] = {}
    for frame in tab.frames.all()[1 : MAX_FRAMES + 1]:
        try:
            owner = await tab.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            found[owner["backendNodeId"]] = await _document(tab, frame)
        except RefusedError:
            continue  # the frame went away while the page was read: it has nothing to show
    return found
