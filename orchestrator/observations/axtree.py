"""The accessibility tree as an agent reads it: one line a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.observation import AxTree, Node
from orchestrator.observation_forms import ObservationForm, ObservedPage
from orchestrator.observations.viewport import in_viewport, tree_with_layout


def tree_text(nodes: Sequence[Node], dialogs: Sequence[str] = (), *, was_cut: bool = False) -> str:
    """Return one line a node: `[id] role "name" value="…" states`, indented by depth.

    `dialogs` are lines for the head; `was_cut` says that the page had more nodes.
    """
    lines = [f"(dialog: {line})" for line in dialogs]
    lines += [_line(node) for node in nodes]
    if was_cut:
        lines.append(f"(the page goes on: only its first {len(nodes)} nodes are shown)")
    return "\n".join(lines)


def _line(node: Node) -> str:
    parts = [f"{'  ' * node.depth}[{node.id}] {node.role}"]
    if node.name:
        parts.append(f'"{_one_line(node.name)}"')
    if node.value is not None:
        parts.append(f'value="{_one_line(node.value)}"')
    parts.extend(node.states)
    return " ".join(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


class AxTreeForm:
    """The accessibility tree."""

    async def observe(self, page: ObservedPage) -> AxTree:
        """Return the tree as nodes and as text."""
        return await page.axtree()

    async def observe_viewport(self, page: ObservedPage) -> AxTree:
        """Return the same with what the viewport shows alone."""
        tree, snapshot = await tree_with_layout(page)
        nodes = in_viewport(tree.nodes, snapshot)
        return AxTree(nodes, tree_text(nodes, page.dialogs))


AXTREE_FORM: Final[ObservationForm] = AxTreeForm()
