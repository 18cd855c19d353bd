"""OpenAI's computer use: one function `computer` with a batch of actions, in the picture's pixels.

Source: the actions of the Responses API's tool `computer` (2026), offered as a function tool, since
chat completions have no such tool. A batch is played in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from orchestrator.agents.action_spaces.computer_use import (
    Command,
    ComputerUse,
    Place,
    Read,
    Shown,
    SimpleCommand,
    Strict,
    Text,
    act,
    act_at,
    drag,
    modifiers_of,
    press,
    wheel,
)
from orchestrator.agents.action_spaces.functions import described, read_as, unknown
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.model.messages import ToolSpec

NAME: Final = "computer"
_MOST: Final = 50  # actions in a batch, and points of a path
_HISTORY: Final = {"back": "back", "forward": "forward"}
_Keys = Annotated[tuple[str, ...], Field(max_length=10)]


class _Point(Strict):
    x: float
    y: float

    @property
    def place(self) -> Place:
        return self.x, self.y


class _Click(Command):
    type: Literal["click"]
    x: float
    y: float
    button: Literal["left", "right", "wheel", "back", "forward"] = "left"
    keys: _Keys | None = None

    def to_actions(self, shown: Shown) -> Read:
        if self.button in _HISTORY:
            return act(_HISTORY[self.button])
        button = "middle" if self.button == "wheel" else self.button
        held = modifiers_of(self.keys or ())
        return act_at(shown, (self.x, self.y), "mouse_click", button=button, modifiers=held)


class _DoubleClick(Command):
    type: Literal["double_click"]
    x: float
    y: float
    keys: _Keys | None = None

    def to_actions(self, shown: Shown) -> Read:
        held = modifiers_of(self.keys or ())
        return act_at(shown, (self.x, self.y), "mouse_click", count=2, modifiers=held)


class _Move(Command):
    type: Literal["move"]
    x: float
    y: float

    def to_actions(self, shown: Shown) -> Read:
        return act_at(shown, (self.x, self.y), "mouse_move")


class _Drag(Command):
    type: Literal["drag"]
    path: Annotated[tuple[_Point, ...], Field(min_length=2, max_length=_MOST)]
    keys: _Keys | None = None

    def to_actions(self, shown: Shown) -> Read:
        places = [point.place for point in self.path]
        return drag(shown, places, modifiers=modifiers_of(self.keys or ()))


class _Scroll(Command):
    type: Literal["scroll"]
    x: float
    y: float
    scroll_x: float = 0
    scroll_y: float = 0

    def to_actions(self, shown: Shown) -> Read:
        dx, dy = shown.distance(self.scroll_x, self.scroll_y)
        return wheel(shown, (self.x, self.y), dx, dy)


class _Type(SimpleCommand):
    type: Literal["type"]
    text: Text

    _kind: ClassVar = "write"


class _Keypress(Command):
    type: Literal["keypress"]
    keys: _Keys

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return press(self.keys)


class _Wait(SimpleCommand):
    type: Literal["wait"]

    _kind: ClassVar = "wait"
    _fixed: ClassVar = {"seconds": 1.0}


class _Screenshot(SimpleCommand):
    type: Literal["screenshot"]

    _kind: ClassVar = "wait"
    _fixed: ClassVar = {"seconds": 0}


class _Batch(Command):
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

    def to_actions(self, shown: Shown) -> Read:
        # A screenshot amid other actions is left out, because one follows anyway.
        told = [one for one in self.actions if not isinstance(one, _Screenshot)]
        played = told or self.actions[:1]
        return tuple(action for one in played for action in one.to_actions(shown))


@dataclass(frozen=True, slots=True)
class OpenAiComputer(ComputerUse):
    """Reads batches of the vocabulary of OpenAI."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (described(NAME, _Batch),)

    def command(self, name: str, arguments: str) -> Command | Misread:
        return read_as(_Batch, name, arguments) if name == NAME else unknown(name, self.tools)
