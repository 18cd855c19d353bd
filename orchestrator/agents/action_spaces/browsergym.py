"""BrowserGym's call strings, `click('12')`, and the two calls that OpenEnv adds to them.

Source: `HighLevelActionSet` of BrowserGym 0.14.3 (`browsergym/core/action/functions.py`) and the
tools of OpenEnv's `browsergym_env` (2026-06).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Action
from orchestrator.agents.action_spaces.calls import Call, Value, bound, read_calls
from orchestrator.agents.action_spaces.parser import Misread, held, script_of, single, switch, valid
from orchestrator.browser.observation import Observation, Picture

# An id as Arena shows it, as BrowserGym's examples write it, or as a reference of `aria`.
_ID: Final = re.compile(r"[ae]?(\d{1,18})")
_DIRECTIONS: Final = frozenset({"up", "down", "left", "right"})
# Of Arena's default viewport: where the wheel turns, as BrowserGym's does where the mouse is.
_MIDDLE: Final = (640.0, 360.0)

_Read = tuple[Action | Misread, ...]


@dataclass(frozen=True, slots=True)
class BrowserGymCalls:
    """Reads calls on lines of their own, with literals as arguments, by place or by name.

    `press` of an element stands for two actions, as do several lines; `parse` takes one alone.
    """

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        return single(self.script(said, observation))

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        calls = read_calls(said)
        if isinstance(calls, Misread):
            return calls
        return script_of((_read(call, observation) for call in calls), observation)


def _read(call: Call, observation: Observation) -> _Read | Misread:
    takes = _CALLS.get(call.name)
    if takes is None:
        return Misread(f"there is no call {call.name!r}; there are: {', '.join(sorted(_CALLS))}")
    return bound(takes, call, observation)


def _act(kind: str, **fields: object) -> _Read:
    wrong = [one for one in fields.values() if isinstance(one, Misread)]
    return (wrong[0],) if wrong else (valid(kind, **fields),)


def _element(bid: Value) -> int | Misread:
    """Return the id of an element, which BrowserGym writes as a text."""
    if isinstance(bid, int) and not isinstance(bid, bool):
        return bid
    found = _ID.fullmatch(bid) if isinstance(bid, str) else None
    return int(found[1]) if found else Misread(f"{bid!r} is no id of an element")


def _number(value: Value) -> float | Misread:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return Misread(f"{value!r} is no number")


def _several(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else [value]


def _clicked(bid: Value, button: Value, modifiers: Value, count: int) -> _Read:
    keys = [] if modifiers is None else held(_several(modifiers))
    return _act("click", element=_element(bid), button=button, count=count, modifiers=keys)


def _fill(
    _: Observation, bid: Value, value: Value, enable_autocomplete_menu: Value = None
) -> _Read:
    # The menu comes by itself: text is typed as a person types it.
    del enable_autocomplete_menu
    return _act("type", element=_element(bid), text=value)


def _switched(observation: Observation, bid: Value, *, is_on: bool) -> _Read:
    element = _element(bid)
    if isinstance(element, Misread):
        return (element,)
    return (switch(observation, element, is_on=is_on),)


def _scroll(observation: Observation, delta_x: Value, delta_y: Value = None) -> _Read:
    if delta_y is None and isinstance(delta_x, str) and delta_x in _DIRECTIONS:
        return _act("scroll", direction=delta_x)
    if delta_y is None:
        return (Misread("scroll takes two numbers of pixels, or one direction"),)
    x, y = _middle(observation)
    return _act("mouse_wheel", x=x, y=y, dx=_number(delta_x), dy=_number(delta_y))


def _middle(observation: Observation) -> tuple[float, float]:
    for part in observation.parts.values():
        if isinstance(part, Picture):
            return part.width / 2, part.height / 2
    return _MIDDLE


def _at(kind: str, x: Value, y: Value, **fields: object) -> _Read:
    return _act(kind, x=_number(x), y=_number(y), **fields)


def _mouse_drag_and_drop(
    _: Observation, from_x: Value, from_y: Value, to_x: Value, to_y: Value
) -> _Read:
    ends = [(_number(from_x), _number(from_y)), (_number(to_x), _number(to_y))]
    wrong = next((one for end in ends for one in end if isinstance(one, Misread)), None)
    return (wrong,) if wrong else _act("mouse_drag", path=[{"x": x, "y": y} for x, y in ends])


def _noop(_: Observation, wait_ms: Value = 1000) -> _Read:
    milliseconds = _number(wait_ms)
    if isinstance(milliseconds, Misread):
        return (milliseconds,)
    return _act("wait", seconds=milliseconds / 1000)


# Each takes the observation and BrowserGym's own arguments.
_CALLS: Final[Mapping[str, Callable[..., _Read]]] = {
    "ask_user": lambda _, question: _act("ask_user", question=question),
    "check": lambda page, bid: _switched(page, bid, is_on=True),
    "clear": lambda _, bid: _act("clear", element=_element(bid)),
    "click": lambda _, bid, button="left", modifiers=None: _clicked(bid, button, modifiers, 1),
    "dblclick": lambda _, bid, button="left", modifiers=None: _clicked(bid, button, modifiers, 2),
    "drag_and_drop": lambda _, from_bid, to_bid: _act(
        "drag", element=_element(from_bid), to=_element(to_bid)
    ),
    "fill": _fill,
    "focus": lambda _, bid: _act("focus", element=_element(bid)),
    "go_back": lambda _: _act("back"),
    "go_forward": lambda _: _act("forward"),
    "goto": lambda _, url: _act("goto", url=url),
    "hover": lambda _, bid: _act("hover", element=_element(bid)),
    "keyboard_down": lambda _, key: _act("key_down", key=key),
    "keyboard_insert_text": lambda _, text: _act("write", text=text),
    "keyboard_press": lambda _, key: _act("press", keys=key),
    "keyboard_type": lambda _, text: _act("write", text=text),
    "keyboard_up": lambda _, key: _act("key_up", key=key),
    "mouse_click": lambda _, x, y, button="left": _at("mouse_click", x, y, button=button),
    "mouse_dblclick": lambda _, x, y, button="left": _at(
        "mouse_click", x, y, button=button, count=2
    ),
    "mouse_down": lambda _, x, y, button="left": _at("mouse_down", x, y, button=button),
    "mouse_drag_and_drop": _mouse_drag_and_drop,
    "mouse_move": lambda _, x, y: _at("mouse_move", x, y),
    "mouse_up": lambda _, x, y, button="left": _at("mouse_up", x, y, button=button),
    "new_tab": lambda _: _act("new_tab"),
    "noop": _noop,
    "press": lambda _, bid, key_comb: (
        *_act("focus", element=_element(bid)),
        *_act("press", keys=key_comb),
    ),
    "report_infeasible": lambda _, reason: _act("infeasible", reason=reason),
    "scroll": _scroll,
    "scroll_at": lambda _, x, y, dx, dy: _at("mouse_wheel", x, y, dx=_number(dx), dy=_number(dy)),
    "select_option": lambda _, bid, options: _act("select", element=_element(bid), option=options),
    "send_keys": lambda _, text: _act("write", text=text),
    "send_msg_to_user": lambda _, text: _act("stop", answer=text),
    "tab_close": lambda _: _act("close_tab"),
    "tab_focus": lambda _, index: _act("focus_tab", index=_number(index)),
    "uncheck": lambda page, bid: _switched(page, bid, is_on=False),
    "upload_file": lambda _, bid, file: _act("upload", element=_element(bid), files=_several(file)),
}
