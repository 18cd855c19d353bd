"""The seam that every grammar fills: from what was said to actions, or to why it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from arena_core.actions import Action
from orchestrator.model.messages import ToolSpec
from orchestrator.observation import Observation

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


class Grammar(Protocol):
    """Reads one action out of a text."""

    def parse(self, said: str, observation: Observation) -> Action | Misread:
        """Return the one action that was said.

        Nothing that was said is evaluated, and no text makes it raise.

        Args:
            said: what an agent said, whole; the grammar knows where in it an action stands.
            observation: what the agent saw when it said so.
        """


class ScriptGrammar(Grammar, Protocol):
    """A grammar in which one text may hold several actions, or one call may stand for several."""

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return all actions that were said, at least one, in the order to play them in."""


class ToolGrammar(Protocol):
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
