"""One conversation with a model about one task: what is shown, what it does, what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from arena_core.actions import Action
from arena_core.errors import AgentError
from orchestrator.agent_interface import Decision
from orchestrator.agents.asking import Asking, Said
from orchestrator.agents.called import REPEATED, CallBook
from orchestrator.grammars.grammar import Grammar, Misread, ToolGrammar
from orchestrator.model.client import ModelClient
from orchestrator.model.messages import ChatRole, Message, Part, TextPart, ToolSpec
from orchestrator.observation import Observation

_UNUSABLE_REPLIES: Final = 3
_QUOTED: Final = 200
_DONE: Final = "Done. What came of it follows."


class Sight(Protocol):
    """How observations are shown to a model."""

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:
        """Return what the model is shown of a page; `done` is the action that led to it."""


class Reader(Protocol):
    """How a model's replies are read."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions that it is offered."""

    def read(self, said: Said, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return the actions that it chose, to be played in order, or why there are none."""


@dataclass(frozen=True, slots=True)
class CallReader:
    """Reads the first function that was called; prose beside it is the thought."""

    grammar: ToolGrammar

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The grammar's."""
        return self.grammar.tools

    def read(self, said: Said, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return what the first call stands for."""
        if not said.calls:
            return Misread("no function was called")
        call = said.calls[0]
        return self.grammar.read(call.name, call.arguments, observation)


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads the one action in a reply's text; no functions are offered."""

    grammar: Grammar

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """None."""
        return ()

    def read(self, said: Said, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return the action of the text."""
        action = self.grammar.parse(said.text, observation)
        return action if isinstance(action, Misread) else (action,)


@dataclass(frozen=True, slots=True)
class Words:
    """What a conversation says beside what is shown.

    Attributes:
        rules: the first message: what the agent is, and how it replies.
        task: begins what is shown first.
        again: how a reply is to look; follows what is wrong with one that cannot be used.
    """

    rules: str
    task: str
    again: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """What was shown at one step; only the last few are sent whole.

    Attributes:
        before: stands in front of it, whatever its age.
        note: stands in its place when it is old.
    """

    before: str
    parts: tuple[Part, ...]
    note: str

    def message(self, *, is_whole: bool) -> Message:
        parts = self.parts if is_whole else (TextPart(self.note),)
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        text = "\n\n".join(text for text in (self.before, *texts) if text)
        others = tuple(part for part in parts if not isinstance(part, TextPart))
        return Message(ChatRole.USER, (TextPart(text), *others) if others else text)


@dataclass(slots=True)
class _Turn:
    """What the model chose last, and how far it is played."""

    said: Message
    actions: tuple[Action, ...]
    played: int = 1

    @property
    def last(self) -> Action:
        return self.actions[self.played - 1]

    def outcome(self, error: str | None) -> str:
        many = len(self.actions)
        if error is None:
            return _DONE
        if many == 1:
            return f"Not done: {error}"
        rest = " What came after it was not tried." if self.played < many else ""
        return f"Not done: action {self.played} of {many} ({self.last.kind}): {error}.{rest}"


class Dialogue:
    """A conversation that only grows: what was said stays, so that endpoints can cache it.

    A choice of several actions is played one a step, without asking between them, until one cannot
    be done. A reply that holds no valid action is answered with what is wrong; it costs no step of
    the task, but it is bounded.

    Args:
        kept: how many of the last observations are sent whole; of older ones a note is left.
    """

    def __init__(
        self,
        client: ModelClient,
        words: Words,
        reader: Reader,
        sight: Sight,
        *,
        seed: int,
        kept: int,
    ) -> None:
        rules = Message(ChatRole.SYSTEM, words.rules)
        least = [rules, Message(ChatRole.USER, words.task)]
        self._asking = Asking(client, seed=seed, least=least)
        self._words = words
        self._reader = reader
        self._sight = sight
        self._kept = kept
        self._past: list[Message | _Shown] = [rules]
        self._calls = CallBook()
        self._turn: _Turn | None = None
        self._left: deque[Action] = deque()

    async def decide(self, observation: Observation) -> Decision:
        """Return the next action of what the model chose, or ask it.

        Raises:
            AgentError: no reply of a bounded number holds a valid action, or the conversation is
                longer than the model's context window.
            ModelError: the model cannot be reached, answers garbage or nothing, or no prompt at all
                fits its context window.
        """
        if self._turn is not None and self._left and observation.last_error is None:
            self._turn.played += 1
            return Decision(self._left.popleft())
        self._take_in(observation)
        last = ""
        for _ in range(_UNUSABLE_REPLIES):
            said = await self._asking.ask(self._messages(), self._reader.tools)
            read = self._reader.read(said, observation)
            message = self._calls.said(said.text or ("" if said.calls else "(nothing)"), said.calls)
            self._past.append(message)
            if not isinstance(read, Misread):
                self._turn, self._left = _Turn(message, read), deque(read[1:])
                return self._asking.decision(read[0], said.text or None)
            why = f"{read.why} (it was cut off: be brief)" if said.is_cut else read.why
            last = f"{_quoted(said)}: {why}"
            self._object(message, why)
        message_ = f"no valid action in {_UNUSABLE_REPLIES} replies of the model; the last {last}"
        raise AgentError(message_)

    def _take_in(self, observation: Observation) -> None:
        """Say what came of the last choice, and show the page as it is now."""
        turn, self._turn = self._turn, None
        self._left.clear()
        before, done = self._words.task, None
        if turn is not None:
            done = turn.last
            outcome = turn.outcome(observation.last_error)
            self._past += self._calls.answers(turn.said, outcome)
            before = "" if turn.said.tool_calls else outcome
        note = f"(What was shown at step {observation.step + 1}, {observation.url}, is left out.)"
        self._past.append(_Shown(before, self._sight.show(observation, done), note))

    def _object(self, said: Message, why: str) -> None:
        wrong = f"That cannot be used: {why}. {self._words.again}"
        answers = self._calls.answers(said, wrong)
        self._past += answers or [Message(ChatRole.USER, wrong)]

    def _messages(self) -> Sequence[Message]:
        ages = sum(isinstance(one, _Shown) for one in self._past)
        sent: list[Message] = []
        for one in self._past:
            if isinstance(one, _Shown):
                sent.append(one.message(is_whole=ages <= self._kept))
                ages -= 1
            else:
                sent.append(one)
        return sent


def _quoted(said: Said) -> str:
    calls = " ".join(f"{call.name}({call.arguments[:REPEATED]})" for call in said.calls[:2])
    line = " ".join(f"{said.text[:REPEATED]} {calls}".split()) or "(nothing)"
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")
