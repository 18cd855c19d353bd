"""Plays a task as AutoWebGLM does: one prompt a step, one command a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import PositiveInt

from arena_core.actions import Action, Wait
from arena_core.errors import AgentError
from orchestrator.agents.action_spaces.autowebglm import AutoWebGlmActions, page_of, print_command
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.builtin.prompt import filled
from orchestrator.agents.builtin.webarena import EarlyStop, Move
from orchestrator.agents.interface import Assignment, Decision, PastTurn
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model_agent import ModelSession, Shown, model_agent
from orchestrator.browser.observation import (
    IN_VIEWPORT,
    PRUNED_HTML,
    PRUNED_HTML_XML,
    Observation,
    PrunedHtml,
    Tab,
)

# How the prompt is wrapped: as a chat message, or as ChatGLM3 was trained to be asked.
Layout = Literal["chat", "chatglm3"]


def step_messages(
    task: str, observation: Observation, page: PrunedHtml, commands: Sequence[str], layout: Layout
) -> tuple[Message, ...]:
    """Return the one message of a step, its parts in the order of AutoWebGLM's own.

    Source: arXiv 2404.03648, figure 3 and `NewASPromptConstructor`; with the layout `chatglm3`, the
    template `Q: … A: `.
    """
    text = filled(
        "autowebglm/step.txt",
        html=page.text,
        commands="\n".join(commands) or "None",
        tabs=tab_lines(observation.tabs),
        position=position(page),
        task=task,
    )
    if layout == "chatglm3":
        text = f"Q: {text}\n\nA: "
    return (Message(ChatRole.USER, text),)


def tab_lines(tabs: Sequence[Tab]) -> str:
    return "\n".join(
        f"{number}. {tab.title}{' <-- current tab' if tab.is_current else ''}"
        for number, tab in enumerate(tabs, start=1)
    )


def position(page: PrunedHtml) -> str:
    scrolled, height = page.viewports
    return f"{_rounded(scrolled)} / {_rounded(height)}"


def _rounded(number: float) -> str:
    return f"{round(number, 1):g}"


# How the simplified HTML is printed: `<a[B]| Kettles >`, or `<a id="B">Kettles </a>`.
Style = Literal["refine", "xml"]
# What no action of the browser stands for: a reply without a command costs a step all the same.
_NOTHING: Final = Wait(seconds=0)
_PARSER: Final = AutoWebGlmActions()
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
        self._session = ModelSession(client, seed=seed, least=least)
        self._early_stop = EarlyStop(parse_failures=parse_failures, repeats=repeats)
        self._commands: list[str] = []

    async def decide(self, observation: Observation) -> Decision:
        reason = self._early_stop.reason()
        if reason is not None:
            raise AgentError(f"early stop: {reason}")
        page = page_of(observation)
        asked = step_messages(self._task, observation, page, self._commands, self._layout)
        said = await self._session.ask(asked)
        action = self._take(_PARSER.parse(said.text, observation), said.text, observation)
        return self._session.decision(action, said.text)

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Take what was done before it began as commands of its own; no early stop counts them."""
        self._commands += [_recalled(turn.action, turn.seen) for turn in past]

    def _take(self, read: Action | Misread, said: str, observation: Observation) -> Action:
        if isinstance(read, Misread):
            self._early_stop.note(None)
            self._commands.append(f"{_one_line(said)[:_QUOTED]} #Not done: {read.why}")
            return _NOTHING
        fields = read.model_dump(exclude={"kind"})
        self._early_stop.note(Move.of(read.kind, fields))
        self._commands.append(_recalled(read, observation))
        return read


def _recalled(action: Action, observation: Observation) -> str:
    command = print_command(action, observation) or action.kind
    segment = _segment(action, observation)
    return f"{command} #HTML Segment: {segment}" if segment else command


def _segment(action: Action, observation: Observation) -> str:
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
