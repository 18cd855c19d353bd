"""Reads a tab's accessibility tree, frames included, with stable ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from orchestrator.browser.observation import Node
from orchestrator.browser.tabs.cdp_channel import RefusedError
from orchestrator.browser.tabs.elements import ElementAddress, ElementIds
from orchestrator.browser.tabs.frames import Frame
from orchestrator.browser.tabs.tab import OpenTab

MAX_NODES: Final = 10_000
MAX_FRAMES: Final = 20
_TRIES: Final = 3

# Without a name these say nothing: their children take their place.
_TRANSPARENT = frozenset(
    {"none", "generic", "group", "rowgroup", "image", "LabelText", "Legend", "MenuListPopup"}
    | {"LayoutTable", "LayoutTableRow", "LayoutTableCell", "Section", "DescriptionList"}
    | {"SvgRoot", "Ruby"}
)
_DROPPED = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
# The inner parts of these fields are the browser's own.
_CLOSED = frozenset({"Date", "DateTime", "InputTime", "ColorWell"})
# Text boxes: a single text in one is shown as its name.
_TEXT_BOXES = frozenset(
    {"paragraph", "listitem", "term", "definition", "blockquote", "code", "strong", "emphasis"}
    | {"mark", "time", "caption", "Figcaption", "superscript", "subscript", "LabelText", "Legend"}
    | {"status", "alert", "Pre", "deletion", "insertion", "label"}
)
_STATES = (
    *("focused", "disabled", "checked", "pressed", "selected", "expanded", "required", "readonly"),
    *("invalid", "modal", "busy"),
)
# Shown when false too: that it can be switched is worth knowing.
_TWO_SIDED = frozenset({"checked", "pressed", "expanded"})


@dataclass(frozen=True, slots=True)
class Tree:
    """A page's accessibility tree; `was_cut` if the page had more nodes than are shown."""

    title: str
    nodes: tuple[Node, ...]
    was_cut: bool


class _Value(msgspec.Struct, frozen=True, gc=False):
    value: object = None


class _Property(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: _Value


class _AxNode(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """A node as the browser sends it."""

    node_id: str
    ignored: bool
    role: _Value = _Value()
    name: _Value = _Value()
    value: _Value = _Value()
    properties: tuple[_Property, ...] = ()
    child_ids: tuple[str, ...] = ()
    backend: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class _AxNodes(msgspec.Struct, frozen=True, gc=False):
    nodes: tuple[_AxNode, ...]


@dataclass(slots=True)
class _AxDocument:
    """One document's nodes as the browser sent them."""

    frame: Frame
    loader: str
    nodes: Mapping[str, _AxNode]
    root: _AxNode


@dataclass(frozen=True, slots=True)
class _PendingNode:
    """A node still to be visited; `said` is what its parent has shown already."""

    raw: _AxDocument
    node: _AxNode
    depth: int
    said: tuple[str, ...]


@dataclass(slots=True)
class _TreeWalk:
    """The walk over the merged tree; a page may nest deeper than Python calls."""

    tab: int
    ids: ElementIds
    by_owner: Mapping[int, _AxDocument]
    nodes: list[Node] = field(default_factory=list)
    was_cut: bool = False

    def read(self, main: _AxDocument) -> None:
        left = list(_inside(main, main.root, 0, ()))
        while left and not self.was_cut:
            one = left.pop()
            left.extend(self._visit(one))

    def _visit(self, one: _PendingNode) -> Iterator[_PendingNode]:
        """Show a node, and yield the descendants to visit, the last first."""
        raw, node, depth = one.raw, one.node, one.depth
        role = "" if node.ignored else str(node.role.value)
        if role in _DROPPED:
            return
        name = _one_line(node.name)
        if role == "StaticText" and (not name or name in one.said):
            return
        inner = self.by_owner.get(node.backend) if node.backend is not None else None
        if not role or (role in _TRANSPARENT and not name and inner is None):
            yield from _inside(raw, node, depth, one.said)
            return
        if not name and role in _TEXT_BOXES:
            name = _only_text(raw, node)
        value = _one_line(node.value)
        self._show(one, role, name, value)
        if inner is not None:
            yield from _inside(inner, inner.root, depth + 1, ())
        if role not in _CLOSED:
            yield from _inside(raw, node, depth + 1, (name, value))

    def _show(self, one: _PendingNode, role: str, name: str, value: str) -> None:
        if len(self.nodes) >= MAX_NODES:
            self.was_cut = True
            return
        if one.node.backend is None:
            return
        address = ElementAddress(self.tab, one.raw.frame.id, one.raw.loader, one.node.backend)
        found = {entry.name: entry.value.value for entry in one.node.properties}
        level, url = found.get("level"), found.get("url")
        shown = Node(
            id=self.ids.id_of(address),
            depth=one.depth,
            role=role,
            name=name,
            value=value or None,
            states=tuple(_states(found)) if found else (),
            level=level if isinstance(level, int) else None,
            url=url if isinstance(url, str) else None,
        )
        self.nodes.append(shown)


def _inside(
    raw: _AxDocument, node: _AxNode, depth: int, said: tuple[str, ...]
) -> Iterator[_PendingNode]:
    """Yield a node's children, the last first."""
    for child in reversed(_children(raw, node)):
        yield _PendingNode(raw, child, depth, said)


def _children(raw: _AxDocument, node: _AxNode) -> list[_AxNode]:
    found = (raw.nodes.get(child) for child in node.child_ids)
    return [child for child in found if child is not None]


def _one_line(said: _Value) -> str:
    """Return a text on one line; empty if there is none."""
    return " ".join(str(said.value).split()) if said.value else ""


def _only_text(raw: _AxDocument, node: _AxNode) -> str:
    """Return the text of a node that holds one text and nothing else, else ''."""
    while True:
        children = [child for child in _children(raw, node) if not _is_marker(child)]
        if len(children) != 1:
            return ""
        (node,) = children
        if not node.ignored:
            return _one_line(node.name) if node.role.value == "StaticText" else ""


def _is_marker(node: _AxNode) -> bool:
    return not node.ignored and node.role.value == "ListMarker"


def _states(found: Mapping[str, object]) -> Iterator[str]:
    for name in _STATES:
        value = found.get(name)
        if value in (None, "") or (value in (False, "false") and name not in _TWO_SIDED):
            continue
        if value in (True, "true"):
            yield name
        else:
            yield f"{name}={str(value).lower()}"


async def read_tree(tab: OpenTab, ids: ElementIds) -> Tree:
    """Read a page's accessibility tree, its frames merged in.

    One call for the page and one for each frame; nothing in the page is touched.
    """
    main = await _main_document(tab)
    by_owner = await _inner_documents(tab)
    reading = _TreeWalk(tab.number, ids, by_owner)
    reading.read(main)
    return Tree(_one_line(main.root.name), tuple(reading.nodes), reading.was_cut)


async def _main_document(tab: OpenTab) -> _AxDocument:
    """Read the main document; again if another one came meanwhile."""
    for _ in range(_TRIES):
        try:
            raw = await _document(tab, tab.frames.main)
        except RefusedError:
            continue
        if raw.loader == tab.frames.main.loader:
            return raw
    raise RefusedError(f"{tab.url} kept navigating while it was read")


async def _document(tab: OpenTab, frame: Frame) -> _AxDocument:
    loader = frame.loader
    asked = {"frameId": frame.id}
    sent = await tab.channel.send_for_bulk("Accessibility.getFullAXTree", asked, _AxNodes)
    if not sent.nodes:
        raise RefusedError("the document has no accessibility tree yet")
    return _AxDocument(frame, loader, {node.node_id: node for node in sent.nodes}, sent.nodes[0])


async def _inner_documents(tab: OpenTab) -> Mapping[int, _AxDocument]:
    found: dict[int, _AxDocument] = {}
    for frame in tab.frames.all()[1 : MAX_FRAMES + 1]:
        try:
            owner = await tab.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            found[owner["backendNodeId"]] = await _document(tab, frame)
        except RefusedError:
            continue  # the frame went away while the page was read
    return found
