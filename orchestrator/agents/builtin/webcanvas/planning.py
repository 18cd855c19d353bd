"""The observation and planning modules: what the model sees, and the one step that it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from arena_core.actions import Action, Wait
from orchestrator.agents.action_spaces.parser import Misread, build, problems
from orchestrator.agents.model.messages import ImagePart
from orchestrator.browser.observation import (
    AXTREE,
    SCREENSHOT,
    SOM,
    Box,
    MarkedPicture,
    Observation,
    Picture,
)

_LONGEST: Final = 20_000
_FAULTS_NAMED: Final = 3

Form = TypeVar("Form", bound=BaseModel)


def read_object(said: str, form: type[Form]) -> Form | Misread:
    """Return the object from the first `{` to the last `}`, as WebCanvas looks for it."""
    if len(said) > _LONGEST:
        return Misread(f"it is longer than {_LONGEST} characters")
    start, end = said.find("{"), said.rfind("}")
    if not 0 <= start < end:
        return Misread("it holds no JSON object")
    try:
        # Python's parser says best what is wrong; pydantic refuses half a code point.
        json.loads(said[start : end + 1])
        return form.model_validate_json(said[start : end + 1])
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, "reply")[:_FAULTS_NAMED]))
    except (ValueError, RecursionError) as cause:
        return Misread(f"its JSON is broken: {cause}")


Mode = Literal["dom", "vision", "both"]
# The forms of observation of each mode. The marks of `som` say what stands at a place of the
# picture; the model is shown the picture without them.
FORMS: Final[dict[Mode, frozenset[str]]] = {
    "dom": frozenset({AXTREE}),
    "vision": frozenset({SCREENSHOT, SOM}),
    "both": frozenset({AXTREE, SCREENSHOT}),
}


def page_text(observation: Observation, mode: Mode) -> str:
    """Return the tree as WebCanvas prints it; a note on the picture where there is no tree.

    What has no label is not printed. Source: `agent/Environment/html_env/build_tree.py`, which
    loses plain text; here it is shown.
    """
    head = f"current web tab name is '{observation.title}'"
    if mode == "vision":
        return f"{head}\n(the picture below)"
    lines = [head]
    for node in observation.nodes:
        label = node.name if node.value is None else f"{node.name} = {node.value}".strip()
        if label:
            states = "".join(f" {state}" for state in node.states)
            lines.append(f"{'  ' * node.depth}[{node.id}] {node.role} '{label}'{states}")
    return "\n".join(lines)


def picture_of(observation: Observation) -> Picture | None:
    part = observation.parts.get(SCREENSHOT)
    return part if isinstance(part, Picture) else None


def pictures(observation: Observation, mode: Mode) -> tuple[ImagePart, ...]:
    picture = picture_of(observation)
    return () if mode == "dom" or picture is None else (ImagePart(picture.data),)


def element_at(observation: Observation, x: float, y: float) -> int | None:
    part = observation.parts.get(SOM)
    marks = part.marks if isinstance(part, MarkedPicture) else ()
    found = [mark for mark in marks if _holds(mark.box, x, y)]
    smallest = min(found, key=lambda mark: mark.box.width * mark.box.height, default=None)
    return None if smallest is None else smallest.id


def _holds(box: Box, x: float, y: float) -> bool:
    return box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def _absent(value: object) -> object:
    return None if value == "" else value


class Planned(BaseModel):
    """A step as the model writes it.

    Attributes:
        element_id: the element that is acted on, where the page was shown as a tree.
        position: its place in the picture, where the page was shown as one: from left, from top.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    thought: str = ""
    action: str
    action_input: str | None = None
    element_id: Annotated[int | None, BeforeValidator(_absent)] = None
    position: Annotated[tuple[float, float] | None, BeforeValidator(_absent)] = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One step, read.

    Attributes:
        action: what it is in the browser; nothing for what the agent keeps to itself.
        note: what is to be remembered.
        answer: the final answer; None where the step is not the end, '' where it asks for none.
    """

    thought: str
    description: str
    action: Action
    note: str | None = None
    answer: str | None = None


NOTHING: Final = Wait(seconds=0)


def read_plan(said: str, observation: Observation) -> Plan | Misread:
    """Return the one step that was said, if it is valid and possible on this page.

    Source: arXiv 2406.12373, section 3.1; `agent/Environment/html_env/actions.py` of its code,
    where unknown actions, `cache_data` among them, silently do nothing.
    """
    planned = read_object(said, Planned)
    if isinstance(planned, Misread):
        return planned
    text = planned.action_input or ""
    match planned.action:
        case "cache_data":
            if not text.strip():
                return Misread("cache_data: action_input is what to remember")
            return _plan(planned, NOTHING, note=text)
        case "get_final_answer":
            return _plan(planned, NOTHING, answer=text)
        case "google_search":
            return Misread("google_search: only the sites of the task can be reached")
        case _:
            action = _action(planned, text, observation)
            return action if isinstance(action, Misread) else _plan(planned, action)


def _plan(
    planned: Planned, action: Action, *, note: str | None = None, answer: str | None = None
) -> Plan:
    said = planned.description or f"{planned.action} {planned.action_input or ''}".rstrip()
    return Plan(thought=planned.thought, description=said, action=action, note=note, answer=answer)


def _action(planned: Planned, text: str, observation: Observation) -> Action | Misread:
    if planned.action in _ON_PAGES:
        kind, fields = _ON_PAGES[planned.action](text)
        return build(observation, kind, **fields)
    if planned.action not in _ON_ELEMENTS:
        known = ", ".join([*_ON_ELEMENTS, *_ON_PAGES, *_KEPT])
        return Misread(f"there is no action {planned.action[:40]!r}: use one of {known}")
    kind, fields = _ON_ELEMENTS[planned.action](text)
    if SOM in observation.parts:
        element = None
        if planned.position is not None:
            element = element_at(observation, *planned.position)
            if element is None:
                return _at_place(planned.action, *planned.position, observation)
    else:
        element = planned.element_id
    if element is None:
        return Misread(f"{planned.action} needs to be told where")
    return build(observation, kind, element=element, **fields)


def _at_place(action: str, x: float, y: float, observation: Observation) -> Action | Misread:
    match action:
        case "click":
            return build(observation, "mouse_click", x=x, y=y)
        case "hover":
            return build(observation, "mouse_move", x=x, y=y)
        case _:
            return Misread(f"{action}: there is no field at {x:g}, {y:g}")


Fields = Mapping[str, object]
_KEPT: Final = ("cache_data", "get_final_answer")
_ON_PAGES: Final[Mapping[str, Callable[[str], tuple[str, Fields]]]] = {
    "goto": lambda text: ("goto", {"url": text}),
    "go_back": lambda _: ("back", {}),
    "scroll_down": lambda _: ("scroll", {"direction": "down"}),
    "scroll_up": lambda _: ("scroll", {"direction": "up"}),
    "switch_tab": lambda text: ("focus_tab", {"index": text}),
}
_ON_ELEMENTS: Final[Mapping[str, Callable[[str], tuple[str, Fields]]]] = {
    "click": lambda _: ("click", {}),
    "hover": lambda _: ("hover", {}),
    "fill_form": lambda text: ("type", {"text": text}),
    "fill_search": lambda text: ("type", {"text": text, "submit": True}),
    "select_option": lambda text: ("select", {"option": text}),
}
