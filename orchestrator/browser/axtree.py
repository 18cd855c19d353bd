"""The accessibility tree as an agent reads it: one line a node, ids that stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from orchestrator.browser.cdp_channel import RefusedError
from orchestrator.browser.elements import ElementAddress, ElementIds
from orchestrator.browser.frames import Frame
from orchestrator.browser.tabs import OpenTab
from orchestrator.observation import Node

MAX_NODES: Final = 10_000
MAX_FRAMES: Final = 20
_TRIES: Final = 3

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


class _Value(msgspec.Struct, frozen=True, gc=False):
    """A value of the protocol, whatever type it says it has."""

    value: object = None


class _Property(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: _Value


class _Sent(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """What is read of a node as the browser sends it."""

    node_id: str
    ignored: bool
    role: _Value = _Value()
    name: _Value = _Value()
    value: _Value = _Value()
    properties: tuple[_Property, ...] = ()
    child_ids: tuple[str, ...] = ()
    backend: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class _SentTree(msgspec.Struct, frozen=True, gc=False):
    nodes: tuple[_Sent, ...]


@dataclass(slots=True)
class _Raw:
    """One document's nodes as the browser sent them."""

    frame: Frame
    loader: str
    nodes: Mapping[str, _Sent]
    root: _Sent


@dataclass(frozen=True, slots=True)
class _Left:
    """A node that is still to be visited.

    Attributes:
        said: what the node around it has shown already.
    """

    raw: _Raw
    node: _Sent
    depth: int
    said: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """The walk over the merged tree; a page may nest deeper than Python calls."""

    tab: int
    ids: ElementIds
    by_owner: Mapping[int, _Raw]
    nodes: list[Node] = field(default_factory=list)
    was_cut: bool = False

    def read(self, main: _Raw) -> None:
        left = list(_inside(main, main.root, 0, ()))
        while left and not self.was_cut:
            one = left.pop()
            left.extend(self._visit(one))

    def _visit(self, one: _Left) -> Iterator[_Left]:
        """Show a node, and yield what of it is to be visited, the last first."""
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

    def _show(self, one: _Left, role: str, name: str, value: str) -> None:
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


def _inside(raw: _Raw, node: _Sent, depth: int, said: tuple[str, ...]) -> Iterator[_Left]:
    """Yield what is right in a node, the last first."""
    for child in reversed(_children(raw, node)):
        yield _Left(raw, child, depth, said)


def _children(raw: _Raw, node: _Sent) -> list[_Sent]:
    found = (raw.nodes.get(child) for child in node.child_ids)
    return [child for child in found if child is not None]


def _one_line(said: _Value) -> str:
    """Return a text on one line; what is not there, or says nothing, is empty."""
    return " ".join(str(said.value).split()) if said.value else ""


def _only_text(raw: _Raw, node: _Sent) -> str:
    """Return the text of a node that holds one text and nothing else, '' otherwise."""
    while True:
        children = [child for child in _children(raw, node) if not _is_marker(child)]
        if len(children) != 1:
            return ""
        (node,) = children
        if not node.ignored:
            return _one_line(node.name) if node.role.value == "StaticText" else ""


def _is_marker(node: _Sent) -> bool:
    return not node.ignored and node.role.value == "ListMarker"


def _states(found: Mapping[str, object]) -> Iterator[str]:
    for name, shown in _STATES:
        value = found.get(name)
        if value in (None, "") or (value in (False, "false") and name not in _TWO_SIDED):
            continue
        if value in (True, "true"):
            yield shown
        else:
            yield f"{shown}={str(value).lower()}"


async def read_tree(tab: OpenTab, ids: ElementIds) -> Tree:
    """Read a page's accessibility tree, its frames merged in.

    One call for the page and one for each frame; nothing in the page is touched.

    Raises:
        RefusedError: the page kept navigating while it was read.
    """
    main = await _main_document(tab)
    by_owner = await _inner_documents(tab)
    reading = _Reading(tab.number, ids, by_owner)
    reading.read(main)
    return Tree(_one_line(main.root.name), tuple(reading.nodes), reading.was_cut)


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
    asked = {"frameId": frame.id}
    sent = await tab.channel.send_for_bulk("Accessibility.getFullAXTree", asked, _SentTree)
    if not sent.nodes:
        message = "the document has no accessibility tree yet"
        raise RefusedError(message)
    return _Raw(frame, loader, {node.node_id: node for node in sent.nodes}, sent.nodes[0])


async def _inner_documents(tab: OpenTab) -> Mapping[int, _Raw]:
    found: dict[int, _Raw] = {}
    for frame in tab.frames.all()[1 : MAX_FRAMES + 1]:
        try:
            owner = await tab.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            found[owner["backendNodeId"]] = await _document(tab, frame)
        except RefusedError:
            continue  # the frame went away while the page was read: it has nothing to show
    return found
