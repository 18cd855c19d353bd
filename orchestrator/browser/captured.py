"""What the browser says of all documents in a tab at once: their nodes and where these are drawn.

The columns of `DOMSnapshot.captureSnapshot` that something reads; texts are places in `strings`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from orchestrator.browser.cdp_channel import RefusedError
from orchestrator.browser.tabs import OpenTab

# The first three, and the last, are what `unnamed` reads.
STYLES: Final = (
    *("background-color", "fill", "visibility", "cursor", "position", "overflow-x", "overflow-y"),
    *("pointer-events", "transform", "padding-left", "padding-top", "padding-right"),
    *("padding-bottom", "background-image"),
)
_TRIES: Final = 3


class Marked(msgspec.Struct, frozen=True, gc=False):
    """The nodes, by their places, of which something is true."""

    index: tuple[int, ...] = ()


class Sparse(msgspec.Struct, frozen=True, gc=False):
    """A value of some nodes."""

    index: tuple[int, ...] = ()
    value: tuple[int, ...] = ()

    def by_node(self) -> dict[int, int]:
        """Return the values by the places of their nodes."""
        return dict(zip(self.index, self.value, strict=True))


class CapturedNodes(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """The nodes of a document, parents before their children.

    Attributes:
        attributes: names and values in turns.
    """

    parent_index: tuple[int, ...]
    node_type: tuple[int, ...]
    node_name: tuple[int, ...]
    node_value: tuple[int, ...]
    backend_node_id: tuple[int, ...]
    attributes: tuple[tuple[int, ...], ...]
    content_document_index: Sparse = Sparse()
    shadow_root_type: Sparse = Sparse()
    input_value: Sparse = Sparse()
    text_value: Sparse = Sparse()
    input_checked: Marked = Marked()
    option_selected: Marked = Marked()
    is_clickable: Marked = Marked()
    pseudo_type: Marked = Marked()


class CapturedLayout(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Where nodes are drawn: a row for each box, and several boxes for some nodes.

    Attributes:
        styles: computed, in the order of `STYLES`; empty for texts.
        client_rects, offset_rects: there where the tab has frames.
    """

    node_index: tuple[int, ...]
    styles: tuple[tuple[int, ...], ...]
    bounds: tuple[tuple[float, float, float, float], ...]
    paint_orders: tuple[int, ...]
    client_rects: tuple[tuple[float, ...], ...] = ()
    offset_rects: tuple[tuple[float, ...], ...] = ()

    def first_boxes(self) -> dict[int, int]:
        """Return the row of each node's first box."""
        rows = range(len(self.node_index) - 1, -1, -1)
        return {self.node_index[row]: row for row in rows}


class CapturedDocument(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """One document; the tab's own comes first."""

    frame_id: int
    nodes: CapturedNodes
    layout: CapturedLayout
    scroll_offset_x: float = 0.0
    scroll_offset_y: float = 0.0
    content_height: float | None = None


class Captured(msgspec.Struct, frozen=True, gc=False):
    """The documents of a tab at one moment, computed styles and painting order included.

    Attributes:
        loader: of the main document.
    """

    documents: tuple[CapturedDocument, ...]
    strings: tuple[str, ...]
    loader: str = ""


async def capture(tab: OpenTab) -> Captured:
    """Return the tab as it is now, in one read.

    Raises:
        RefusedError: the document went away meanwhile, or the browser sent none.
    """
    with_rects = len(tab.frames.all()) > 1
    for _ in range(_TRIES):
        loader = tab.frames.main.loader
        found = await _asked(tab, with_rects=with_rects)
        if len(found.documents) > 1 and not with_rects:
            with_rects = True  # a frame has come meanwhile
        elif tab.frames.main.loader == loader:
            return msgspec.structs.replace(found, loader=loader)
    message = f"{tab.url} kept navigating while it was read"
    raise RefusedError(message)


async def _asked(tab: OpenTab, *, with_rects: bool) -> Captured:
    """Ask once; the rectangles that only frames need take a third of the time."""
    asked = {
        "computedStyles": list(STYLES),
        "includePaintOrder": True,
        "includeDOMRects": with_rects,
    }
    found = await tab.channel.send_for_bulk("DOMSnapshot.captureSnapshot", asked, Captured)
    if not found.documents:
        message = "the page has no document yet"
        raise RefusedError(message)
    return found
