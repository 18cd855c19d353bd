"""Figures and actions in words, the same in the terminal and in HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, assert_never

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Clear,
    Click,
    CloseTab,
    Drag,
    Focus,
    FocusTab,
    Forward,
    Goto,
    Hover,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    NewTab,
    Press,
    Scroll,
    Select,
    Stop,
    Type,
    Upload,
    Wait,
    Write,
)
from evaluators.evidence import StepEvidence
from evaluators.responses import answer_of
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.rates import Interval, Rate

_SMALL_P: Final = 0.001
_SMALL_USD = 0.1
_NOTES = {
    AgentClass.REFERENCE: "reference agent, not a contestant",
    AgentClass.BASELINE: "baseline agent, not a contestant",
    AgentClass.GUIDED: "guided agent, given the key nodes, not a contestant",
    AgentClass.PERSON: "a person, for a human baseline, not an agent",
}


def points(share: float | None, *, signed: bool = True) -> str:
    """Return a difference of shares in percentage points, a dash where there is none."""
    if share is None:
        return "–"
    value = 100 * share
    # A whole number where it is one or large; small ones keep a digit, so that 0.4 is no 0.
    digits = 0 if abs(value - round(value)) < 1e-9 or abs(value) >= 10 else 1  # noqa: PLR2004
    said = f"{value:+.{digits}f}" if signed else f"{abs(value):.{digits}f}"
    return said.lstrip("+-") if float(said) == 0 else said.replace("-", "−")


def points_span(span: Interval | None, *, none: str = "–") -> str:
    """Return an interval of a difference in percentage points."""
    return none if span is None else f"{points(span.low)} to {points(span.high)}"


def joined(names: Iterable[str]) -> str:
    """Return names as a sentence lists them: `a, b and c`."""
    *most, last = tuple(names) or ("",)
    return f"{', '.join(most)} and {last}" if most else last


def p_value(p: float) -> str:
    """Return a p with three digits; a smaller one as `< 0.001`."""
    return "< 0.001" if p < _SMALL_P else f"{p:.3f}"


def p_said(p: float | None) -> str:
    """Return `p = 0.012`, or that there is none."""
    if p is None:
        return "no p"
    said = p_value(p)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def agent_note(agent: AgentLock) -> str | None:
    """Return what is to be said wherever an agent's figures are shown; None for a contestant."""
    return _NOTES.get(agent.agent_class)


def percent(value: Rate | float | None) -> str:
    """Return a rate or share as a percentage, a dash where there is none."""
    number = value.value if isinstance(value, Rate) else value
    return "–" if number is None else f"{number:.0%}"


def interval(found: Interval | None) -> str:
    """Return an interval as percentages, nothing where there is none."""
    return "" if found is None else f"{found.low:.0%} to {found.high:.0%}"


def money(usd: float | None) -> str:
    """Return a cost, a dash where it is unknown; small ones with as many digits as they need."""
    if usd is None:
        return "–"
    return f"${usd:.2f}" if usd >= _SMALL_USD or usd <= 0 else f"${usd:.6f}".rstrip("0")


COSTS_SAID: Final[Mapping[str, Callable[[float], str]]] = {
    "US dollars": money,
    "tokens": "{:,.0f}".format,
    "seconds": "{:,.1f} s".format,
}
"""By what cost is, how a value of it is written."""


def duration(seconds: float) -> str:
    """Return seconds for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def step_in_words(step: StepEvidence) -> str:
    """Return what an agent did in a step, its answer word for word."""
    action = step.action
    if action is None:
        return "opened the start pages"
    if isinstance(action, Stop) and (answer := answer_of(action)) is not None:
        return f"answered: {answer}"
    return action_in_words(action, step)


def action_in_words(action: Action, step: StepEvidence) -> str:  # noqa: C901, PLR0911, PLR0912 - a case each
    """Return what an agent did; the element is named as the page watcher saw it."""
    match action:
        case Click():
            return f"{_clicks(action)} {_element(step, action.element)}"
        case Hover() | Focus() | Clear():
            return f"{action.kind} {_element(step, action.element)}"
        case Type():
            how = "type" if action.clear else "add"
            enter = ", Enter" if action.submit else ""
            return f"{how} “{action.text}” into {_element(step, action.element)}{enter}"
        case Write():
            return f"type “{action.text}”"
        case Select():
            options = ", ".join(f"“{option}”" for option in action.options)
            return f"choose {options} in {_element(step, action.element)}"
        case Press():
            return f"press {action.keys}"
        case KeyDown():
            return f"hold {action.key}"
        case KeyUp():
            return f"let go of {action.key}"
        case Scroll():
            around = "" if action.element is None else f" in element {action.element}"
            return f"scroll {action.direction}{around}"
        case Drag():
            return f"drag element {action.element} onto element {action.to}"
        case Upload():
            return f"upload {', '.join(action.files)} at {_element(step, action.element)}"
        case MouseMove() | MouseClick() | MouseDown() | MouseUp() | MouseDrag() | MouseWheel():
            return _mouse_in_words(action)
        case Wait():
            return _wait_in_words(action)
        case Goto():
            return f"open {action.url}"
        case NewTab():
            return f"open a new tab {action.url or ''}".rstrip()
        case FocusTab():
            return f"go to tab {action.index}"
        case Back() | Forward() | CloseTab():
            return action.kind.replace("_", " ")
        case AskUser():
            said = f": “{step.reply.text}”" if step.reply else ""
            return f"ask the user “{action.question}”{said}"
        case Stop(status=status, reason=reason):
            how = "" if status is None else f" as {status.value.replace('_', ' ')}"
            return f"stop{how}" if reason is None else f"stop{how}: “{reason}”"
        case Infeasible():
            return f"say that it cannot be done: “{action.reason}”"
        case _:
            assert_never(action)


def _mouse_in_words(
    action: MouseMove | MouseClick | MouseDown | MouseUp | MouseDrag | MouseWheel,
) -> str:
    match action:
        case MouseMove():
            return f"move the mouse to {action.x:g}, {action.y:g}"
        case MouseClick():
            return f"{_clicks(action)} at {action.x:g}, {action.y:g}"
        case MouseDown() | MouseUp():
            what = "hold" if isinstance(action, MouseDown) else "let go of"
            point = action.point
            where = "" if point is None else f" at {point.x:g}, {point.y:g}"
            return f"{what} the {action.button} button{where}"
        case MouseDrag():
            first, last = action.path[0], action.path[-1]
            over = f" over {len(action.path) - 2} points" if len(action.path) > 2 else ""  # noqa: PLR2004
            return f"drag from {first.x:g}, {first.y:g} to {last.x:g}, {last.y:g}{over}"
        case MouseWheel():
            return f"turn the wheel by {action.dx:g}, {action.dy:g} at {action.x:g}, {action.y:g}"
        case _:
            assert_never(action)


def _clicks(action: Click | MouseClick) -> str:
    """Say which kind of click: `Control+Shift+double right click`."""
    times = {1: "", 2: "double ", 3: "triple "}[action.count]
    button = "" if action.button == "left" else f"{action.button} "
    return "".join(f"{key}+" for key in action.modifiers) + f"{times}{button}click"


def _wait_in_words(action: Wait) -> str:
    wanted = [f"“{action.text}” is shown"] if action.text is not None else []
    wanted += [f"“{action.gone}” is gone"] if action.gone is not None else []
    until = f" until {' and '.join(wanted)}, at most" if wanted else ""
    return f"wait{until} {action.seconds:g} s"


def _element(step: StepEvidence, number: int) -> str:
    for acted in step.acted:
        name = acted.name or acted.text
        return f"{acted.role or acted.tag} “{name}”" if name else acted.role or acted.tag
    return f"element {number}"
