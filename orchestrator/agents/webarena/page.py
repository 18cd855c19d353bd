"""A page as WebArena prints it: tabs, a blank line, and lines `[id] role 'name' prop: value`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.observation import Node, Observation, Tab

# A text that one of so many lines before it holds already is left out.
_NEAR: Final = 3
_THREE_VALUED: Final = frozenset({"checked", "pressed"})
_CHARACTERS_A_TOKEN: Final = 4


def page_text(observation: Observation, tokens: int | None) -> str:
    """Return what the agent is shown of the tabs and the page, its end cut off where it is longer.

    Source: `browser_env/processors.py` of WebArena. A token counts as four characters, where
    WebArena asks the tokenizer of its model.
    """
    lines = _lines(observation.nodes)
    text = "\n".join([tab_line(observation.tabs), "", *lines])
    return text if tokens is None else text[: tokens * _CHARACTERS_A_TOKEN]


def tab_line(tabs: Sequence[Tab]) -> str:
    """Return the line of open tabs."""
    return " | ".join(
        f"Tab {tab.index}{' (current)' if tab.is_current else ''}: {tab.title}" for tab in tabs
    )


def node_text(node: Node) -> str:
    """Return a node without its id: `link 'Kettles' focused: True`."""
    parts = [f"{node.role} {node.name!r}"]
    if node.value is not None:
        parts.append(f"value: {node.value!r}")
    for state in node.states:
        name, _, value = state.partition("=")
        value = value or "true"
        parts.append(f"{name}: {value if name in _THREE_VALUED else value.capitalize()}")
    return " ".join(parts)


def _lines(nodes: Sequence[Node]) -> Iterator[str]:
    near: deque[str] = deque(maxlen=_NEAR)
    for node in nodes:
        is_said = any(node.name in line for line in near)
        if node.role == "StaticText" and (not node.name or is_said):
            continue
        near.append(f"[{node.id}] {node_text(node)}")
        yield "\t" * node.depth + near[-1]
