"""Plays a task as WebCanvas's agent does: judge the last step, plan the next, remember both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from arena_core.actions import Action, Stop
from arena_core.errors import AgentError, ArenaError, UsageError
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.fields import PerWorld
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.builtin.prompt import filled, prompt_text
from orchestrator.agents.builtin.webcanvas.planning import (
    FORMS,
    NOTHING,
    Mode,
    Plan,
    page_text,
    picture_of,
    pictures,
    read_object,
    read_plan,
)
from orchestrator.agents.interface import Assignment, Decision, Guide, Hint
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, Message, TextPart
from orchestrator.agents.model_agent import ModelSession, Shown, model_agent
from orchestrator.browser.observation import Observation

_COMPARED: Final[Mapping[str, str]] = {
    "exact": "is",
    "include": "contains",
    "number": "is the number",
}
_PARTS: Final[Mapping[str, str]] = {
    "logical": "the address of the page",
    "full": "the whole address of the page",
    "fragment": "the fragment of the page's address",
}


def nodes_text(guide: Guide, world: World) -> str:
    lines = [f"{at}. {_node(one, guide, world)}" for at, one in enumerate(guide.key_nodes, start=1)]
    return "\n".join(lines) or "(none)"


def _node(check: Check, guide: Guide, world: World) -> str:
    located = check.locate.model_dump(mode="json", exclude_defaults=True)
    what, is_address = _what(check.locate.by, located, guide)
    compared = _COMPARED.get(check.match.how, check.match.how)
    return f"{check.name}: {what} {compared} {_expected(check, guide, world, is_address)}"


def _what(by: str, located: Mapping[str, object], guide: Guide) -> tuple[str, bool]:
    page = located.get("page")
    where = f" on {_address(str(page), guide)}" if page else ""
    match by:
        case "url" if located.get("part") == "query":
            return f"the parameter '{located.get('key')}' of the address{where}", False
        case "url":
            part = str(located.get("part", "logical"))
            return f"{_PARTS[part]}{where}", part != "fragment"
        case "element":
            named = "".join(f" {located[one]!r}" for one in ("role", "named") if one in located)
            read = located.get("read", "name")
            return (
                f"after the event '{located.get('event')}', {read} of the element{named}{where}",
                False,
            )
        case _:
            more = ", ".join(f"{name} {value}" for name, value in located.items() if name != "by")
            return f"{by}{f' ({more})' if more else ''}", False


def _expected(check: Check, guide: Guide, world: World, is_address: bool) -> str:  # noqa: FBT001
    value: object = getattr(check.match, "value", None)
    if isinstance(value, PerWorld):
        value = value.of(world)
    if value is None:
        return check.match.model_dump_json(exclude={"how"}, exclude_defaults=True)
    values = value if isinstance(value, tuple) else (value,)
    texts = [f"{one:g}" if isinstance(one, float) else str(one) for one in values]
    if is_address and check.match.is_whole:
        texts = [_address(text, guide) for text in texts]
    return " and ".join(f"'{text}'" for text in texts)


def _address(logical: str, guide: Guide) -> str:
    """Return a logical URL as the browser shows it; as it is, where there is no such form of it."""
    try:
        return guide.url_of(logical)
    except ArenaError:
        return logical


# `none`: no reward module. `self`: the model judges by the task alone. `golden`: it is given the
# task's key nodes, so the agent is no contestant.
Reward = Literal["none", "self", "golden"]


class Verdict(BaseModel):
    """What the reward module says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    status: Literal["doing", "finished", "loop"]
    score: float | None = None
    reason: str = ""
    description: str = ""

    def as_feedback(self) -> str:
        heads = {
            "doing": "The task is not done yet.",
            "finished": "The task is judged to be finished: give the final answer.",
            "loop": "The last steps repeat themselves: try another way.",
        }
        return " ".join(filter(None, [heads[self.status], self.description, self.reason]))


def reward_rules(assignment: Assignment, reward: Reward) -> str:
    """Return what the model is told of judging; the golden reference stands nowhere else."""
    guide = ""
    if reward == "golden" and assignment.guide is not None:
        nodes = nodes_text(assignment.guide, assignment.world)
        guide = "\n\n" + filled("webcanvas/guide.txt", task=assignment.intent, nodes=nodes)
    return filled("webcanvas/reward.txt", guide=guide)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step that was done, and what the reward module made of it."""

    thought: str
    description: str
    reflection: str = ""


@dataclass(slots=True)
class Memory:
    """What an agent recalls of its episode.

    A step that failed is no part of the trace: what was wrong with it is the feedback for the next,
    as in WebCanvas, which from two steps on recalls all but shows only the last of one or two.
    """

    trace: list[TraceStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    feedback: str = ""
    answer: str | None = None
    _open: Plan | None = None

    def begin(self, plan: Plan) -> None:
        self._open = plan
        if plan.note is not None:
            self.notes.append(plan.note)
        if plan.answer is not None:
            self.answer = plan.answer

    def close(self, error: str | None) -> None:
        plan, self._open = self._open, None
        self.feedback = "" if error is None else f"It failed: {error}"
        if plan is not None and error is None:
            self.trace.append(TraceStep(plan.thought, plan.description))

    def reflect(self, reflection: str) -> None:
        """Note what the reward module says of the last step; the trace has none that failed."""
        if not self.feedback:
            last = self.trace[-1]
            self.trace[-1] = TraceStep(last.thought, last.description, reflection)
        self.feedback = "\n".join(filter(None, [self.feedback, reflection]))

    def trace_text(self) -> str:
        lines = [
            f"{number}. {done.description} (because: {done.thought})"
            + (f" → {done.reflection}" if done.reflection else "")
            for number, done in enumerate(self.trace, start=1)
        ]
        return "\n".join(lines) or "nothing yet"


# `task`: the task's own step limit, and the final answer ends it.
# `code`: version 0.0.3 of the published code. `paper`: arXiv 2406.12373.
Rules = Literal["task", "code", "paper"]

_LEAST: Final = 10
_MOST: Final = 25
_CODE_FACTOR: Final = 1.5
_PAPER_FACTOR: Final = 1.2
_MORE_ON_ERRORS: Final = 5
_ERROR: Final = "error"


@dataclass(slots=True)
class Limits:
    """How many steps an agent takes; never more than its task allows.

    Args:
        length: how many steps the reference takes; None where the rules do not ask.
    """

    rules: Rules
    length: int | None
    has_reward: bool
    _saw_error: bool = False

    def see(self, url: str) -> None:
        """Note a page: for the first whose address speaks of an error the code grants steps."""
        self._saw_error |= _ERROR in url

    @property
    def steps(self) -> int | None:
        """How many steps there are; None where the task's limit alone counts.

        The code: 1.5 times the reference, at least 10 and at most 25. The paper: 1.2 times the
        reference where there is no reward module to end it.
        """
        if self.rules == "task" or self.length is None:
            return None
        if self.rules == "paper":
            return None if self.has_reward else max(1, math.ceil(_PAPER_FACTOR * self.length))
        granted = max(_LEAST, math.ceil(_CODE_FACTOR * self.length))
        return min(_MOST, granted + (_MORE_ON_ERRORS if self._saw_error else 0))

    def is_reached(self, done: int) -> bool:
        return self.steps is not None and done >= self.steps

    @property
    def answer_ends(self) -> bool:
        """Whether the final answer ends the episode: in the code the loop goes on after it."""
        return self.rules != "code"

    @property
    def forgives_planning(self) -> bool:
        """Whether a step without a plan is a step lost, and not the end."""
        return self.rules == "code"


_TRIES: Final = 3
_QUOTED: Final = 300


class WebCanvasAgent:
    """Judges, plans and remembers, by up to three questions to its model for each of the two.

    It differs from the published code where that cannot work: what is remembered is shown, typed
    text is typed as it stands, no second model decides what is a search bar, and there is no way
    out to a search engine. It never stops because a key node was met: it is not told.
    """

    def __init__(
        self,
        client: ModelClient,
        assignment: Assignment,
        *,
        seed: int,
        mode: Mode = "dom",
        reward: Reward = "none",
        reward_mode: Mode | None = None,
        rules: Rules = "task",
    ) -> None:
        self._assignment = assignment
        self._mode = mode
        self._reward = reward
        self._reward_mode = reward_mode or mode
        length = assignment.guide.length if assignment.guide else None
        self._limits = Limits(rules, length, has_reward=reward != "none")
        self._memory = Memory()
        self._is_finishing = False
        least = Message(ChatRole.SYSTEM, self._planning_rules(None))
        self._session = ModelSession(
            client, seed=seed, least=(least, Message(ChatRole.USER, assignment.intent))
        )

    async def decide(self, observation: Observation) -> Decision:
        self._memory.close(observation.last_error)
        self._limits.see(observation.url)
        if self._is_finishing or self._limits.is_reached(observation.step):
            return self._end()
        if self._reward != "none" and self._memory.trace:
            await self._judge(observation)
        plan = await self._plan(observation)
        if plan is None:
            return self._session.decision(NOTHING, "no plan in three replies")
        self._memory.begin(plan)
        return self._session.decision(self._done(plan, observation), plan.thought)

    def _done(self, plan: Plan, observation: Observation) -> Action:
        """Return what a plan is in the browser; a final answer is given where it ends the episode.

        Where it does not, it is given with the last step that the task allows.
        """
        is_last = observation.step + 1 >= self._assignment.step_limit
        answer = self._memory.answer
        ends = plan.answer is not None and (self._limits.answer_ends or self._is_finishing)
        if ends or (is_last and answer is not None):
            return Stop(answer=answer or None)
        return plan.action

    def _end(self) -> Decision:
        return self._session.decision(Stop(answer=self._memory.answer or None), "no step is left")

    async def _judge(self, observation: Observation) -> None:
        """Have the last step judged; a reply that cannot be read after three is no judgement."""
        rules = reward_rules(self._assignment, self._reward)
        messages = [Message(ChatRole.SYSTEM, rules), self._step(observation, self._reward_mode)]
        for _ in range(_TRIES):
            said = await self._session.ask(messages)
            verdict = read_object(said.text, Verdict)
            if isinstance(verdict, Verdict):
                self._memory.reflect(verdict.as_feedback())
                self._is_finishing = verdict.status == "finished"
                return
            messages += _objection(said.text, verdict)

    async def _plan(self, observation: Observation) -> Plan | None:
        """Return the next step; None where three replies hold none and the rules forgive that."""
        messages = [
            Message(ChatRole.SYSTEM, self._planning_rules(observation)),
            self._step(observation, self._mode),
        ]
        last = ""
        for _ in range(_TRIES):
            said = await self._session.ask(messages)
            plan = read_plan(said.text, observation)
            if isinstance(plan, Plan):
                return plan
            last = f"{said.text[:_QUOTED]!r}: {plan.why}"
            messages += _objection(said.text, plan)
        if self._limits.forgives_planning:
            return None
        raise AgentError(f"no possible step in {_TRIES} replies of the model; the last {last}")

    def _planning_rules(self, observation: Observation | None) -> str:
        sites = "\n".join(f"- {name}: {url}" for name, url in self._assignment.sites.items())
        if self._mode == "vision":
            picture = observation and picture_of(observation)
            width, height = (picture.width, picture.height) if picture else (0, 0)
            shown = filled("webcanvas/page_vision.txt", width=width, height=height)
        else:
            shown = prompt_text(f"webcanvas/page_{self._mode}.txt")
        target = '"position": [200, 120]' if self._mode == "vision" else '"element_id": 12'
        return filled("webcanvas/planning.txt", sites=sites, shown=shown, target=target)

    def _step(self, observation: Observation, mode: Mode) -> Message:
        tabs = "\n".join(
            f"- {tab.index}: {tab.title}{' (current)' if tab.is_current else ''}"
            for tab in observation.tabs
        )
        text = filled(
            "webcanvas/step.txt",
            task=self._assignment.intent,
            trace=self._memory.trace_text(),
            notes="\n".join(f"- {note}" for note in self._memory.notes) or "nothing",
            feedback=self._memory.feedback or "nothing to report",
            tabs=tabs,
            url=observation.url,
            page=page_text(observation, mode),
        )
        images = pictures(observation, mode)
        return Message(ChatRole.USER, (TextPart(text), *images) if images else text)


def _objection(said: str, wrong: Misread) -> list[Message]:
    return [
        # Some endpoints refuse an empty message.
        Message(ChatRole.ASSISTANT, said[:_QUOTED] or "(nothing)"),
        Message(ChatRole.USER, f"That cannot be used: {wrong.why}. Reply with one JSON object."),
    ]


def _shown(
    *,
    mode: Mode = "dom",
    reward: Reward = "none",
    reward_mode: Mode | None = None,
    rules: Rules = "task",
) -> Shown:
    if reward == "none" and reward_mode is not None:
        message = "--agent-option reward_mode has no effect: there is no reward module"
        raise UsageError(message, hint="add --agent-option reward=self, or reward=golden")
    seen = FORMS[mode] if reward == "none" else FORMS[mode] | FORMS[reward_mode or mode]
    hints = {Hint.KEY_NODES} if reward == "golden" else set()
    if rules == "code" or (rules == "paper" and reward == "none"):
        hints |= {Hint.LENGTH}
    return Shown(observations=seen, hints=frozenset(hints))


WEBCANVAS: Final = model_agent("webcanvas", WebCanvasAgent, shown=_shown)
