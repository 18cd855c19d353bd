"""OpenAI's computer use: one function `computer` with a batch of actions, in the picture's pixels.

Source: the actions of the Responses API's tool `computer` (2026), offered as a function tool, since
chat completions have no such tool. A batch is played in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from arena_core.actions import Action
from orchestrator.grammars.functions import described, read_as, unknown
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.keys import modifiers_of
from orchestrator.grammars.pixels import Shown, Size
from orchestrator.grammars.pointing import (
    Place,
    Pointed,
    Read,
    Said,
    Text,
    act,
    act_at,
    drag,
    finished,
    look,
    press,
    shown_by,
    wheel,
)
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

NAME: Final = "computer"
_MOST: Final = 50  # actions in a batch, and points of a path
_WAIT_S: Final = 1.0
_HISTORY: Final = {"back": "back", "forward": "forward"}
_Keys = Annotated[tuple[str, ...], Field(max_length=10)]


class _Point(Said):
    x: float
    y: float

    @property
    def place(self) -> Place:
        return self.x, self.y


class _Click(Pointed):
    type: Literal["click"]
    x: float
    y: float
    button: Literal["left", "right", "wheel", "back", "forward"] = "left"
    keys: _Keys | None = None

    def done(self, shown: Shown) -> Read:
        if self.button in _HISTORY:
            return act(_HISTORY[self.button])
        button = "middle" if self.button == "wheel" else self.button
        held = modifiers_of(self.keys or ())
        return act_at(shown, (self.x, self.y), "mouse_click", button=button, modifiers=held)


class _DoubleClick(Pointed):
    type: Literal["double_click"]
    x: float
    y: float
    keys: _Keys | None = None

    def done(self, shown: Shown) -> Read:
        held = modifiers_of(self.keys or ())
        return act_at(shown, (self.x, self.y), "mouse_click", count=2, modifiers=held)


class _Move(Pointed):
    type: Literal["move"]
    x: float
    y: float

    def done(self, shown: Shown) -> Read:
        return act_at(shown, (self.x, self.y), "mouse_move")


class _Drag(Pointed):
    type: Literal["drag"]
    path: Annotated[tuple[_Point, ...], Field(min_length=2, max_length=_MOST)]
    keys: _Keys | None = None

    def done(self, shown: Shown) -> Read:
        places = [point.place for point in self.path]
        return drag(shown, places, modifiers=modifiers_of(self.keys or ()))


class _Scroll(Pointed):
    type: Literal["scroll"]
    x: float
    y: float
    scroll_x: float = 0
    scroll_y: float = 0

    def done(self, shown: Shown) -> Read:
        dx, dy = shown.distance(self.scroll_x, self.scroll_y)
        return wheel(shown, (self.x, self.y), dx, dy)


class _Type(Pointed):
    type: Literal["type"]
    text: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("write", text=self.text)


class _Keypress(Pointed):
    type: Literal["keypress"]
    keys: _Keys

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return press(self.keys)


class _Wait(Pointed):
    type: Literal["wait"]

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("wait", seconds=_WAIT_S)


class _Screenshot(Pointed):
    type: Literal["screenshot"]

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return look()


class _Batch(Said):
    """Do things with mouse and keyboard, in order; the picture comes after the last.

    Attributes:
        actions: x and y are pixels of the picture, from its upper left corner; scroll_x and
            scroll_y are pixels, positive to the right and down; keys are named as in CTRL, ENTER.
    """

    actions: Annotated[
        tuple[
            Annotated[
                _Click
                | _DoubleClick
                | _Move
                | _Drag
                | _Scroll
                | _Type
                | _Keypress
                | _Wait
                | _Screenshot,
                Field(discriminator="type"),
            ],
            ...,
        ],
        Field(min_length=1, max_length=_MOST),
    ]


@dataclass(frozen=True, slots=True)
class OpenAiComputer:
    """Reads batches of the vocabulary of OpenAI.

    Attributes:
        most: how large the picture is that the model is sent at most; None for as it is.
    """

    most: Size | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The function `computer`."""
        return (described(NAME, _Batch),)

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return the actions of a batch; a screenshot amid others is left out, as one follows."""
        if name != NAME:
            return unknown(name, self.tools)
        batch = read_as(_Batch, name, arguments)
        if isinstance(batch, Misread):
            return batch
        shown = shown_by(observation, self.most)
        if isinstance(shown, Misread):
            return shown
        told = [one for one in batch.actions if not isinstance(one, _Screenshot)]
        return finished(one.done(shown) for one in told or batch.actions[:1])
