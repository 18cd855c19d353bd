"""The planning module: one step, as WebCanvas's actions write it, and what it is in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

from arena_core.actions import Action, Wait
from orchestrator.agents.webcanvas.replies import read_object
from orchestrator.agents.webcanvas.sight import element_at
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.reading import build
from orchestrator.observation import SOM, Observation


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
    """Return an action on a place of the picture at which no element is known."""
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
