"""What the viewport shows of a page and what is covered there; the box of each id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena_core.task_group import task_group
from orchestrator.browser.observation import AxTree, Box, Node
from orchestrator.browser.observations.forms import (
    ObservationForm,
    ObservedPage,
    PageNode,
    PageSnapshot,
    Rect,
)


async def tree_with_layout(page: ObservedPage) -> tuple[AxTree, PageSnapshot]:
    async with task_group() as group:
        tree = group.create_task(page.axtree())
        snapshot = group.create_task(page.snapshot())
    return tree.result(), snapshot.result()


def in_viewport(nodes: Sequence[Node], snapshot: PageSnapshot) -> tuple[Node, ...]:
    """Return the nodes that the viewport shows a part of, with their ancestors.

    A node without a box, such as an option of a closed list, goes with its parent. Covered nodes
    stay: `boxes` says what is covered. Depths count the remaining nodes only.
    """
    kept = [False] * len(nodes)
    around: list[int] = []
    seen: dict[int, bool] = {}
    for at, node in enumerate(nodes):
        while around and nodes[around[-1]].depth >= node.depth:
            around.pop()
        found = snapshot.find(node.id)
        if found is None or found.rect is None:
            seen[at] = bool(around) and seen[around[-1]]
        else:
            seen[at] = found.shown is not None
        if seen[at]:
            kept[at] = True
            for above in around:
                kept[above] = True
        around.append(at)
    return tuple(_nested(nodes, kept))


def _nested(nodes: Sequence[Node], kept: Sequence[bool]) -> Iterator[Node]:
    around: list[int] = []
    for node, is_kept in zip(nodes, kept, strict=True):
        if not is_kept:
            continue
        while around and around[-1] >= node.depth:
            around.pop()
        yield replace(node, depth=len(around))
        around.append(node.depth)


def walk(node: PageNode) -> Iterator[PageNode]:
    """Yield a node and its descendants in document order."""
    left = [node]
    while left:
        one = left.pop()
        yield one
        left.extend(reversed(one.children))


@dataclass(frozen=True, slots=True)
class Layers:
    """What is drawn over what in the viewport.

    Attributes:
        painted: every element that the viewport shows and that takes clicks.
    """

    painted: tuple[PageNode, ...]

    @classmethod
    def of(cls, snapshot: PageSnapshot) -> Layers:
        found = (node for node in walk(snapshot.root) if node.takes_clicks and node.shown)
        return cls(tuple(found))

    def box(self, node: PageNode) -> Box | None:
        """Return an element's box; None if it is not drawn."""
        if node.rect is None:
            return None
        rect = node.rect
        return Box(
            _short(rect.x),
            _short(rect.y),
            _short(rect.width),
            _short(rect.height),
            visible=self._is_visible(node),
        )

    def _is_visible(self, node: PageNode) -> bool:
        """Whether a part is in the viewport and its middle would take a click."""
        shown = node.shown
        if shown is None or not (node.takes_clicks or node.tag == "#text"):
            return False
        return not self._is_covered(node, shown)

    def _is_covered(self, node: PageNode, shown: Rect) -> bool:
        x, y = shown.x + shown.width / 2, shown.y + shown.height / 2
        own = {id(node), *(id(one) for one in _around(node))}
        for other in self.painted:
            if other.paint <= node.paint or id(other) in own:
                continue
            if other.shown is not None and other.shown.holds(x, y) and not _is_in(other, node):
                return True
        return False


def _around(node: PageNode) -> Iterator[PageNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_in(node: PageNode, around: PageNode) -> bool:
    return any(one is around for one in _around(node))


def _short(length: float) -> float:
    return round(length, 2)


class BoxesForm:
    """The box of every element and text that has an id in any form of this observation."""

    async def observe(self, page: ObservedPage) -> Mapping[int, Box]:
        return {element: box for element, _, box in await _drawn(page)}

    async def observe_viewport(self, page: ObservedPage) -> Mapping[int, Box]:
        found = await _drawn(page)
        return {element: box for element, node, box in found if node.shown is not None}


BOXES_FORM: Final[ObservationForm] = BoxesForm()


async def _drawn(page: ObservedPage) -> list[tuple[int, PageNode, Box]]:
    tree, snapshot = await tree_with_layout(page)
    layers = Layers.of(snapshot)
    by_id = {node.id: snapshot.find(node.id) for node in tree.nodes}
    by_id |= {node.id: node for node in walk(snapshot.root) if node.id is not None}
    found: list[tuple[int, PageNode, Box]] = []
    for element, node in sorted(by_id.items()):
        box = layers.box(node) if node is not None else None
        if node is not None and box is not None:
            found.append((element, node, box))
    return found
