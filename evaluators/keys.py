"""The names of keys and chords: `Enter`, `Control+A`, as Playwright calls them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

# Other names that people and models give to keys, in lower case.
_ALIASES: Final = {
    "ctrl": "Control",
    "cmd": "Meta",
    "esc": "Escape",
    "del": "Delete",
    "return": "Enter",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}
_NAMED: Final = (
    *("Escape", "Backquote", "Minus", "Equal", "Backslash", "Backspace", "Tab", "BracketLeft"),
    *("BracketRight", "CapsLock", "Semicolon", "Quote", "Enter", "Comma", "Period", "Slash"),
    *("Space", "AltGraph", "ContextMenu", "PrintScreen", "ScrollLock", "Pause", "PageUp"),
    *("PageDown", "Insert", "Delete", "Home", "End", "ArrowLeft", "ArrowUp", "ArrowRight"),
    *("ArrowDown", "AudioVolumeMute", "AudioVolumeDown", "AudioVolumeUp", "MediaTrackNext"),
    *("MediaTrackPrevious", "MediaPlayPause", "NumLock", "ControlOrMeta", "Clear"),
)
_HELD: Final = tuple(
    f"{name}{side}"
    for name in ("Shift", "Control", "Alt", "Meta")
    for side in ("", "Left", "Right")
)
_NUMPAD: Final = ("Divide", "Multiply", "Subtract", "Add", "Decimal", "Enter", *"0123456789")
KEYS: Final = frozenset(
    (
        *_NAMED,
        *_HELD,
        *(f"F{number}" for number in range(1, 13)),
        *(f"Digit{digit}" for digit in "0123456789"),
        *(f"Key{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        *(f"Numpad{name}" for name in _NUMPAD),
        *(chr(code) for code in range(ord(" "), ord("~") + 1)),
    )
)


def playwright_keys(keys: str) -> str:
    """Spell a chord as Playwright does: common other names of keys are understood."""
    if keys in {"+", " "}:
        return keys
    parts = [part.strip() for part in keys.split("+")]
    spelled = [_ALIASES.get(part.lower(), part) for part in parts]
    return "+".join(spelled) if all(spelled) else keys


def key_fault(keys: str) -> str | None:
    """Say which key of a chord no keyboard has; None where all are there."""
    for key in _parts(playwright_keys(keys)):
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=3) or ["Enter", "Tab", "Control+A"]
            return f"there is no key '{key}'; keys are named like {', '.join(near)}"
    return None


def _parts(keys: str) -> Iterator[str]:
    """Yield the keys of a chord; a `+` after another one is the key itself."""
    part = ""
    for character in keys:
        if character == "+" and part:
            yield part
            part = ""
        else:
            part += character
    yield part
