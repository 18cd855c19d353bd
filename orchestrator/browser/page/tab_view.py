"""The current tab, as forms of observation read it."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena_core.errors import BrowserError
from arena_core.task_group import task_group
from orchestrator.browser.observation import UNNAMED, AxTree, Node, Picture
from orchestrator.browser.observations.axtree import tree_text
from orchestrator.browser.observations.forms import ObservationForm, PageSnapshot
from orchestrator.browser.page.axtree import Tree, read_tree
from orchestrator.browser.page.dom_capture import STYLES, DomCapture, capture
from orchestrator.browser.page.snapshot import build_snapshot
from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError
from orchestrator.browser.tabs.elements import ElementAddress, ElementIds
from orchestrator.browser.tabs.frames import Frame
from orchestrator.browser.tabs.tab import OpenTab

# Elements that are drawn or can be clicked but have no name: the accessibility tree lacks them.
# Icons made of a style sheet, coloured boxes, shapes of an SVG. Pages of MiniWoB++ are full of
# them, and what agents see there has always held tag, class, colour and box of every element.
_DRAWN = frozenset({"circle", "ellipse", "rect", "polygon", "path", "line", "text", "tspan"})
_WHOLE = frozenset({"html", "body", "svg"})
_CLEAR = "rgba(0, 0, 0, 0)"
_PICTURE = STYLES.index("background-image")


@dataclass(frozen=True, slots=True)
class _UnnamedElement:
    """An element, by its place in the document's order."""

    place: int
    backend: int
    name: str
    look: str


def with_unnamed(tab: OpenTab, ids: ElementIds, tree: Tree, captured: DomCapture) -> Tree:
    """Return a tree with the main document's unnamed elements inserted in their places.

    Each is a node of the role `unnamed`. Its name is tag, id and classes as CSS writes them; its
    value is `WIDTHxHEIGHT at LEFT,TOP` in CSS pixels of the document, and its colour if it has one.
    """
    frame = tab.frames.main
    document = _Document(captured)
    places = document.places()
    said = _named_backends(tree.nodes, ids)
    left = [found for found in document.unnamed() if found.backend not in said]
    nodes = [node for node in tree.nodes if node.name or node.role != "graphics-symbol"]
    at = [places.get(_backend(node, ids), -1) for node in nodes]
    merged: list[Node] = []
    for node, place in zip(nodes, at, strict=True):
        while left and place >= 0 and left[0].place < place:
            merged.append(_shown(left.pop(0), tab, frame, ids, node.depth))
        merged.append(node)
    merged.extend(_shown(found, tab, frame, ids, 0) for found in left)
    return replace(tree, nodes=tuple(merged))


def _named_backends(nodes: Sequence[Node], ids: ElementIds) -> frozenset[int]:
    """Return the elements that the tree shows; a shape without a name says nothing."""
    return frozenset(
        _backend(node, ids) for node in nodes if node.name or node.role != "graphics-symbol"
    )


def _backend(node: Node, ids: ElementIds) -> int:
    address = ids.address_of(node.id)
    return address.backend if address else -1


def _shown(found: _UnnamedElement, tab: OpenTab, frame: Frame, ids: ElementIds, depth: int) -> Node:
    address = ElementAddress(tab.number, frame.id, frame.loader, found.backend)
    return Node(id=ids.id_of(address), depth=depth, role=UNNAMED, name=found.name, value=found.look)


class _Document:
    def __init__(self, captured: DomCapture) -> None:
        self._strings = captured.strings
        document = captured.documents[0]
        self._nodes, self._layout = document.nodes, document.layout
        self._boxes = document.layout.first_boxes()

        kinds = self._nodes.node_type
        self._around = frozenset(
            parent for place, parent in enumerate(self._nodes.parent_index) if kinds[place] == 1
        )

    def places(self) -> Mapping[int, int]:
        return {backend: place for place, backend in enumerate(self._nodes.backend_node_id)}

    def unnamed(self) -> Iterator[_UnnamedElement]:
        """Yield what is visible and drawn, painted or clickable, in document order."""
        clickable = frozenset(self._nodes.is_clickable.index)
        for place, backend in enumerate(self._nodes.backend_node_id):
            tag = self._strings[self._nodes.node_name[place]].lower()
            if tag in _WHOLE or tag.startswith("#"):
                continue
            look = self._look(place)
            is_told = place in clickable or tag in _DRAWN or self._is_patch(place, look)
            if is_told and look is not None:
                yield _UnnamedElement(place, backend, self._name(place, tag), look)

    def _is_patch(self, place: int, look: str | None) -> bool:
        """Whether an element is painted and holds no other: a block, a colour sample."""
        if look is None or place in self._around:
            return False
        picture = self._strings[self._layout.styles[self._boxes[place]][_PICTURE]]
        return "rgb" in look or picture not in {"", "none"}

    def _name(self, place: int, tag: str) -> str:
        flat = [self._strings[at] for at in self._nodes.attributes[place]]
        given = dict(zip(flat[::2], flat[1::2], strict=True))
        own = f"#{given['id']}" if given.get("id") else ""
        classes = "".join(f".{name}" for name in given.get("class", "").split())
        corners = len(given["points"].split()) if given.get("points") else 0
        return f"{tag}{own}{classes}" + (f" of {corners} corners" if corners else "")

    def _look(self, place: int) -> str | None:
        """Return box and colour; None if nothing of it shows."""
        row = self._boxes.get(place)
        if row is None:
            return None
        left, top, width, height = self._layout.bounds[row]
        painted = [self._strings[at] if at >= 0 else "" for at in self._layout.styles[row]]
        if min(width, height) <= 0 or len(painted) < len(STYLES) or painted[2] != "visible":
            return None
        is_shape = self._strings[self._nodes.node_name[place]].lower() in _DRAWN
        colour = painted[1] if is_shape else painted[0]
        box = f"{width:.4g}x{height:.4g} at {left:.4g},{top:.4g}"
        return box if colour in {_CLEAR, "none"} else f"{box} {colour.replace(' ', '')}"


_SIZE: Final = struct.Struct(">II")  # width and height in a PNG's head
_SIZE_AT: Final = 16


class TabView:
    """Implements `ObservedPage` for one observation of a tab; everything is read once.

    If several forms want them, tree, snapshot and picture are read side by side, so that the
    browser makes one while another is read here. Ids are still given in one order: to the tree
    first, if a form asks for it, then to the snapshot.
    """

    def __init__(
        self,
        tab: OpenTab,
        ids: ElementIds,
        dialogs: Sequence[str],
        *,
        viewport: tuple[int, int],
        shows_unnamed: bool,
    ) -> None:
        self._tab = tab
        self._ids = ids
        self.dialogs = tuple(dialogs)
        self._viewport = viewport
        self._shows_unnamed = shows_unnamed
        self._tree: AxTree | None = None
        self._captured: DomCapture | None = None
        self._snapshot: PageSnapshot | None = None
        self._picture: Picture | None = None
        self._title: str | None = None
        self._reading_tree = asyncio.Lock()
        self._capturing = asyncio.Lock()
        self._taking = asyncio.Lock()

    @property
    def url(self) -> str:
        return self._tab.url

    async def parts(self, forms: Mapping[str, ObservationForm]) -> Mapping[str, object]:
        """Return each form's part by its name; all look at the same moment of the page."""
        async with task_group() as group:
            looks = {
                name: group.create_task(form.observe(self), name=f"observe {name}")
                for name, form in forms.items()
            }
        return {name: look.result() for name, look in looks.items()}

    async def axtree(self) -> AxTree:
        async with self._reading_tree:
            if self._tree is None:
                self._tree = await self._read_tree()
            return self._tree

    async def snapshot(self) -> PageSnapshot:
        await self._capture()
        async with self._reading_tree:
            if self._snapshot is None:
                captured = await self._capture()
                self._snapshot = build_snapshot(captured, self._tab, self._ids, self._viewport)
            return self._snapshot

    async def picture(self) -> Picture:
        async with self._taking:
            if self._picture is None:
                self._picture = await self._take()
            return self._picture

    async def title(self) -> str:
        """Return the document's title: the tree's if it was read."""
        return await title_of(self._tab) if self._title is None else self._title

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        try:
            return await self._tab.channel.send(method, parameters)
        except RefusedError as refused:
            raise BrowserError(f"the browser refuses {method}: {refused}") from refused

    async def _read_tree(self) -> AxTree:
        if self._shows_unnamed:
            async with task_group() as group:
                reading = group.create_task(read_tree(self._tab, self._ids))
                capturing = group.create_task(self._capture())
            tree = with_unnamed(self._tab, self._ids, reading.result(), capturing.result())
        else:
            tree = await read_tree(self._tab, self._ids)
        self._title = tree.title
        return AxTree(tree.nodes, tree_text(tree.nodes, self.dialogs, was_cut=tree.was_cut))

    async def _capture(self) -> DomCapture:
        """Capture the current document: again if another one has come since."""
        async with self._capturing:
            found = self._captured
            if found is None or found.loader != self._tab.frames.main.loader:
                found = self._captured = await capture(self._tab)
            return found

    async def _take(self) -> Picture:
        asked = {"format": "png", "optimizeForSpeed": True}
        reply = await self.call("Page.captureScreenshot", asked)
        taken = picture_of(base64.b64decode(reply["data"]))
        if (taken.width, taken.height) != self._viewport:
            sizes = f"{taken.width}x{taken.height} for a viewport of {self._viewport}"
            raise BrowserError(f"the browser's picture is {sizes}: its device scale is not 1")
        return taken


def picture_of(png: bytes) -> Picture:
    width, height = _SIZE.unpack_from(png, _SIZE_AT)
    return Picture(png, width, height)


async def title_of(tab: OpenTab) -> str:
    """Return a tab's title; empty while it navigates."""
    try:
        return await tab.title()
    except (RefusedError, PageGoneError):
        return ""
