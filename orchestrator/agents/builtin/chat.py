"""Agents on any chat model: one small ReAct loop, and one that answers recorded steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Stop
from arena_core.errors import AgentError
from orchestrator.agents.action_spaces.arena_json import NoContent, Reply, Unusable, read_reply
from orchestrator.agents.builtin.prompt import (
    PagePart,
    PageTurner,
    PastStep,
    correction,
    step_prompt,
    system_prompt,
)
from orchestrator.agents.interface import Agent, Assignment, Decision, PastTurn
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.completion import Completion, split_thinking
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model_agent import ModelSession, model_agent
from orchestrator.browser.observation import Observation

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

    Args:
        rules: what follows the rules of its prompt.
    """

    def __init__(
        self,
        model: ModelClient,
        assignment: Assignment,
        *,
        seed: int,
        limits: ChatLimits,
        confidence: bool = False,
        rules: str = "",
    ) -> None:
        self._model = model
        prompt = system_prompt(assignment, with_confidence=confidence) + rules
        self._system = Message(ChatRole.SYSTEM, prompt)
        least = (self._system, Message(ChatRole.USER, assignment.intent))
        self._session = ModelSession(model, seed=seed, least=least)
        self._assignment = assignment
        self._limits = limits
        self._has_confidence = confidence
        self._past: deque[PastStep] = deque(maxlen=limits.past_steps)
        self._open: tuple[int, Reply] | None = None
        self._pages = PageTurner(limits.page_characters)

    async def decide(self, observation: Observation) -> Decision:
        part = self._take_in(observation)
        messages = [
            self._system,
            Message(
                ChatRole.USER, step_prompt(self._assignment, observation, tuple(self._past), part)
            ),
        ]
        unusable = empty = 0
        last = ""
        while unusable < self._limits.replies:
            said = await self._session.complete(messages)
            reply = read_reply(said, observation, with_confidence=self._has_confidence)
            if isinstance(reply, Reply):
                self._open = (observation.step, reply)
                return self._session.decision(reply.action, reply.thought)
            if isinstance(reply, NoContent):
                empty += 1
                if empty == self._limits.replies:
                    raise self._model.no_content(empty)
                reply = Unusable(("it is empty",))
            else:
                unusable += 1
                last = f"{_quote(said)}: {'; '.join(reply.problems)}"
            messages += _objection(said, reply)
        raise AgentError(f"no valid action in {unusable} replies of the model; the last {last}")

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Take what was done before it began as its own past."""
        for turn in past:
            self._take_in(turn.seen)
            reply = Reply(thought=turn.thought or "", action=turn.action)
            self._open = (turn.seen.step, reply)

    def _take_in(self, observation: Observation) -> PagePart:
        done = None
        if self._open is not None:
            step, reply = self._open
            self._past.append(
                PastStep(
                    step, reply.thought, reply.action, observation.last_error, observation.reply
                )
            )
            done = reply.action
            self._open = None
        return self._pages.turn(observation.text, observation.url, done)


def _objection(said: Completion, wrong: Unusable) -> list[Message]:
    # The reply alone, without its thinking; some endpoints refuse an empty message.
    quoted = split_thinking(said.text).reply or "(nothing)"
    return [
        Message(ChatRole.ASSISTANT, quoted[:_REPEATED]),
        Message(ChatRole.USER, correction(wrong.problems, is_cut=said.is_cut)),
    ]


def _quote(said: Completion) -> str:
    calls = " ".join(f"{call.name}({call.arguments})" for call in said.tool_calls)
    line = (
        " ".join(f"{split_thinking(said.text).reply} {calls}".split()) or "(nothing but thinking)"
    )
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")


def _make(
    model: ModelClient, assignment: Assignment, *, seed: int, confidence: bool = False
) -> Agent:
    limits = ChatLimits()
    return ChatAgent(model, assignment, seed=seed, limits=limits, confidence=confidence)


CHAT: Final = model_agent("chat", _make)


class RecordedAgent:
    """Asks its model once, with what it is assigned and nothing else, and stops with the reply.

    The prompts of recorded steps hold page, functions and history as they were recorded; of a task
    that is played on sites it sees the intent alone.
    """

    def __init__(self, client: ModelClient, assignment: Assignment, *, seed: int) -> None:
        self._messages = (Message(ChatRole.USER, assignment.intent),)
        self._session = ModelSession(client, seed=seed, least=self._messages)

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002 - the prompt holds all there is
        said = await self._session.ask(self._messages)
        return self._session.decision(Stop(answer=said.text))


RECORDED: Final = model_agent("recorded", RecordedAgent, observations=frozenset())
