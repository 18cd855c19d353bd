"""What computer use shares: keys, places in the picture, and Arena's own mouse and keyboard."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from arena_core.actions import Action
from orchestrator.agents.action_spaces.functions import ActionTools
from orchestrator.agents.action_spaces.parser import Misread, valid
from orchestrator.agents.model.messages import ToolSpec
from orchestrator.browser.observation import MarkedPicture, Observation, Picture

_ALIASES: Final[Mapping[str, str]] = {
    "alt alt_l alt_r option opt": "Alt",
    "ctrl control control_l control_r": "Control",
    "shift shift_l shift_r": "Shift",
    "meta meta_l meta_r super super_l super_r cmd command win windows": "Meta",
    "controlormeta": "ControlOrMeta",
    "enter return kp_enter": "Enter",
    "esc escape": "Escape",
    "tab iso_left_tab": "Tab",
    "space spacebar": "Space",
    "backspace back_space": "Backspace",
    "del delete": "Delete",
    "ins insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup page_up pgup prior": "PageUp",
    "pagedown page_down pgdn pgdown next": "PageDown",
    "up arrowup arrow_up": "ArrowUp",
    "down arrowdown arrow_down": "ArrowDown",
    "left arrowleft arrow_left": "ArrowLeft",
    "right arrowright arrow_right": "ArrowRight",
    "capslock caps_lock": "CapsLock",
    "plus kp_add": "+",
    "minus kp_subtract": "-",
    "equal": "=",
    "comma": ",",
    "period": ".",
    "slash": "/",
    "backslash": "\\",
    "semicolon": ";",
    "colon": ":",
    "apostrophe quoteright": "'",
    "quotedbl": '"',
    "grave quoteleft": "`",
    "bracketleft": "[",
    "bracketright": "]",
    "parenleft": "(",
    "parenright": ")",
    "underscore": "_",
    "question": "?",
    "exclam": "!",
    "at": "@",
    "numbersign": "#",
    "dollar": "$",
    "percent": "%",
    "ampersand": "&",
    "asterisk": "*",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}
_KEYS: Final[Mapping[str, str]] = {
    alias: key for aliases, key in _ALIASES.items() for alias in aliases.split()
}
_MODIFIERS: Final = frozenset({"Alt", "Control", "Meta", "Shift"})


def key_of(said: str) -> str | Misread:
    """Return the key of this name; a single character is its own key."""
    key = _KEYS.get(said.casefold())
    if key is None and len(said) == 1 and said.isprintable():
        key = "Space" if said == " " else said
    return key or Misread(f"there is no key {said[:50]!r}")


def chord_of(said: Iterable[str]) -> str | Misread:
    """Return keys that are pressed together as one chord, `Control+A`."""
    keys: list[str] = []
    for one in said:
        key = key_of(one)
        if isinstance(key, Misread):
            return key
        keys.append(key)
    return "+".join(keys) if keys else Misread("no key is named")


def split_chord(said: str) -> list[str]:
    """Return the keys of a chord as it is written, `ctrl+shift+t`; `ctrl++` ends with a plus."""
    if said.endswith("+") and said != "+":
        return [*said[:-1].rstrip("+").split("+"), "+"] if said[:-1].endswith("+") else [said]
    return [said] if said == "+" else said.split("+")


def modifiers_of(said: Iterable[str]) -> tuple[str, ...] | Misread:
    """Return the modifiers that are held while the mouse does something."""
    held: list[str] = []
    for one in said:
        key = key_of(one)
        if isinstance(key, Misread):
            return key
        if key not in _MODIFIERS:
            return Misread(f"{one[:50]!r} is no key to hold while clicking")
        held.append(key)
    return tuple(held)


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    @classmethod
    def of(cls, observation: Observation) -> Self | None:
        """Return the size of the viewport as a picture shows it; None where there is no picture."""
        for part in observation.parts.values():
            picture = part.picture if isinstance(part, MarkedPicture) else part
            if isinstance(picture, Picture):
                return cls(picture.width, picture.height)
        return None

    def within(self, most: Size | None) -> Size:
        """Return the largest size of the same shape that is no larger than `most`, nor than this.

        A picture is never enlarged: that shows nothing more, and costs tokens.
        """
        if most is None:
            return self
        scale = min(1.0, most.width / self.width, most.height / self.height)
        return Size(max(1, round(self.width * scale)), max(1, round(self.height * scale)))

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A viewport, and the scale on which a model names places in it.

    Attributes:
        scale: what x and y count up to: the size of the picture that was sent, or a grid.
        has_edge: the scale's last value is a place too, the last pixel.
    """

    viewport: Size
    scale: Size
    has_edge: bool = False

    def point(self, x: float, y: float) -> tuple[float, float] | Misread:
        if not (self._is_on(x, self.scale.width) and self._is_on(y, self.scale.height)):
            return Misread(f"({x:g}, {y:g}) is outside of the picture, which is {self.scale}")
        across, down = self.distance(x, y)
        return min(across, self.viewport.width - 1), min(down, self.viewport.height - 1)

    def distance(self, x: float, y: float) -> tuple[float, float]:
        return (
            x * self.viewport.width / self.scale.width,
            y * self.viewport.height / self.scale.height,
        )

    def _is_on(self, value: float, limit: int) -> bool:
        return 0 <= value < limit or (self.has_edge and value == limit)


NO_PICTURE = Misread("there is no picture to name a place in")


# One notch of a wheel, in CSS pixels.
NOTCH: Final = 120
Read = tuple[Action | Misread, ...]
Place = tuple[float, float]
Direction = Literal["up", "down", "left", "right"]
Text = Annotated[str, Field(max_length=10_000)]


class Strict(BaseModel):
    """A part of a command: strictly what its vocabulary has."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Command(Strict, ABC):
    """One thing to do with the mouse or the keyboard, in a vendor's vocabulary."""

    @abstractmethod
    def to_actions(self, shown: Shown) -> Read:
        """Return the actions that it stands for."""


class SimpleCommand(Command):
    """A command that stands for one action, with the same fields and some that are fixed."""

    _kind: ClassVar[str]
    _fixed: ClassVar[Mapping[str, object]] = {}

    def to_actions(self, shown: Shown) -> Read:  # noqa: ARG002
        return act(self._kind, **self._fixed, **self.model_dump(exclude={"type", "action"}))


@dataclass(frozen=True, slots=True)
class ComputerUse(ABC):
    """Reads the commands of one vendor's vocabulary.

    Attributes:
        most: how large the picture is that the model is sent at most; None for as it is.
    """

    most: Size | None = None

    @property
    @abstractmethod
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions to offer."""

    @abstractmethod
    def command(self, name: str, arguments: str) -> Command | Misread:
        """Return what a call says, in the vendor's words."""

    def shown(self, viewport: Size) -> Shown:
        """Return the viewport on the scale in which the vocabulary names places."""
        return Shown(viewport, viewport.within(self.most))

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        said = self.command(name, arguments)
        if isinstance(said, Misread):
            return said
        viewport = Size.of(observation)
        return NO_PICTURE if viewport is None else finished(said.to_actions(self.shown(viewport)))


def act(kind: str, **fields: object) -> Read:
    """Return an action with these fields, of which one may be wrong."""
    wrong = next((one for one in fields.values() if isinstance(one, Misread)), None)
    return (valid(kind, **fields) if wrong is None else wrong,)


def act_at(shown: Shown, at: Place, kind: str, **fields: object) -> Read:
    point = shown.point(*at)
    if isinstance(point, Misread):
        return (point,)
    return act(kind, x=point[0], y=point[1], **fields)


def drag(shown: Shown, places: Iterable[Place], **fields: object) -> Read:
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
    return act("press", keys=chord_of(keys))


def press_written(chord: str) -> Read:
    """Return a press of a chord as it is written, `ctrl+a`."""
    return press(split_chord(chord))


def hold(key: str, read: Read) -> Read:
    """Return actions between the press and the release of a key, as it is written."""
    name = key_of(key)
    return (*act("key_down", key=name), *read, *act("key_up", key=name))


def offset(direction: Direction, far: float) -> tuple[float, float]:
    across, down = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[direction]
    return across * far, down * far


def finished(read: Iterable[Action | Misread]) -> tuple[Action, ...] | Misread:
    actions: list[Action] = []
    for one in read:
        if isinstance(one, Misread):
            return one
        actions.append(one)
    return tuple(actions) or Misread("there is nothing to do in it")


_KINDS: Final = (
    *("mouse_click", "mouse_move", "mouse_down", "mouse_up", "mouse_drag", "mouse_wheel"),
    *("write", "press", "key_down", "key_up", "wait"),
)
_TOOLS: Final = ActionTools(_KINDS)


@dataclass(frozen=True, slots=True)
class PointerTools:
    """Reads Arena's pointer actions whose places are on the picture that was sent."""

    most: Size | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return _TOOLS.tools

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        read = _TOOLS.read(name, arguments, observation)
        if isinstance(read, Misread):
            return read
        viewport = Size.of(observation)
        if viewport is None:
            return NO_PICTURE
        shown = Shown(viewport, viewport.within(self.most))
        return finished(_scaled(action, shown) for action in read)


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
    if fields.get("x") is not None:
        yield fields
    yield from fields.get("path", ())
