"""The page with its layout in one read: the source of markup, boxes and pictures.

Elements that can be acted on get ids: by their tag (a link, a button, a field, a frame), by their
role, because the keyboard reaches them, or because they listen to clicks. AutoWebGLM's marker
decides alike; unlike there, an element outside the viewport has its id too, and nothing is written
into the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.browser.observations.forms import PageNode, PageSnapshot, Rect
from orchestrator.browser.page.dom_capture import DocumentColumns, DomCapture
from orchestrator.browser.tabs.elements import ElementAddress, ElementIds
from orchestrator.browser.tabs.tab import OpenTab

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
    """Whether an element is made to be acted on, whether or not scripts listen to it."""
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
    return (editable is not None and editable.lower() != "false") or (
        given.get("tabindex", "").strip().isdigit()
    )


_ELEMENT, _TEXT, _DOCUMENT, _FRAGMENT = 1, 3, 9, 11
_OPEN: Final = frozenset({"visible", ""})
_NO_BOX: Final[tuple[int, ...]] = ()


def build_snapshot(
    captured: DomCapture, tab: OpenTab, ids: ElementIds, viewport: tuple[int, int]
) -> PageSnapshot:
    """Return a snapshot as a tree, with frames and shadow roots in their places.

    Elements that can be acted on and are drawn get their ids.
    """
    reading = _SnapshotBuilder(captured, tab, ids)
    window = Rect(0.0, 0.0, float(viewport[0]), float(viewport[1]))
    main = captured.documents[0]
    root = reading.document(0, _Place(0.0, 0.0, 1.0, window))

    def find(element: int) -> PageNode | None:
        address = ids.address_of(element)
        if address is None or address.tab != tab.number:
            return None
        return reading.by_backend.get(address.backend)

    return PageSnapshot(
        root=root,
        viewport=window,
        scrolled=main.scroll_offset_y,
        height=float(viewport[1]) if main.content_height is None else main.content_height,
        find=find,
    )


@dataclass(frozen=True, slots=True)
class _Styles:
    """How an element is drawn, by its computed styles; most elements share theirs.

    Attributes:
        cuts: descendants outside it are cut off.
        is_turned: it has a transform, which its fixed and absolute descendants follow.
        padding: left, top, right, bottom.
    """

    is_visible: bool = False
    points: bool = False
    position: str = ""
    cuts: bool = False
    takes_clicks: bool = True
    is_turned: bool = False
    padding: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)

    @classmethod
    def of(cls, computed: Sequence[str]) -> _Styles:
        """Read styles in the order of `STYLES`; a text has none."""
        if not computed:
            return cls()
        visibility, cursor, position, over_x, over_y, pointer, transform = computed[2:9]
        return cls(
            is_visible=visibility == "visible",
            points=cursor == "pointer",
            position=position,
            cuts=not {over_x, over_y} <= _OPEN,
            takes_clicks=pointer != "none",
            is_turned=transform not in {"none", ""},
            padding=tuple(_pixels(side) for side in computed[9:13]),
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document lies in the viewport.

    Attributes:
        x, y: of its own viewport's corner.
        scale: how many CSS pixels of the window one of its own is.
        clip: the most that can be seen of it.
    """

    x: float
    y: float
    scale: float
    clip: Rect | None


@dataclass(frozen=True, slots=True)
class _Clips:
    """What clips a node's flowing, absolute and fixed descendants; None where nothing shows."""

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


class _SnapshotBuilder:
    def __init__(self, captured: DomCapture, tab: OpenTab, ids: ElementIds) -> None:
        self._documents = captured.documents
        self.strings = captured.strings
        self._tab = tab
        self._ids = ids
        self._styles: dict[tuple[int, ...], _Styles] = {}
        self.by_backend: dict[int, PageNode] = {}

    def document(self, at: int, place: _Place) -> PageNode:
        return _Document(self, self._documents[at], place).read()

    def styles(self, computed: tuple[int, ...]) -> _Styles:
        """Return what computed styles say, by their places among the texts."""
        known = self._styles.get(computed)
        if known is None:
            known = _Styles.of([self.strings[at] if at >= 0 else "" for at in computed])
            self._styles[computed] = known
        return known

    def give_id(self, node: PageNode, frame: str, backend: int) -> None:
        """Give an element its id, unless its frame is just going away."""
        known = self._tab.frames.get(frame)
        if known is not None:
            address = ElementAddress(self._tab.number, frame, known.loader, backend)
            node.id = self._ids.id_of(address)


class _Document:
    def __init__(self, reading: _SnapshotBuilder, document: DocumentColumns, place: _Place) -> None:
        nodes = document.nodes
        self._reading = reading
        self._strings = reading.strings
        self._frame = self._strings[document.frame_id]
        self._place = place
        self._scroll = (document.scroll_offset_x, document.scroll_offset_y)
        self._nodes = nodes
        self._layout = document.layout
        self._boxes = document.layout.first_boxes()
        self._listening = frozenset(nodes.is_clickable.index)
        self._frames = nodes.content_document_index.by_node()
        self._shadows = nodes.shadow_root_type.by_node()
        self._values = nodes.input_value.by_node()
        self._texts = nodes.text_value.by_node()
        self._checked = frozenset(nodes.input_checked.index)
        self._selected = frozenset(nodes.option_selected.index)
        self._marked: dict[int, PageNode] = {}
        self._pseudo = frozenset(nodes.pseudo_type.index)

    def read(self) -> PageNode:
        """Return the document's tree; in the columns parents come before their children."""
        made: dict[int, PageNode] = {}
        clips: dict[int, _Clips] = {}
        pointing: set[int] = set()
        clip = self._place.clip
        root = PageNode(tag="#document")
        backends = self._nodes.backend_node_id
        for at, above in enumerate(self._nodes.parent_index):
            if above < 0:
                made[at] = self._reading.by_backend[backends[at]] = root
                clips[at] = _Clips(clip, clip, clip)
                continue
            parent = made.get(above)
            if parent is None or not self._is_of_the_page(at):
                continue
            node = made[at] = self._reading.by_backend[backends[at]] = self._node(at)
            node.parent = parent
            parent.children.append(node)
            row = self._boxes.get(at)
            styles = self._reading.styles(_NO_BOX if row is None else self._layout.styles[row])
            clips[at] = clips[above] if row is None else self._lay(row, node, styles, clips[above])
            if styles.points:
                pointing.add(at)
            self._mark(at, node, starts_pointer=styles.points and above not in pointing)
            if row is not None and at in self._frames:
                self._enter_frame(self._frames[at], row, node, styles)
        self._give_ids()
        return root

    def _is_of_the_page(self, at: int) -> bool:
        """Whether a node is the page's own: no comment, and not inside a browser's field."""
        kind = self._nodes.node_type[at]
        if kind not in {_ELEMENT, _TEXT, _FRAGMENT} or at in self._pseudo:
            return False
        return self._string(self._shadows.get(at)) != "user-agent"

    def _node(self, at: int) -> PageNode:
        kind = self._nodes.node_type[at]
        if kind == _TEXT:
            return PageNode(tag="#text", text=self._string(self._nodes.node_value[at]))
        if kind == _FRAGMENT:
            mode = self._string(self._shadows.get(at))
            return PageNode(tag="#shadow-root", attributes={"mode": mode})
        tag = self._string(self._nodes.node_name[at]).lower()
        return PageNode(tag=tag, attributes=self._attributes(at, tag))

    def _attributes(self, at: int, tag: str) -> Mapping[str, str]:
        flat = [self._string(one) for one in self._nodes.attributes[at]]
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

    def _lay(self, row: int, node: PageNode, styles: _Styles, clips: _Clips) -> _Clips:
        """Note where a node is drawn, and return what clips its descendants."""
        rect = self._rect(row)
        is_text = node.tag == "#text"
        around = clips.flow if is_text else clips.of(styles.position)
        node.paint = self._layout.paint_orders[row]
        if styles.is_visible or is_text:
            node.rect = rect
            node.shown = rect.meet(around) if around is not None else None
            node.takes_clicks = styles.takes_clicks and not is_text
        if node.tag in {"#text", "html", "body"}:
            return clips
        return _clips_inside(rect, styles, clips)

    def _rect(self, row: int) -> Rect:
        left, top, width, height = self._layout.bounds[row]
        place = self._place
        return Rect(
            place.x + (left - self._scroll[0]) * place.scale,
            place.y + (top - self._scroll[1]) * place.scale,
            width * place.scale,
            height * place.scale,
        )

    def _mark(self, at: int, node: PageNode, *, starts_pointer: bool) -> None:
        """Note what can be acted on: only what is drawn can be."""
        listens = (at in self._listening or starts_pointer) and node.tag not in _WHOLE
        if node.rect is not None and (listens or is_control(node)):
            self._marked[at] = node

    def _give_ids(self) -> None:
        """Give ids to what can be acted on, but not to what only listens around such an element."""
        parents = self._nodes.parent_index
        holding: set[int] = set()
        for at in self._marked:
            above = parents[at]
            while above >= 0 and above not in holding:
                holding.add(above)
                above = parents[above]
        for at, node in self._marked.items():
            if at not in holding or is_control(node):
                self._reading.give_id(node, self._frame, self._nodes.backend_node_id[at])

    def _enter_frame(self, inner: int, row: int, node: PageNode, styles: _Styles) -> None:
        document = self._reading.document(inner, self._frame_place(row, node, styles))
        document.parent = node
        node.children.append(document)

    def _frame_place(self, row: int, node: PageNode, styles: _Styles) -> _Place:
        """Return where a frame's document lies: inside border and padding, scaled as the frame."""
        rect = self._rect(row)
        border_x, border_y, width, height = self._layout.client_rects[row] or (0, 0, 0, 0)
        offset = self._layout.offset_rects[row]
        scale = rect.width / offset[2] if offset and offset[2] else self._place.scale
        left, top, right, bottom = styles.padding
        x, y = rect.x + (border_x + left) * scale, rect.y + (border_y + top) * scale
        view = Rect(x, y, (width - left - right) * scale, (height - top - bottom) * scale)
        return _Place(x, y, scale, view.meet(node.shown) if node.shown is not None else None)

    def _string(self, at: int | None) -> str:
        return self._strings[at] if at is not None and at >= 0 else ""


def _clips_inside(rect: Rect, styles: _Styles, clips: _Clips) -> _Clips:
    holds_placed = styles.is_turned or styles.position not in {"static", ""}
    inner = around = clips.of(styles.position)
    if styles.cuts:
        inner = rect.meet(around) if around is not None else None
    elif not holds_placed and inner is clips.flow:
        return clips
    return _Clips(
        flow=inner,
        placed=inner if holds_placed else clips.placed,
        fixed=inner if styles.is_turned else clips.fixed,
    )


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
