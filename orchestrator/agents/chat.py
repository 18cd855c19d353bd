"""One small ReAct loop on any chat model: thought, action, next page."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.errors import AgentError, ContextExceededError
from orchestrator.agent_interface import Agent, Assignment, Decision
from orchestrator.agents.model_agent import decision_of, model_agent
from orchestrator.agents.pages import PagePart, PageTurner
from orchestrator.agents.prompt import PastStep, correction, step_prompt, system_prompt
from orchestrator.agents.reply import NoContent, Unusable, read_reply
from orchestrator.agents.thinking import put_aside
from orchestrator.grammars.arena_json import Reply
from orchestrator.model.client import ModelClient
from orchestrator.model.completion import Completion
from orchestrator.model.messages import ChatRole, Message
from orchestrator.observation import Observation

_QUOTED = 200
_REPEATED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """How much a chat agent is shown, and how often it may talk nonsense.

    Attributes:
        past_steps: of its own steps it is reminded of, newest last.
        page_characters: of the page's tree shown at once; longer pages come in parts.
        replies: per decision that hold no valid action, before the agent gives up; as many without
            content, before the model counts as unavailable.
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
        self._open: tuple[int, Reply] | None = None
        self._pages = PageTurner(limits.page_characters)

    async def decide(self, observation: Observation) -> Decision:
        """Ask the model for the next action.

        Raises:
            AgentError: no reply of a bounded number holds a valid action, or the conversation is
                longer than the model's context window.
            ModelError: the model cannot be reached, answers garbage or nothing, or no prompt at all
                fits its context window.
        """
        part = self._take_in(observation)
        messages = [
            Message(ChatRole.SYSTEM, system_prompt(self._assignment)),
            Message(
                ChatRole.USER,
                step_prompt(self._assignment, observation, tuple(self._past), part),
            ),
        ]
        spent: list[Completion] = []
        unusable = empty = 0
        last = ""
        while unusable < self._limits.replies:
            said = await self._ask(messages)
            spent.append(said)
            reply = read_reply(said, observation)
            if isinstance(reply, Reply):
                self._open = (observation.step, reply)
                return decision_of(reply.action, reply.thought, spent)
            if isinstance(reply, NoContent):
                empty += 1
                if empty == self._limits.replies:
                    raise self._model.no_content(empty)
                reply = Unusable(("it is empty",))
            else:
                unusable += 1
                last = f"{_quote(said)}: {'; '.join(reply.problems)}"
            messages += _objection(said, reply)
        message = f"no valid action in {unusable} replies of the model; the last {last}"
        raise AgentError(message)

    async def _ask(self, messages: Sequence[Message]) -> Completion:
        """Ask; a prompt that is too long is the agent's, where a shorter one would have fitted."""
        try:
            return await self._model.ask(messages, seed=self._seed)
        except ContextExceededError as exceeded:
            if not self._model.has_replied:
                await self._ask_the_least(exceeded)
            raise AgentError(exceeded.message) from exceeded

    async def _ask_the_least(self, exceeded: ContextExceededError) -> None:
        """Raise where not even the rules and the task fit: then no episode can be played."""
        shortest = [
            Message(ChatRole.SYSTEM, system_prompt(self._assignment)),
            Message(ChatRole.USER, self._assignment.intent),
        ]
        try:
            await self._model.ask(shortest, seed=self._seed)
        except ContextExceededError:
            raise self._model.never_fits(exceeded) from exceeded

    def _take_in(self, observation: Observation) -> PagePart:
        """Note what came of the last action, and choose the part of the page to show."""
        done = None
        if self._open is not None:
            step, reply = self._open
            self._past.append(PastStep(step, reply.thought, reply.action, observation.last_error))
            done = reply.action
            self._open = None
        return self._pages.turn(observation.text, observation.url, done)


def _objection(said: Completion, wrong: Unusable) -> list[Message]:
    # The reply alone, without its thinking; some endpoints refuse an empty message.
    quoted = put_aside(said.text).reply or "(nothing)"
    return [
        Message(ChatRole.ASSISTANT, quoted[:_REPEATED]),
        Message(ChatRole.USER, correction(wrong.problems, is_cut=said.is_cut)),
    ]


def _quote(said: Completion) -> str:
    calls = " ".join(f"{call.name}({call.arguments})" for call in said.tool_calls)
    line = " ".join(f"{put_aside(said.text).reply} {calls}".split()) or "(nothing but thinking)"
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")


def _make(model: ModelClient, assignment: Assignment, *, seed: int) -> Agent:
    return ChatAgent(model, assignment, seed=seed, limits=ChatLimits())


CHAT: Final = model_agent("chat", _make)
