"""Plays a task as AutoWebGLM does: one prompt a step, one command a reply."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import PositiveInt

from arena_core.actions import Action, Wait
from arena_core.errors import AgentError
from orchestrator.agent_interface import Assignment, Decision
from orchestrator.agents.asking import Asking
from orchestrator.agents.autowebglm.prompt import Layout, step_messages
from orchestrator.agents.early_stop import EarlyStop, Move
from orchestrator.agents.model_agent import Shown, model_agent
from orchestrator.grammars.autowebglm import AutoWebGlmGrammar, page_of, print_command
from orchestrator.grammars.grammar import Misread
from orchestrator.model.client import ModelClient
from orchestrator.observation import (
    IN_VIEWPORT,
    PRUNED_HTML,
    PRUNED_HTML_XML,
    Observation,
    PrunedHtml,
)

# How the simplified HTML is printed: `<a[B]| Kettles >`, or `<a id="B">Kettles </a>`.
Style = Literal["refine", "xml"]
# What no action of the browser stands for: a reply without a command costs a step all the same.
_NOTHING: Final = Wait(seconds=0)
_GRAMMAR: Final = AutoWebGlmGrammar()
_QUOTED: Final = 300
_EMPTY: Final = PrunedHtml("", {})


class AutoWebGlmAgent:
    """Asks its model once a step; a reply that is no command is a step in which nothing is done.

    It is stopped early as WebArena's runner stops it, of which AutoWebGLM's is a fork, and the
    episode is scored as it stands then.
    """

    def __init__(
        self,
        client: ModelClient,
        assignment: Assignment,
        *,
        seed: int,
        layout: Layout = "chat",
        parse_failures: PositiveInt = 3,
        repeats: PositiveInt = 3,
        style: Style = "refine",  # noqa: ARG002 - it decides what is observed, not what is done
        viewport: bool = True,  # noqa: ARG002 - the same
    ) -> None:
        self._task = assignment.intent
        self._layout = layout
        nothing = Observation(step=0, url="", title="", tabs=())
        least = step_messages(self._task, nothing, _EMPTY, (), layout)
        self._asking = Asking(client, seed=seed, least=least)
        self._early_stop = EarlyStop(parse_failures=parse_failures, repeats=repeats)
        self._commands: list[str] = []

    async def decide(self, observation: Observation) -> Decision:
        """Ask the model for the next command.

        Raises:
            AgentError: it is stopped early, or the prompt is longer than the model's context
                window, where AutoWebGLM does nothing for the rest of the steps.
            ModelError: the model cannot be reached, answers garbage or nothing, or no prompt at all
                fits its context window.
        """
        reason = self._early_stop.reason()
        if reason is not None:
            message = f"early stop: {reason}"
            raise AgentError(message)
        page = page_of(observation)
        asked = step_messages(self._task, observation, page, self._commands, self._layout)
        said = await self._asking.ask(asked)
        action = self._take(_GRAMMAR.parse(said.text, observation), said.text, observation)
        return self._asking.decision(action, said.text)

    def _take(self, read: Action | Misread, said: str, observation: Observation) -> Action:
        """Note a command for the prompts to come, and return what to do."""
        if isinstance(read, Misread):
            self._early_stop.note(None)
            self._commands.append(f"{_one_line(said)[:_QUOTED]} #Not done: {read.why}")
            return _NOTHING
        fields = read.model_dump(exclude={"kind"})
        self._early_stop.note(Move.of(read.kind, fields))
        command = print_command(read, observation) or read.kind
        segment = _segment(read, observation)
        self._commands.append(f"{command} #HTML Segment: {segment}" if segment else command)
        return read


def _segment(action: Action, observation: Observation) -> str:
    """Return the snippet of the page around the element that an action is on; '' for others."""
    element = getattr(action, "element", None)
    page = page_of(observation)
    labels = (label for label, labelled in page.ids.items() if labelled == element)
    return _one_line(page.segments.get(next(labels, ""), ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(*, style: Style = "refine", viewport: bool = True) -> Shown:
    """Return what it is shown: AutoWebGLM labels what the viewport shows, and nothing else."""
    form = PRUNED_HTML if style == "refine" else PRUNED_HTML_XML
    form = f"{form}{IN_VIEWPORT}" if viewport else form
    return Shown(observations=frozenset({form}))


AUTOWEBGLM: Final = model_agent("autowebglm", AutoWebGlmAgent, shown=_shown)
