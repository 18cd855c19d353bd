"""Anthropic's computer use: the function `computer` with one action, in the picture's pixels.

Source: the actions of `computer_20251124` (claude-quickstarts, `computer-use-demo`, 2026-07), with
the names of keys of xdotool. Where no coordinate is given, things happen where the mouse is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, RootModel

from arena_core.actions import Action
from orchestrator.grammars.functions import read_as, unknown
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.keys import key_of, modifiers_of, split_chord
from orchestrator.grammars.pixels import Shown, Size
from orchestrator.grammars.pointing import (
    NOTCH,
    Place,
    Pointed,
    Read,
    Text,
    act,
    act_at,
    drag,
    finished,
    look,
    press_written,
    shown_by,
    wheel,
)
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

NAME: Final = "computer"
_MOST_KEYS: Final = 20
_CLICKS: Final = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_WAYS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class _Key(Pointed):
    action: Literal["key"]
    text: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        chords = self.text.split() or [self.text]
        if len(chords) > _MOST_KEYS:
            return (Misread(f"these are {len(chords)} keys: use type for text"),)
        return tuple(one for chord in chords for one in press_written(chord))


class _Type(Pointed):
    action: Literal["type"]
    text: Text

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("write", text=self.text)


class _Click(Pointed):
    action: Literal["left_click", "right_click", "middle_click", "double_click", "triple_click"]
    coordinate: Place | None = None
    text: Text | None = None

    def done(self, shown: Shown) -> Read:
        button, count = _CLICKS[self.action]
        held = modifiers_of(split_chord(self.text) if self.text else ())
        if self.coordinate is not None:
            return act_at(
                shown, self.coordinate, "mouse_click", button=button, count=count, modifiers=held
            )
        if count > 1 or held:
            return (Misread(f"{self.action} needs a coordinate here"),)
        return (*act("mouse_down", button=button), *act("mouse_up", button=button))


class _Move(Pointed):
    action: Literal["mouse_move"]
    coordinate: Place

    def done(self, shown: Shown) -> Read:
        return act_at(shown, self.coordinate, "mouse_move")


class _Drag(Pointed):
    action: Literal["left_click_drag"]
    start_coordinate: Place
    coordinate: Place

    def done(self, shown: Shown) -> Read:
        return drag(shown, (self.start_coordinate, self.coordinate))


class _Button(Pointed):
    action: Literal["left_mouse_down", "left_mouse_up"]

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("mouse_down" if self.action == "left_mouse_down" else "mouse_up")


class _Scroll(Pointed):
    action: Literal["scroll"]
    scroll_direction: Literal["up", "down", "left", "right"]
    scroll_amount: Annotated[int, Field(ge=0, le=100)]
    coordinate: Place | None = None
    text: Text | None = None

    def done(self, shown: Shown) -> Read:
        across, down = _WAYS[self.scroll_direction]
        notches = self.scroll_amount * NOTCH
        turn = wheel(shown, self.coordinate, across * notches, down * notches)
        held = modifiers_of(split_chord(self.text) if self.text else ())
        if isinstance(held, Misread):
            return (held,)
        presses = [one for key in held for one in act("key_down", key=key)]
        releases = [one for key in reversed(held) for one in act("key_up", key=key)]
        return (*presses, *turn, *releases)


class _HoldKey(Pointed):
    action: Literal["hold_key"]
    text: Text
    duration: float

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        key = key_of(self.text)
        pause = act("wait", seconds=self.duration)
        return (*act("key_down", key=key), *pause, *act("key_up", key=key))


class _Wait(Pointed):
    action: Literal["wait"]
    duration: float

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return act("wait", seconds=self.duration)


class _Screenshot(Pointed):
    action: Literal["screenshot"]

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
        return look()


class _Unavailable(Pointed):
    action: Literal["zoom", "cursor_position"]
    region: tuple[float, float, float, float] | None = None

    def done(self, shown: Shown) -> Read:  # noqa: ARG002
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
            "scroll_direction": {"type": "string", "enum": [*_WAYS]},
            "scroll_amount": {"type": "integer", "description": "notches of the wheel"},
            "duration": {"type": "number", "description": "seconds, at most 30"},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class AnthropicComputer:
    """Reads actions of the vocabulary of Anthropic.

    Attributes:
        most: how large the picture is that the model is sent at most; None for as it is.
    """

    most: Size | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The function `computer`."""
        return (_TOOL,)

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return what an action stands for."""
        if name != NAME:
            return unknown(name, self.tools)
        said = read_as(_Said, name, arguments)
        if isinstance(said, Misread):
            return said
        shown = shown_by(observation, self.most)
        return shown if isinstance(shown, Misread) else finished([said.root.done(shown)])
