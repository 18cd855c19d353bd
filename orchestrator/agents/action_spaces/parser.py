"""What action spaces share: how they are read, and the action that is valid and possible."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from pydantic import TypeAdapter, ValidationError

from arena_core.actions import Action, FocusTab, elements_of
from orchestrator.agents.model.messages import ToolSpec
from orchestrator.browser.observation import (
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    MarkedPicture,
    Observation,
    PrunedHtml,
)

_LONGEST_WHY: Final = 1_000


@dataclass(frozen=True, slots=True)
class Misread:
    """What was said is no action, or none that this page allows.

    Attributes:
        why: what is wrong with it, in one line for the agent, without a full stop at its end. What
            it quotes may be long: it is cut.
    """

    why: str

    def __post_init__(self) -> None:
        line = " ".join(self.why.split())
        shown = line if len(line) <= _LONGEST_WHY else f"{line[: _LONGEST_WHY - 1]}…"
        object.__setattr__(self, "why", shown)


class ActionParser(Protocol):
    """Reads one action out of a text."""

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the one action that was said.

        Nothing that was said is evaluated, and no text makes it raise.

        Args:
            said: what an agent said, whole; the parser knows where in it an action stands.
            observation: what the agent saw when it said so.
        """


class ToolActions(Protocol):
    """Reads the calls of functions that a model was offered."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions to offer."""

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return the actions that a call stands for, at least one, in the order to play them in.

        Nothing of it is evaluated, and no call makes it raise.

        Args:
            name: the function that was called.
            arguments: as they came, meant to be the JSON of an object.
            observation: what the model saw when it called.
        """


ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_REFERENCE: Final = re.compile(r"\[ref=e(\d{1,18})\]")
_ATTRIBUTE: Final = re.compile(r'\barena="(\d{1,18})"')


def build(observation: Observation, kind: str, /, **fields: object) -> Action | Misread:
    """Return the action of this kind with these fields, if it is valid and possible.

    Fields are taken as they were said; what JSON cannot hold makes no action.
    """
    action = valid(kind, **fields)
    if isinstance(action, Misread):
        return action
    return impossible(action, observation) or action


def valid(kind: str, /, **fields: object) -> Action | Misread:
    try:
        # As text: pydantic refuses there what Python lets pass, such as half a code point.
        action = ACTION.validate_json(json.dumps({**fields, "kind": kind}, allow_nan=False))
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, kind)))
    except (TypeError, ValueError, RecursionError) as cause:
        return Misread(f"{kind}: {cause}")
    for name, value in fields.items():
        if isinstance(value, bool) and not isinstance(getattr(action, name), bool):
            return Misread(f"{kind}.{name}: {value} is no number")  # pydantic takes it for 1 or 0
    return action


def script_of(
    calls: Iterable[tuple[Action | Misread, ...] | Misread], observation: Observation
) -> tuple[Action, ...] | Misread:
    """Return the actions of a script, call after call, if all are valid and the first can be done.

    What a later one names may come of those before it: whether it is there, the browser finds out.
    """
    actions: list[Action] = []
    for number, call in enumerate(calls):
        if isinstance(call, Misread):
            return call
        for action in call:
            wrong = action if isinstance(action, Misread) else None
            if not isinstance(action, Misread):
                actions.append(action)
                wrong = impossible(action, observation) if number == 0 else None
            if wrong is not None:
                return wrong
    return tuple(actions) or Misread("it holds no action")


def single(read: tuple[Action, ...] | Misread) -> Action | Misread:
    """Return the one action of a script; several are one step too many."""
    if isinstance(read, Misread):
        return read
    if len(read) > 1:
        kinds = ", ".join(action.kind for action in read)
        return Misread(f"it stands for {len(read)} actions ({kinds}), and one step is one action")
    return read[0]


def switch(observation: Observation, element: int, *, is_on: bool) -> Action | Misread:
    """Return the click that checks or unchecks a box; where it is so already, nothing but a look.

    Only the accessibility tree says which boxes are checked.
    """
    trees = [part for part in observation.parts.values() if isinstance(part, AxTree)]
    node = next((one for tree in trees for one in tree.nodes if one.id == element), None)
    if node is None:
        return Misread(f"whether {element} is checked is not in what you see: use click")
    return (
        valid("wait", seconds=0)
        if ("checked" in node.states) == is_on
        else valid("click", element=element)
    )


def held(modifiers: Iterable[object]) -> list[object]:
    """Return the keys that are held, with Playwright's `ControlOrMeta` as what it is on Linux."""
    return ["Control" if key == "ControlOrMeta" else key for key in modifiers]


def impossible(action: Action, observation: Observation) -> Misread | None:
    """Say why an action names something that this page or browser does not have.

    Elements are known from every form of observation that the agent was shown; where none of them
    names elements, such as a bare picture, the browser finds out.
    """
    listed = [ids for part in observation.parts.values() if (ids := _listed(part)) is not None]
    for element in elements_of(action):
        if listed and all(element not in ids for ids in listed):
            return Misread(f"there is no element {element} on the current page")
    if isinstance(action, FocusTab) and all(tab.index != action.index for tab in observation.tabs):
        return Misread(f"there is no tab {action.index}")
    return None


def problems(cause: ValidationError, whole: str) -> tuple[str, ...]:
    """Return what pydantic found wrong, one text a fault; `whole` names what has no field."""
    faults = cause.errors(include_url=False, include_context=False, include_input=False)
    return tuple(
        f"{'.'.join(str(part) for part in fault['loc']) or whole}: {fault['msg']}"
        for fault in faults
    )


def _listed(part: object) -> frozenset[int] | None:  # noqa: PLR0911 - one case per form
    """Return the ids of the elements in one part; None for a form that names no elements."""
    match part:
        case AxTree(nodes=nodes):
            return frozenset(node.id for node in nodes)
        case MarkedPicture(marks=marks):
            return frozenset(mark.id for mark in marks)
        case PrunedHtml(ids=ids):
            return frozenset(ids.values())
        case AriaSnapshot(text=text):
            return frozenset(map(int, _REFERENCE.findall(text)))
        case Html(text=text):
            return frozenset(map(int, _ATTRIBUTE.findall(text)))
        case Mapping() if all(isinstance(one, Box) for one in part.values()):
            return frozenset(one for one in part if isinstance(one, int))
        case _:
            return None
