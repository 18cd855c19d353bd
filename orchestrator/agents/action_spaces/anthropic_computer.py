"""Anthropic's computer use: the function `computer` with one action, in the picture's pixels.

Source: the actions of `computer_20251124` (claude-quickstarts, `computer-use-demo`, 2026-07), with
the names of keys of xdotool. Where no coordinate is given, things happen where the mouse is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, get_args

from pydantic import Field, JsonValue, RootModel

from orchestrator.agents.action_spaces.computer_use import (
    NOTCH,
    Command,
    ComputerUse,
    Direction,
    Place,
    Read,
    Shown,
    SimpleCommand,
    Text,
    act,
    act_at,
    drag,
    hold,
    modifiers_of,
    offset,
    press_written,
    split_chord,
    wheel,
)
from orchestrator.agents.action_spaces.functions import read_as, unknown
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.model.messages import ToolSpec

NAME: Final = "computer"
_MOST_KEYS: Final = 20
_CLICKS: Final = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}


class _Key(Command):
    action: Literal["key"]
    text: Text

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        chords = self.text.split() or [self.text]
        if len(chords) > _MOST_KEYS:
            return (Misread(f"these are {len(chords)} keys: use type for text"),)
        return tuple(one for chord in chords for one in press_written(chord))


class _Type(SimpleCommand):
    action: Literal["type"]
    text: Text

    _kind: ClassVar = "write"


class _Click(Command):
    action: Literal["left_click", "right_click", "middle_click", "double_click", "triple_click"]
    coordinate: Place | None = None
    text: Text | None = None

    def to_actions(self, shown: Shown) -> Read:
        button, count = _CLICKS[self.action]
        held = modifiers_of(split_chord(self.text) if self.text else ())
        if self.coordinate is not None:
            return act_at(
                shown, self.coordinate, "mouse_click", button=button, count=count, modifiers=held
            )
        if count > 1 or held:
            return (Misread(f"{self.action} needs a coordinate here"),)
        return (*act("mouse_down", button=button), *act("mouse_up", button=button))


class _Move(Command):
    action: Literal["mouse_move"]
    coordinate: Place

    def to_actions(self, shown: Shown) -> Read:
        return act_at(shown, self.coordinate, "mouse_move")


class _Drag(Command):
    action: Literal["left_click_drag"]
    start_coordinate: Place
    coordinate: Place

    def to_actions(self, shown: Shown) -> Read:
        return drag(shown, (self.start_coordinate, self.coordinate))


class _Button(Command):
    action: Literal["left_mouse_down", "left_mouse_up"]

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("mouse_down" if self.action == "left_mouse_down" else "mouse_up")


class _Scroll(Command):
    action: Literal["scroll"]
    scroll_direction: Direction
    scroll_amount: Annotated[int, Field(ge=0, le=100)]
    coordinate: Place | None = None
    text: Text | None = None

    def to_actions(self, shown: Shown) -> Read:
        dx, dy = offset(self.scroll_direction, self.scroll_amount * NOTCH)
        turn = wheel(shown, self.coordinate, dx, dy)
        held = modifiers_of(split_chord(self.text) if self.text else ())
        if isinstance(held, Misread):
            return (held,)
        presses = [one for key in held for one in act("key_down", key=key)]
        releases = [one for key in reversed(held) for one in act("key_up", key=key)]
        return (*presses, *turn, *releases)


class _HoldKey(Command):
    action: Literal["hold_key"]
    text: Text
    duration: float

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return hold(self.text, act("wait", seconds=self.duration))


class _Wait(Command):
    action: Literal["wait"]
    duration: float

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("wait", seconds=self.duration)


class _Screenshot(SimpleCommand):
    action: Literal["screenshot"]

    _kind: ClassVar = "wait"
    _fixed: ClassVar = {"seconds": 0}


class _Unavailable(Command):
    action: Literal["zoom", "cursor_position"]
    region: tuple[float, float, float, float] | None = None

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return (Misread(f"{self.action} is not available: the picture shows all there is"),)


class _Said(
    RootModel[
        Annotated[
            _Key
            | _Type
            | _Click
            | _Move
            | _Drag
            | _Button
            | _Scroll
            | _HoldKey
            | _Wait
            | _Screenshot
            | _Unavailable,
            Field(discriminator="action"),
        ]
    ]
):
    """One action."""


_OFFERED: Final = (
    *("key", "type", "mouse_move", *_CLICKS, "left_click_drag", "left_mouse_down"),
    *("left_mouse_up", "scroll", "hold_key", "wait", "screenshot"),
)
_PLACE: Final[dict[str, JsonValue]] = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 2,
    "maxItems": 2,
}
_TOOL: Final = ToolSpec(
    NAME,
    "Do one thing with mouse and keyboard; the picture of what came of it follows.",
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [*_OFFERED]},
            "coordinate": {
                **_PLACE,
                "description": "[x, y] in pixels of the picture, from its upper left corner",
            },
            "start_coordinate": {**_PLACE, "description": "where left_click_drag begins"},
            "text": {
                "type": "string",
                "description": "what to type; or keys as xdotool names them (Return, ctrl+a); or "
                "the key to hold while clicking or scrolling",
            },
            "scroll_direction": {"type": "string", "enum": [*get_args(Direction)]},
            "scroll_amount": {"type": "integer", "description": "notches of the wheel"},
            "duration": {"type": "number", "description": "seconds, at most 30"},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class AnthropicComputer(ComputerUse):
    """Reads actions of the vocabulary of Anthropic."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (_TOOL,)

    def command(self, name: str, arguments: str) -> Command | Misread:
        if name != NAME:
            return unknown(name, self.tools)
        said = read_as(_Said, name, arguments)
        return said if isinstance(said, Misread) else said.root
