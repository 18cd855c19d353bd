"""The page with its layout in one read: what markup, boxes and pictures are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.elements import ElementAddress, ElementIds
from orchestrator.browser.tabs import OpenTab
from orchestrator.observation import PageNode, PageSnapshot, Rect
from orchestrator.observations.actionable import is_control, may_listen

# The first three are what `unnamed` reads.
STYLES: Final = (
    *("background-color", "fill", "visibility", "cursor", "position", "overflow-x", "overflow-y"),
    *("pointer-events", "transform", "padding-left", "padding-top", "padding-right"),
    *("padding-bottom", "background-image"),
)
_VISIBILITY, _CURSOR, _POSITION, _OVER_X, _OVER_Y, _POINTER, _TRANSFORM, _PADDING = range(2, 10)
_ELEMENT, _TEXT, _DOCUMENT, _FRAGMENT = 1, 3, 9, 11
_OPEN: Final = frozenset({"visible", ""})


async def capture(tab: OpenTab) -> Reply:
    """Return the browser's snapshot of all documents in a tab, styles and painting order included.

    Raises:
        RefusedError: the document went away meanwhile.
    """
    asked = {"computedStyles": list(STYLES), "includePaintOrder": True, "includeDOMRects": True}
    return await tab.channel.send_for_bulk("DOMSnapshot.captureSnapshot", asked)


def build_snapshot(
    raw: Reply, tab: OpenTab, ids: ElementIds, viewport: tuple[int, int]
) -> PageSnapshot:
    """Return a snapshot as a tree, frames and shadow roots in their places.

    What can be acted on and is drawn gets its id.

    Raises:
        RefusedError: the browser sent no document.
    """
    if not raw["documents"]:
        message = "the page has no document yet"
        raise RefusedError(message)
    reading = _Reading(raw, tab, ids)
    window = Rect(0.0, 0.0, float(viewport[0]), float(viewport[1]))
    main = raw["documents"][0]
    root = reading.document(0, _Place(0.0, 0.0, 1.0, window))

    def find(element: int) -> PageNode | None:
        address = ids.address_of(element)
        if address is None or address.tab != tab.number:
            return None
        return reading.by_backend.get(address.backend)

    return PageSnapshot(
        root=root,
        viewport=window,
        scrolled=float(main.get("scrollOffsetY", 0)),
        height=float(main.get("contentHeight", viewport[1])),
        find=find,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document lies in the viewport.

    Attributes:
        x, y: of its own viewport's corner.
        scale: how many CSS pixels of the window one of its own is.
        clip: what can be seen of it at most.
    """

    x: float
    y: float
    scale: float
    clip: Rect | None


@dataclass(frozen=True, slots=True)
class _Clips:
    """What cuts a node's descendants off, by how these are positioned.

    Attributes:
        flow: those in the flow of the text; `placed` the absolutely positioned ones, `fixed` the
            fixed ones. None where nothing of them can be seen.
    """

    flow: Rect | None
    placed: Rect | None
    fixed: Rect | None

    def of(self, position: str) -> Rect | None:
        match position:
            case "fixed":
                return self.fixed
            case "absolute":
                return self.placed
            case _:
                return self.flow


class _Reading:
    """The way through the columns of a snapshot."""

    def __init__(self, raw: Reply, tab: OpenTab, ids: ElementIds) -> None:
        self._documents: Sequence[Reply] = raw["documents"]
        self.strings: Sequence[str] = raw["strings"]
        self._tab = tab
        self._ids = ids
        self.by_backend: dict[int, PageNode] = {}

    def document(self, at: int, place: _Place) -> PageNode:
        """Return a document with all that is in it."""
        return _Document(self, self._documents[at], place).read()

    def give_id(self, node: PageNode, frame: str, backend: int) -> None:
        """Give an element its id; an element of a frame that is just going away gets none."""
        known = self._tab.frames.get(frame)
        if known is not None:
            address = ElementAddress(self._tab.number, frame, known.loader, backend)
            node.id = self._ids.id_of(address)


class _Document:
    """One document of a snapshot."""

    def __init__(self, reading: _Reading, document: Reply, place: _Place) -> None:
        self._reading = reading
        self._strings = reading.strings
        self._frame = self._strings[document["frameId"]]
        self._place = place
        self._scroll = (document.get("scrollOffsetX", 0), document.get("scrollOffsetY", 0))
        self._nodes: Reply = document["nodes"]
        self._layout: Reply = document["layout"]
        self._boxes = {
            node: at for at, node in reversed(list(enumerate(self._layout["nodeIndex"])))
        }
        self._listening = frozenset(self._nodes["isClickable"]["index"])
        self._frames = _sparse(self._nodes["contentDocumentIndex"])
        self._shadows = _sparse(self._nodes["shadowRootType"])
        self._values = _sparse(self._nodes["inputValue"])
        self._texts = _sparse(self._nodes["textValue"])
        self._checked = frozenset(self._nodes["inputChecked"]["index"])
        self._selected = frozenset(self._nodes["optionSelected"]["index"])
        self._marked: dict[int, PageNode] = {}
        self._pseudo = frozenset(self._nodes["pseudoType"]["index"])

    def read(self) -> PageNode:
        """Return the document's tree; parents come before their children in the columns."""
        made: dict[int, PageNode] = {}
        clips: dict[int, _Clips] = {}
        pointers: dict[int, bool] = {}
        clip = self._place.clip
        whole = _Clips(clip, clip, clip)
        root = PageNode(tag="#document")
        for at, above in enumerate(self._nodes["parentIndex"]):
            parent = made.get(above)
            if above < 0:
                made[at] = root
                clips[at] = whole
                self._reading.by_backend[self._nodes["backendNodeId"][at]] = root
                continue
            if parent is None or not self._is_of_the_page(at):
                continue
            node = self._node(at)
            node.parent = parent
            parent.children.append(node)
            made[at] = node
            self._reading.by_backend[self._nodes["backendNodeId"][at]] = node
            clips[at] = self._lay(at, node, clips[above])
            points = self._style(at, _CURSOR) == "pointer"
            pointers[at] = points
            self._mark(at, node, starts_pointer=points and not pointers.get(above, False))
            self._enter_frame(at, node)
        self._give_ids()
        return root

    def _is_of_the_page(self, at: int) -> bool:
        """Whether a node is the page's own: no comment, and nothing inside a browser's field."""
        kind = self._nodes["nodeType"][at]
        if kind not in {_ELEMENT, _TEXT, _FRAGMENT} or at in self._pseudo:
            return False
        return self._string(self._shadows.get(at)) != "user-agent"

    def _node(self, at: int) -> PageNode:
        kind = self._nodes["nodeType"][at]
        if kind == _TEXT:
            return PageNode(tag="#text", text=self._string(self._nodes["nodeValue"][at]))
        if kind == _FRAGMENT:
            mode = self._string(self._shadows.get(at))
            return PageNode(tag="#shadow-root", attributes={"mode": mode})
        tag = self._string(self._nodes["nodeName"][at]).lower()
        return PageNode(tag=tag, attributes=self._attributes(at, tag))

    def _attributes(self, at: int, tag: str) -> Mapping[str, str]:
        flat = [self._string(one) for one in self._nodes["attributes"][at]]
        given = dict(zip(flat[::2], flat[1::2], strict=True))
        if tag == "input":
            kind = given.get("type", "").lower()
            if kind in {"checkbox", "radio"}:
                _switch(given, "checked", is_on=at in self._checked)
            elif at in self._values:
                given["value"] = self._string(self._values[at])
            if kind == "password" and "value" in given:
                given["value"] = "•" * len(given["value"])
        elif tag == "textarea" and at in self._texts:
            given["value"] = self._string(self._texts[at])
        elif tag == "option":
            _switch(given, "selected", is_on=at in self._selected)
        return given

    def _lay(self, at: int, node: PageNode, clips: _Clips) -> _Clips:
        """Say where a node is drawn, and return what cuts its descendants off."""
        index = self._boxes.get(at)
        if index is None:
            return clips
        rect = self._rect(self._layout["bounds"][index])
        position = self._style(at, _POSITION) if node.tag != "#text" else ""
        around = clips.of(position)
        node.paint = self._layout["paintOrders"][index]
        is_seen = self._style(at, _VISIBILITY) == "visible" or node.tag == "#text"
        if is_seen:
            node.rect = rect
            node.shown = rect.meet(around) if around is not None else None
            node.takes_clicks = self._style(at, _POINTER) != "none" and node.tag != "#text"
        if node.tag in {"#text", "html", "body"}:
            return clips
        return self._clips_inside(at, rect, position, clips)

    def _clips_inside(self, at: int, rect: Rect, position: str, clips: _Clips) -> _Clips:
        inner = around = clips.of(position)
        if not {self._style(at, _OVER_X), self._style(at, _OVER_Y)} <= _OPEN:
            inner = rect.meet(around) if around is not None else None
        is_turned = self._style(at, _TRANSFORM) not in {"none", ""}
        holds_placed = is_turned or position not in {"static", ""}
        return _Clips(
            flow=inner,
            placed=inner if holds_placed else clips.placed,
            fixed=inner if is_turned else clips.fixed,
        )

    def _rect(self, bounds: Sequence[float]) -> Rect:
        left, top, width, height = bounds
        place = self._place
        return Rect(
            place.x + (left - self._scroll[0]) * place.scale,
            place.y + (top - self._scroll[1]) * place.scale,
            width * place.scale,
            height * place.scale,
        )

    def _mark(self, at: int, node: PageNode, *, starts_pointer: bool) -> None:
        """Note what can be acted on; what is not drawn cannot be."""
        listens = (at in self._listening or starts_pointer) and may_listen(node)
        if node.rect is not None and (listens or is_control(node)):
            self._marked[at] = node

    def _give_ids(self) -> None:
        """Give ids to what can be acted on, but not to what only listens around such an element."""
        parents: Sequence[int] = self._nodes["parentIndex"]
        holding: set[int] = set()
        for at in self._marked:
            above = parents[at]
            while above >= 0 and above not in holding:
                holding.add(above)
                above = parents[above]
        for at, node in self._marked.items():
            if at not in holding or is_control(node):
                self._reading.give_id(node, self._frame, self._nodes["backendNodeId"][at])

    def _enter_frame(self, at: int, node: PageNode) -> None:
        inner = self._frames.get(at)
        index = self._boxes.get(at)
        if inner is None or index is None:
            return
        document = self._reading.document(inner, self._frame_place(at, index, node))
        document.parent = node
        node.children.append(document)

    def _frame_place(self, at: int, index: int, node: PageNode) -> _Place:
        """Return where a frame's document lies: inside border and padding, scaled as the frame."""
        rect = self._rect(self._layout["bounds"][index])
        border_x, border_y, width, height = self._layout["clientRects"][index] or (0, 0, 0, 0)
        offset = self._layout["offsetRects"][index]
        scale = rect.width / offset[2] if offset and offset[2] else self._place.scale
        left, top, right, bottom = (_pixels(self._style(at, _PADDING + side)) for side in range(4))
        x, y = rect.x + (border_x + left) * scale, rect.y + (border_y + top) * scale
        view = Rect(x, y, (width - left - right) * scale, (height - top - bottom) * scale)
        return _Place(x, y, scale, view.meet(node.shown) if node.shown is not None else None)

    def _style(self, at: int, which: int) -> str:
        """Return a computed style; empty where the node has no box."""
        index = self._boxes.get(at)
        styles = self._layout["styles"][index] if index is not None else ()
        return self._string(styles[which]) if len(styles) > which else ""

    def _string(self, at: int | None) -> str:
        return self._strings[at] if at is not None and at >= 0 else ""


def _sparse(column: Reply) -> Mapping[int, int]:
    return dict(zip(column["index"], column["value"], strict=True))


def _switch(given: dict[str, str], name: str, *, is_on: bool) -> None:
    if is_on:
        given[name] = ""
    else:
        given.pop(name, None)


def _pixels(style: str) -> float:
    try:
        return float(style.removesuffix("px"))
    except ValueError:
        return 0.0
