"""What the computer-use vocabularies have in common: pieces of their functions' arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from arena_core.actions import Action
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.keys import chord_of, split_chord
from orchestrator.grammars.pixels import NO_PICTURE, Shown, Size
from orchestrator.grammars.reading import valid
from orchestrator.observation import Observation

# One notch of a wheel, in CSS pixels.
NOTCH: Final = 120
Read = tuple[Action | Misread, ...]
Place = tuple[float, float]
Text = Annotated[str, Field(max_length=10_000)]


class Said(BaseModel):
    """What a model said of one thing to do: strictly what its vocabulary has."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Pointed(Said, ABC):
    """A thing to do with the mouse or the keyboard, in some vocabulary."""

    @abstractmethod
    def done(self, shown: Shown) -> Read:
        """Return the actions that it stands for."""


def shown_by(observation: Observation, most: Size | None) -> Shown | Misread:
    """Return the viewport on the scale of the picture that was sent."""
    viewport = Size.of(observation)
    return NO_PICTURE if viewport is None else Shown(viewport, viewport.within(most))


def act(kind: str, **fields: object) -> Read:
    """Return an action with these fields, of which one may be wrong."""
    wrong = next((one for one in fields.values() if isinstance(one, Misread)), None)
    return (valid(kind, **fields) if wrong is None else wrong,)


def act_at(shown: Shown, at: Place, kind: str, **fields: object) -> Read:
    """Return an action at a place of the picture."""
    point = shown.point(*at)
    if isinstance(point, Misread):
        return (point,)
    return act(kind, x=point[0], y=point[1], **fields)


def drag(shown: Shown, places: Iterable[Place], **fields: object) -> Read:
    """Return a drag along places of the picture."""
    path: list[dict[str, float]] = []
    for place in places:
        point = shown.point(*place)
        if isinstance(point, Misread):
            return (point,)
        path.append({"x": point[0], "y": point[1]})
    return act("mouse_drag", path=path, **fields)


def wheel(shown: Shown, at: Place | None, dx: float, dy: float) -> Read:
    """Return a turn of the wheel by CSS pixels; without a place, in the middle."""
    if at is None:
        middle = shown.viewport.width / 2, shown.viewport.height / 2
        return act("mouse_wheel", x=middle[0], y=middle[1], dx=dx, dy=dy)
    return act_at(shown, at, "mouse_wheel", dx=dx, dy=dy)


def press(keys: Sequence[str]) -> Read:
    """Return a press of keys that are held together."""
    return act("press", keys=chord_of(keys))


def press_written(chord: str) -> Read:
    """Return a press of a chord as it is written, `ctrl+a`."""
    return press(split_chord(chord))


def look() -> Read:
    """Return what shows the page again, and does nothing else."""
    return act("wait", seconds=0)


def finished(parts: Iterable[Read]) -> tuple[Action, ...] | Misread:
    """Return all actions, or the first thing that is wrong."""
    actions: list[Action] = []
    for one in (one for part in parts for one in part):
        if isinstance(one, Misread):
            return one
        actions.append(one)
    return tuple(actions) or Misread("there is nothing to do in it")
