"""What of a simplified page stands around a target: AutoWebGLM's pruner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from orchestrator.observations.simplified import PrintStyle, Simplified, printed


@dataclass(frozen=True, slots=True)
class Limits:
    """How much around a target stays (paper, algorithm 1, with the defaults of its code).

    Attributes:
        depth: how many of its ancestors, and how many levels below it; a target shows at least what
            is right inside it.
        children: how many nodes below it, in document order.
        siblings: how many before it and how many after it.
    """

    depth: int = 3
    children: int = 30
    siblings: int = 3

    def shrunk(self) -> Limits:
        """Return the limits of the next round."""
        return Limits(int(self.depth * 0.5), int(self.children * 0.5), int(self.siblings * 0.7))


# What tells an element of earlier commands from others.
SEGMENT: Final = Limits(depth=0, children=2, siblings=1)


def pruned(
    targets: Sequence[Simplified], limits: Limits, style: PrintStyle, most: int | None = None
) -> str:
    """Return the parts of a page around some of its nodes.

    Args:
        targets: nodes of one tree in document order; they stay whatever the limits are.
        limits: how much around each stays.
        style: how it is written.
        most: letters; the limits shrink, round by round, until the text is no longer than that or
            nothing but the targets is left.
    """
    while True:
        text = _around(targets, limits, style)
        smaller = limits.shrunk()
        if most is None or len(text) <= most or smaller == limits:
            return text
        limits = smaller


def _around(targets: Sequence[Simplified], limits: Limits, style: PrintStyle) -> str:
    near = {id(node): node for target in targets for node in _near(target, limits)}
    kept = frozenset(near)
    tops = [one for one in near.values() if one.parent is None or id(one.parent) not in kept]
    return " ".join(printed(one, style, kept) for one in tops)


def _near(target: Simplified, limits: Limits) -> Iterator[Simplified]:
    above = target.parent
    for _ in range(limits.depth):
        if above is None:
            break
        yield above
        above = above.parent
    if target.parent is not None:
        beside = target.parent.children
        at = beside.index(target)
        yield from beside[max(0, at - limits.siblings) : at + limits.siblings + 1]
    else:
        yield target
    below = _below(target, max(1, limits.depth))
    yield from islice(below, limits.children)


def _below(node: Simplified, depth: int) -> Iterator[Simplified]:
    for child in node.children:
        yield child
        if depth > 1:
            yield from _below(child, depth - 1)
