"""One conversation with a model about one task: what is shown, what it does, what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final, Protocol

from arena_core.actions import Action
from arena_core.errors import AgentError, UsageError
from orchestrator.agents.action_spaces.computer_use import Size
from orchestrator.agents.action_spaces.functions import BESIDE_A_COMPUTER, ON_ELEMENTS, ActionTools
from orchestrator.agents.action_spaces.parser import ActionParser, Misread, ToolActions
from orchestrator.agents.builtin.prompt import (
    PageTurner,
    PastStep,
    page_of,
    past_line,
    place_of,
    task_of,
)
from orchestrator.agents.interface import Assignment, Decision, PastTurn
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import (
    ChatRole,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolSpec,
)
from orchestrator.agents.model_agent import REPEATED, CallHistory, ModelReply, ModelSession
from orchestrator.browser.observation import (
    SCREENSHOT,
    SOM,
    Mark,
    MarkedPicture,
    Observation,
    Picture,
)

_UNUSABLE_REPLIES: Final = 3
_QUOTED: Final = 200
_DONE: Final = "Done. What came of it follows."


class PageView(Protocol):
    """How observations are shown to a model."""

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:
        """Return what the model is shown of a page; `done` is the action that led to it."""


class Reader(Protocol):
    """How a model's replies are read."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The functions that it is offered."""

    def read(self, said: ModelReply, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return the actions that it chose, to be played in order, or why there are none."""


@dataclass(frozen=True, slots=True)
class CallReader:
    """Reads the first function that was called; prose beside it is the thought."""

    functions: ToolActions

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.functions.tools

    def read(self, said: ModelReply, observation: Observation) -> tuple[Action, ...] | Misread:
        if not said.calls:
            return Misread("no function was called")
        call = said.calls[0]
        return self.functions.read(call.name, call.arguments, observation)


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads the one action in a reply's text; no functions are offered."""

    parser: ActionParser

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return ()

    def read(self, said: ModelReply, observation: Observation) -> tuple[Action, ...] | Misread:
        action = self.parser.parse(said.text, observation)
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

    def outcome(self, error: str | None, reply: str | None) -> str:
        many = len(self.actions)
        if error is None:
            return _DONE if reply is None else f"The user answered: {reply}"
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
        view: PageView,
        *,
        seed: int,
        kept: int,
    ) -> None:
        rules = Message(ChatRole.SYSTEM, words.rules)
        least = [rules, Message(ChatRole.USER, words.task)]
        self._session = ModelSession(client, seed=seed, least=least)
        self._words = words
        self._reader = reader
        self._view = view
        self._kept = kept
        self._past: list[Message | _Shown] = [rules]
        self._calls = CallHistory()
        self._turn: _Turn | None = None
        self._left: deque[Action] = deque()
        self._done_before: Action | None = None
        self._begins_with = words.task

    async def decide(self, observation: Observation) -> Decision:
        goes_on = observation.last_error is None and observation.reply is None
        if self._turn is not None and self._left and goes_on:
            self._turn.played += 1
            return Decision(self._left.popleft())
        self._take_in(observation)
        last = ""
        for _ in range(_UNUSABLE_REPLIES):
            said = await self._session.ask(self._messages(), self._reader.tools)
            read = self._reader.read(said, observation)
            message = self._calls.said(said.text or ("" if said.calls else "(nothing)"), said.calls)
            self._past.append(message)
            if not isinstance(read, Misread):
                self._turn, self._left = _Turn(message, read), deque(read[1:])
                return self._session.decision(read[0], said.text or None)
            why = f"{read.why} (it was cut off: be brief)" if said.is_cut else read.why
            last = f"{_quoted(said)}: {why}"
            self._object(message, why)
        message_ = f"no valid action in {_UNUSABLE_REPLIES} replies of the model; the last {last}"
        raise AgentError(message_)

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Take what was done before it began: the first message says it in words.

        No endpoint takes calls of functions that nobody made, with observations of another agent.
        """
        for turn in past:
            self._view.show(turn.seen, self._done_before)  # it knows how far a page was scrolled
            self._done_before = turn.action
        done = "\n".join(
            past_line(
                PastStep(turn.seen.step, turn.thought or "", turn.action, turn.error, turn.reply)
            )
            for turn in past
        )
        self._begins_with = f"{self._words.task}\n\nDone so far:\n{done}"

    def _take_in(self, observation: Observation) -> None:
        turn, self._turn = self._turn, None
        self._left.clear()
        before, done = self._begins_with, self._done_before
        if turn is not None:
            done = turn.last
            outcome = turn.outcome(observation.last_error, observation.reply)
            self._past += self._calls.answers(turn.said, outcome)
            before = "" if turn.said.tool_calls else outcome
        note = f"(What was shown at step {observation.step + 1}, {observation.url}, is left out.)"
        self._past.append(_Shown(before, self._view.show(observation, done), note))

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


def _quoted(said: ModelReply) -> str:
    calls = " ".join(f"{call.name}({call.arguments[:REPEATED]})" for call in said.calls[:2])
    line = " ".join(f"{said.text[:REPEATED]} {calls}".split()) or "(nothing)"
    return repr(line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…")


_NAME_SHOWN = 200


class TreeView:
    """The accessibility tree, a long one in parts."""

    def __init__(self, assignment: Assignment, budget: int) -> None:
        self._steps = assignment.step_limit
        self._pages = PageTurner(budget)

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:
        part = self._pages.turn(observation.text, observation.url, done)
        return (TextPart(f"{_heading(observation, self._steps)}\n{page_of(part)}"),)


@dataclass(frozen=True, slots=True)
class MarksView:
    """The picture with numbered boxes, and the list of what is numbered."""

    assignment: Assignment

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:  # noqa: ARG002
        marked = observation.parts.get(SOM)
        if not isinstance(marked, MarkedPicture):
            raise UsageError(_missing(SOM))
        marks = "\n".join(_line(mark) for mark in marked.marks) or "(nothing)"
        text = f"{_heading(observation, self.assignment.step_limit)}\nNumbered in it:\n{marks}"
        return TextPart(text), ImagePart(marked.picture.data)


@dataclass(frozen=True, slots=True)
class PictureView:
    """The picture alone.

    Attributes:
        most: how large it is sent at most; None for as it is.
        says_size: whether its size is said beside it, for a model that names places in pixels.
    """

    assignment: Assignment
    most: Size | None = None
    says_size: bool = True

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:  # noqa: ARG002
        picture = observation.parts.get(SCREENSHOT)
        if not isinstance(picture, Picture):
            raise UsageError(_missing(SCREENSHOT))
        sent = Size(picture.width, picture.height).within(self.most)
        size = f"\nThe picture is {sent} pixels." if self.says_size else ""
        text = f"{_heading(observation, self.assignment.step_limit)}{size}"
        return TextPart(text), ImagePart(resized(picture, sent))


def resized(picture: Picture, size: Size) -> bytes:
    """Return a picture's PNG at another size; as it is where that is its own."""
    if (picture.width, picture.height) == (size.width, size.height):
        return picture.data
    from PIL import Image  # noqa: PLC0415 - only agents that shrink pictures pay for it

    written = BytesIO()
    with Image.open(BytesIO(picture.data)) as image:
        image.convert("RGB").resize((size.width, size.height), Image.Resampling.LANCZOS).save(
            written, format="PNG"
        )
    return written.getvalue()


def _missing(form: str) -> str:
    return f"this observation has no `{form}`: an episode must be opened with what its agent needs"


def _heading(observation: Observation, steps: int) -> str:
    return f"Step {observation.step + 1} of {steps}.\n\n{place_of(observation)}"


def _line(mark: Mark) -> str:
    name = " ".join(mark.name.split())
    shown = name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"
    return f'[{mark.id}] {mark.role} "{shown}"'


# Arena's tasks that cannot be done ask for an answer that says so, so nobody is led to end without.
_LEFT_OUT = frozenset({"infeasible"})


def task_with_files(assignment: Assignment) -> str:
    files = f"\n\nFiles to upload: {', '.join(assignment.files)}" if assignment.files else ""
    return f"{task_of(assignment)}{files}"


def element_tools(assignment: Assignment) -> ActionTools:
    left_out = _left_out(assignment) | (frozenset() if assignment.files else {"upload"})
    return ActionTools(tuple(kind for kind in ON_ELEMENTS if kind not in left_out))


def browser_tools(assignment: Assignment) -> ActionTools:
    left_out = _left_out(assignment)
    return ActionTools(tuple(kind for kind in BESIDE_A_COMPUTER if kind not in left_out))


def _left_out(assignment: Assignment) -> frozenset[str]:
    return _LEFT_OUT if assignment.can_ask else _LEFT_OUT | {"ask_user"}
