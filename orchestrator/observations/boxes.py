"""Where what has an id is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orchestrator.observation import Box
from orchestrator.observation_forms import ObservationForm, ObservedPage, PageNode
from orchestrator.observations.viewport import Layers, tree_with_layout, walk


class BoxesForm:
    """The box of every element and text that any form of this observation shows with an id."""

    async def observe(self, page: ObservedPage) -> Mapping[int, Box]:
        """Return the boxes by id."""
        return {element: box for element, _, box in await _drawn(page)}

    async def observe_viewport(self, page: ObservedPage) -> Mapping[int, Box]:
        """Return the boxes of what the viewport shows a part of, covered or not."""
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
