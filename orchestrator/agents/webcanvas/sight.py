"""The observation module: the page as a tree, as a picture, or as both."""

from __future__ import annotations

from typing import Final, Literal

from orchestrator.model.messages import ImagePart
from orchestrator.observation import (
    AXTREE,
    SCREENSHOT,
    SOM,
    Box,
    MarkedPicture,
    Observation,
    Picture,
)

Mode = Literal["dom", "vision", "both"]
# The forms of observation of each mode. The marks of `som` say what stands at a place of the
# picture; the model is shown the picture without them.
FORMS: Final[dict[Mode, frozenset[str]]] = {
    "dom": frozenset({AXTREE}),
    "vision": frozenset({SCREENSHOT, SOM}),
    "both": frozenset({AXTREE, SCREENSHOT}),
}


def page_text(observation: Observation, mode: Mode) -> str:
    """Return the tree as WebCanvas prints it; a note on the picture where there is no tree.

    What has no label is not printed. Source: `agent/Environment/html_env/build_tree.py`, which
    loses plain text; here it is shown.
    """
    head = f"current web tab name is '{observation.title}'"
    if mode == "vision":
        return f"{head}\n(the picture below)"
    lines = [head]
    for node in observation.nodes:
        label = node.name if node.value is None else f"{node.name} = {node.value}".strip()
        if label:
            states = "".join(f" {state}" for state in node.states)
            lines.append(f"{'  ' * node.depth}[{node.id}] {node.role} '{label}'{states}")
    return "\n".join(lines)


def picture_of(observation: Observation) -> Picture | None:
    """Return the picture of the page, where it was asked for."""
    part = observation.parts.get(SCREENSHOT)
    return part if isinstance(part, Picture) else None


def pictures(observation: Observation, mode: Mode) -> tuple[ImagePart, ...]:
    """Return what is shown beside the text."""
    picture = picture_of(observation)
    return () if mode == "dom" or picture is None else (ImagePart(picture.data),)


def element_at(observation: Observation, x: float, y: float) -> int | None:
    """Return the smallest element that can be acted on at a place of the picture."""
    part = observation.parts.get(SOM)
    marks = part.marks if isinstance(part, MarkedPicture) else ()
    found = [mark for mark in marks if _holds(mark.box, x, y)]
    smallest = min(found, key=lambda mark: mark.box.width * mark.box.height, default=None)
    return None if smallest is None else smallest.id


def _holds(box: Box, x: float, y: float) -> bool:
    return box.x <= x < box.x + box.width and box.y <= y < box.y + box.height
