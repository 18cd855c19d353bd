"""What of a page the viewport shows, and what of that lies uncovered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arena_core.task_group import task_group
from orchestrator.observation import AxTree, Box, Node
from orchestrator.observation_forms import ObservedPage, PageNode, PageSnapshot, Rect


async def tree_with_layout(page: ObservedPage) -> tuple[AxTree, PageSnapshot]:
    """Return both, asked for side by side."""
    async with task_group() as group:
        tree = group.create_task(page.axtree())
        snapshot = group.create_task(page.snapshot())
    return tree.result(), snapshot.result()


def in_viewport(nodes: Sequence[Node], snapshot: PageSnapshot) -> tuple[Node, ...]:
    """Return the nodes that the viewport shows a part of, with the nodes around them.

    What has no box of its own, such as the options of a closed list, goes with what is around it.
    Covered ones stay: what covers what is for `boxes` to say. Depths are those of the nodes left.
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
    """Yield a node and all in it, in document order."""
    left = [node]
    while left:
        one = left.pop()
        yield one
        left.extend(reversed(one.children))


@dataclass(frozen=True, slots=True)
class Layers:
    """What is drawn over what in the viewport.

    Attributes:
        painted: every element that the viewport shows and that takes clicks, with its order.
    """

    painted: tuple[PageNode, ...]

    @classmethod
    def of(cls, snapshot: PageSnapshot) -> Layers:
        """Read the layers of a page."""
        found = (node for node in walk(snapshot.root) if node.takes_clicks and node.shown)
        return cls(tuple(found))

    def box(self, node: PageNode) -> Box | None:
        """Return an element's box; None where it is not drawn at all."""
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
        """Whether a part is in the viewport and the middle of it would take a click."""
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
