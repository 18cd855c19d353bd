"""Names of keys, as xdotool and the vendors of computer use write them, in Playwright's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from orchestrator.grammars.grammar import Misread

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
