"""Plays a task as WebArena's prompting agent does: one question a step, one action a reply."""

from __future__ import annotations

from typing import Final

from pydantic import PositiveInt

from arena_core.actions import Action, Wait
from arena_core.errors import AgentError
from orchestrator.agent_interface import Assignment, Decision
from orchestrator.agents.asking import Asking
from orchestrator.agents.early_stop import EarlyStop, Move
from orchestrator.agents.model_agent import Shown, model_agent
from orchestrator.agents.webarena.page import node_text
from orchestrator.agents.webarena.prompt import Prompt, Style
from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.webarena import Written, fenced_action, print_action, read_written
from orchestrator.model.client import ModelClient
from orchestrator.observation import AXTREE, IN_VIEWPORT, Observation

# What no action of the browser stands for: a reply without one costs a step all the same.
_NOTHING: Final = Wait(seconds=0)
_QUOTED: Final = 2_000


class WebArenaAgent:
    """Asks its model once a step; a reply without an action is a step in which nothing is done.

    The model is told so at the next step. It is stopped early where it repeats itself or cannot be
    read several times, and the episode is scored as it stands then. WebArena gives such an end an
    answer, "Early stop: …", which its loosest checks can take for one; here it has none.
    """

    def __init__(
        self,
        client: ModelClient,
        assignment: Assignment,
        *,
        seed: int,
        style: Style = "cot",
        na_hint: bool = True,
        parse_failures: PositiveInt = 3,
        repeats: PositiveInt = 3,
        max_obs_length: PositiveInt | None = 1920,
        viewport: bool = True,  # noqa: ARG002 - it decides what is observed, not what is done
    ) -> None:
        self._prompt = Prompt(
            assignment, style=style, has_hint=na_hint, max_obs_length=max_obs_length
        )
        self._asking = Asking(client, seed=seed, least=self._prompt.least())
        self._early_stop = EarlyStop(parse_failures=parse_failures, repeats=repeats)
        self._previous = "None"

    async def decide(self, observation: Observation) -> Decision:
        """Ask the model for the next action.

        Raises:
            AgentError: it is stopped early, or the prompt is longer than the model's context
                window.
            ModelError: the model cannot be reached, answers garbage or nothing, or no prompt at all
                fits its context window.
        """
        reason = self._early_stop.reason()
        if reason is not None:
            message = f"early stop: {reason}"
            raise AgentError(message)
        said = await self._asking.ask(self._prompt.messages(observation, self._previous))
        fenced = fenced_action(said.text)
        written = fenced if isinstance(fenced, Misread) else read_written(fenced)
        action = self._take(written, said.text, observation)
        return self._asking.decision(action, said.text)

    def _take(self, written: Written | Misread, said: str, observation: Observation) -> Action:
        """Note what was said, in the words of the next step's prompt, and return what to do."""
        if isinstance(written, Misread):
            self._early_stop.note(None)
            self._previous = (
                f'You wrote "{said[:_QUOTED]}", which cannot be read as an action: {written.why}.'
                " Put the action between two fences of three back-ticks, and its arguments into"
                " brackets: ```action [argument]```."
            )
            return _NOTHING
        self._early_stop.note(Move.of(written.kind, written.fields))
        action = written.on(observation)
        if isinstance(action, Misread):
            self._previous = (
                f"You tried {written.kind} with {_arguments(written)}, but {action.why}."
                " Look at the observation again."
            )
            return _NOTHING
        self._previous = _described(action, observation)
        return action


def _arguments(written: Written) -> str:
    return " ".join(f"[{value}]" for value in written.fields.values())


def _described(action: Action, observation: Observation) -> str:
    """Return an action in its own grammar, with the element that its id stands for."""
    said = print_action(action) or action.kind
    element = getattr(action, "element", None)
    found = next((node for node in observation.nodes if node.id == element), None)
    return said if found is None else f"{said} where [{found.id}] is {node_text(found)}"


def _shown(*, viewport: bool = True) -> Shown:
    """Return what it is shown: WebArena shows its agents the viewport alone."""
    return Shown(observations=frozenset({f"{AXTREE}{IN_VIEWPORT}" if viewport else AXTREE}))


WEBARENA: Final = model_agent("webarena", WebArenaAgent, shown=_shown)
