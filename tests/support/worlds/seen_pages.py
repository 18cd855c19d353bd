"""Observations of a made page, in every form that names its elements, and of none."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Final

from PIL import Image

from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    HTML,
    PRUNED_HTML,
    SCREENSHOT,
    SOM,
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    Mark,
    MarkedPicture,
    Node,
    Observation,
    Picture,
    PrunedHtml,
    Tab,
)

URL: Final = "http://shop.test/"
VIEWPORT: Final = (1280, 720)

# A heading, a search field with its button, a form and two links of one name in a list.
NODES: Final = (
    Node(id=1, depth=0, role="heading", name="Kettles"),
    Node(id=2, depth=0, role="searchbox", name="Search the shop", value="tea"),
    Node(id=3, depth=0, role="button", name="Search"),
    Node(id=4, depth=0, role="combobox", name="Sort by"),
    Node(id=5, depth=1, role="option", name="Name"),
    Node(id=6, depth=1, role="option", name="Price"),
    Node(id=7, depth=0, role="checkbox", name="In stock", states=("checked",)),
    Node(id=8, depth=0, role="checkbox", name="On sale", states=("checked=false",)),
    Node(id=9, depth=0, role="list", name="Products"),
    Node(id=10, depth=1, role="listitem", name=""),
    Node(id=11, depth=2, role="link", name="Red kettle"),
    Node(id=12, depth=2, role="button", name="Add to cart"),
    Node(id=13, depth=1, role="listitem", name=""),
    Node(id=14, depth=2, role="link", name="Steel kettle"),
    Node(id=15, depth=2, role="button", name="Add to cart"),
)
ABSENT: Final = 404
_BOX: Final = Box(10, 20, 100, 30, visible=True)


def _png() -> bytes:
    written = BytesIO()
    Image.new("RGB", VIEWPORT, "white").save(written, format="PNG")
    return written.getvalue()


PICTURE: Final = Picture(_png(), *VIEWPORT)
FORMS: Final[Mapping[str, object]] = {
    AXTREE: AxTree(NODES, "\n".join(f'[{one.id}] {one.role} "{one.name}"' for one in NODES)),
    ARIA: AriaSnapshot("\n".join(f'- {one.role} "{one.name}" [ref=e{one.id}]' for one in NODES)),
    HTML: Html("".join(f'<p arena="{one.id}">{one.name}</p>' for one in NODES)),
    PRUNED_HTML: PrunedHtml("", {f"L{one.id}": one.id for one in NODES}),
    SOM: MarkedPicture(PICTURE, tuple(Mark(one.id, one.role, one.name, _BOX) for one in NODES)),
    BOXES: {one.id: _BOX for one in NODES},
    SCREENSHOT: PICTURE,
}


def seen(*forms: str, step: int = 0, last_error: str | None = None) -> Observation:
    """Return what an agent sees of the page that asked for these forms."""
    return Observation(
        step=step,
        url=URL,
        title="Shop",
        tabs=(
            Tab(0, "Shop", URL, is_current=True),
            Tab(1, "Wiki", "http://wiki.test/", is_current=False),
        ),
        parts={form: FORMS[form] for form in forms},
        last_error=last_error,
    )
