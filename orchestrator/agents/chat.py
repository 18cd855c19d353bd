"""One small ReAct loop on any chat model: thought, action, next page."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from evaluators.actions import Scroll, ScrollDirection
from orchestrator.agents.prompt import (
    PagePart,
    PastStep,
    correction,
    part_of_page,
    step_prompt,
    system_prompt,
)
from orchestrator.agents.reply import Reply, Unusable, read_reply
from orchestrator.model.client import ChatMessage, ModelClient, Speaker
from orchestrator.observation import Assignment, Decision, Observation
from sites.errors import AgentError

_QUOTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """How much a chat agent is shown, and how often it may talk nonsense.

    Attributes:
        past_steps: of its own steps it is reminded of, newest last.
        page_characters: of the page's tree shown at once; longer pages come in parts.
        replies: per decision, before the agent gives up.
    """

    past_steps: int = 8
    page_characters: int = 24_000
    replies: int = 3


class ChatAgent:
    """Asks a model at each step, with the whole state in two messages.

    A reply that holds no valid action is answered with what is wrong with it. That costs no step
    of the task, but it is bounded, and its tokens are counted.
    """

    def __init__(
        self, model: ModelClient, assignment: Assignment, *, seed: int, limits: ChatLimits
    ) -> None:
        self._model = model
        self._assignment = assignment
        self._seed = seed
        self._limits = limits
        self._past: deque[PastStep] = deque(maxlen=limits.past_steps)
        self._open: tuple[int, Reply, str] | None = None
        self._part = 0

    async def decide(self, observation: Observation) -> Decision:
        """Ask the model for the next action.

        Raises:
            AgentError: no reply of a bounded number holds a valid action.
            ModelError: the model cannot be reached or answers garbage.
        """
        part = self._take_in(observation)
        messages = [
            ChatMessage(Speaker.SYSTEM, system_prompt(self._assignment)),
            ChatMessage(
                Speaker.USER,
                step_prompt(self._assignment, observation, tuple(self._past), part),
            ),
        ]
        input_tokens = output_tokens = 0
        last = ""
        for _ in range(self._limits.replies):
            said = await self._model.ask(messages, seed=self._seed)
            input_tokens += said.input_tokens or 0
            output_tokens += said.output_tokens or 0
            reply = read_reply(said.text, observation)
            if isinstance(reply, Reply):
                self._open = (observation.step, reply, observation.url)
                return Decision(reply.action, reply.thought, input_tokens, output_tokens)
            messages += _objection(said.text, reply, is_cut=said.is_cut)
            last = f"{_quote(said.text)}: {'; '.join(reply.problems)}"
        message = f"no valid action in {self._limits.replies} replies of the model; the last {last}"
        raise AgentError(message)

    def _take_in(self, observation: Observation) -> PagePart:
        """Note what came of the last action, and choose the part of the page to show."""
        if self._open is not None:
            step, reply, url = self._open
            self._past.append(PastStep(step, reply.thought, reply.action, observation.last_error))
            self._part = self._next_part(reply) if url == observation.url else 0
            self._open = None
        part = part_of_page(observation.text, self._limits.page_characters, self._part)
        self._part = part.index
        return part

    def _next_part(self, reply: Reply) -> int:
        """Scrolling turns the pages of a tree that is too long to be shown at once."""
        match reply.action:
            case Scroll(direction=ScrollDirection.DOWN):
                return self._part + 1
            case Scroll(direction=ScrollDirection.UP):
                return self._part - 1
            case _:
                return self._part


def _objection(said: str, wrong: Unusable, *, is_cut: bool) -> list[ChatMessage]:
    return [
        # An empty message of the assistant's is refused by several endpoints.
        ChatMessage(Speaker.ASSISTANT, said or "(nothing)"),
        ChatMessage(Speaker.USER, correction(wrong.problems, is_cut=is_cut)),
    ]


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")
