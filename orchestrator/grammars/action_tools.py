"""Arena's own actions as OpenAI function tools: one function an action, made from its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from pydantic import BaseModel

from arena_core.actions import Action
from orchestrator.grammars.functions import arguments_of, described, unknown
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.reading import build
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    one.model_fields["kind"].default: one for one in get_args(get_args(Action)[0])
}
_TABS: Final = ("goto", "back", "forward", "new_tab", "focus_tab", "close_tab")
_ENDS: Final = ("stop", "infeasible")
# What can be done with elements that have ids, and with no place on the screen.
ON_ELEMENTS: Final = (
    *("click", "hover", "type", "clear", "select", "press", "scroll", "focus", "write"),
    *("key_down", "key_up", "drag", "upload", "wait", *_TABS, *_ENDS),
)
# What remains to be done beside a mouse and a keyboard.
BESIDE_A_COMPUTER: Final = (*_TABS, *_ENDS)


@dataclass(frozen=True, slots=True)
class ActionTools:
    """Offers a function for each of these kinds of action.

    Attributes:
        kinds: of the actions, in the order in which they are offered.
    """

    kinds: tuple[str, ...] = ON_ELEMENTS

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions, named as the actions, with the actions' fields as parameters."""
        return tuple(described(kind, _MODELS[kind], but=frozenset({"kind"})) for kind in self.kinds)

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        """Return the action of a call; arguments that it does not have are refused."""
        if name not in self.kinds:
            return unknown(name, self.tools)
        fields = arguments_of(name, arguments)
        if isinstance(fields, Misread):
            return fields
        if "kind" in fields:
            return Misread(f"{name} has no argument 'kind'")
        action = build(observation, name, **fields)
        return action if isinstance(action, Misread) else (action,)
