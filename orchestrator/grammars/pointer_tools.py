"""Mouse and keyboard in Arena's own words, as function tools in the pixels of the picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from arena_core.actions import Action
from orchestrator.grammars.action_tools import ActionTools
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.pixels import Shown, Size
from orchestrator.grammars.pointing import finished, shown_by
from orchestrator.grammars.reading import valid
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

_KINDS: Final = (
    *("mouse_click", "mouse_move", "mouse_down", "mouse_up", "mouse_drag", "mouse_wheel"),
    *("write", "press", "key_down", "key_up", "wait"),
)
_TOOLS: Final = ActionTools(_KINDS)


@dataclass(frozen=True, slots=True)
class PointerTools:
    """Reads Arena's pointer actions whose places are on the picture that was sent.

    Attributes:
        most: how large the picture is that the model is sent at most; None for as it is.
    """

    most: Size | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """A function for each action of mouse and keyboard."""
        return _TOOLS.tools

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return the action of a call, in CSS pixels of the viewport."""
        read = _TOOLS.read(name, arguments, observation)
        if isinstance(read, Misread):
            return read
        shown = shown_by(observation, self.most)
        if isinstance(shown, Misread):
            return shown
        return finished([tuple(_scaled(action, shown) for action in read)])


def _scaled(action: Action, shown: Shown) -> Action | Misread:
    fields = action.model_dump(mode="json")
    kind = fields.pop("kind")
    for place in _places(fields):
        point = shown.point(place["x"], place["y"])
        if isinstance(point, Misread):
            return point
        place["x"], place["y"] = point
    if "dx" in fields:
        fields["dx"], fields["dy"] = shown.distance(fields["dx"], fields["dy"])
    return valid(kind, **fields)


def _places(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what of an action's fields holds x and y."""
    if fields.get("x") is not None:
        yield fields
    yield from fields.get("path", ())
