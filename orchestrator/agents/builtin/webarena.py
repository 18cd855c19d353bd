"""Plays a task as WebArena's prompting agent does: one question a step, one action a reply."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, PositiveInt, TypeAdapter

from arena_core.actions import Action, Wait
from arena_core.errors import AgentError
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.action_spaces.webarena import (
    Written,
    fenced_action,
    print_action,
    read_written,
)
from orchestrator.agents.builtin.prompt import filled, prompt_text
from orchestrator.agents.interface import Assignment, Decision, PastTurn
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model_agent import ModelSession, Shown, model_agent
from orchestrator.browser.observation import AXTREE, IN_VIEWPORT, Node, Observation, Tab

# A text that one of so many lines before it holds already is left out.
_NEAR: Final = 3
# Without a name and a property they are not printed; what is in them moves up. Chromium calls `img`
# an `image` today.
_HIDDEN: Final = frozenset(
    {
        "LabelText",
        "Legend",
        "Section",
        "banner",
        "generic",
        "image",
        "img",
        "list",
        "listitem",
        "navigation",
        "paragraph",
        "strong",
    }
)
# Chromium says of these whether they are required, also where they are not.
_MAY_BE_REQUIRED: Final = frozenset({"searchbox", "spinbutton", "textbox"})
_THREE_VALUED: Final = frozenset({"checked", "pressed"})
_CHARACTERS_A_TOKEN: Final = 4


def page_text(observation: Observation, tokens: int | None) -> str:
    """Return what the agent is shown of the tabs and the page, its end cut off where it is longer.

    Source: `browser_env/processors.py` of WebArena. A token counts as four characters, where
    WebArena asks the tokenizer of its model.
    """
    lines = _lines(observation.nodes)
    text = "\n".join([tab_line(observation.tabs), "", *lines])
    return text if tokens is None else text[: tokens * _CHARACTERS_A_TOKEN]


def tab_line(tabs: Sequence[Tab]) -> str:
    return " | ".join(
        f"Tab {tab.index}{' (current)' if tab.is_current else ''}: {tab.title}" for tab in tabs
    )


def node_text(node: Node) -> str:
    """Return a node without its id: `link 'Kettles' focused: True`."""
    parts = [f"{node.role} {node.name!r}"]
    if node.value is not None:
        parts.append(f"value: {node.value!r}")
    for state in node.states:
        name, _, value = state.partition("=")
        value = value or "true"
        parts.append(f"{name}: {value if name in _THREE_VALUED else value.capitalize()}")
    if node.role in _MAY_BE_REQUIRED and "required" not in node.states:
        parts.append("required: False")
    return " ".join(parts)


def _lines(nodes: Sequence[Node]) -> Iterator[str]:
    near: deque[str] = deque(maxlen=_NEAR)
    hidden: list[int] = []  # the depths of what is not printed around a node
    for node in nodes:
        while hidden and hidden[-1] >= node.depth:
            hidden.pop()
        if _is_hidden(node):
            hidden.append(node.depth)
            continue
        is_said = any(node.name in line for line in near)
        if node.role == "StaticText" and (not node.name or is_said):
            continue
        near.append(f"[{node.id}] {node_text(node)}")
        yield "\t" * (node.depth - len(hidden)) + near[-1]


def _is_hidden(node: Node) -> bool:
    if node.role not in _HIDDEN or node.name.strip():
        return False
    return node.role == "listitem" or (node.value is None and not node.states)


PHRASE: Final = "In summary, the next action I will perform is"


# Whether the model reasons before it acts, or names the action alone.
Style = Literal["cot", "direct"]


class _Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    observation: str
    url: str
    objective: str
    previous: str
    reasoning: str
    action: str


_EXAMPLES: Final = TypeAdapter(tuple[_Example, ...])


class Prompt:
    """The prompt of one episode.

    WebArena sends its two examples as system messages with the names of speakers; here they are
    turns of user and assistant, which every endpoint takes.
    """

    def __init__(
        self, assignment: Assignment, *, style: Style, has_hint: bool, max_obs_length: int | None
    ) -> None:
        self._objective = assignment.intent
        self._tokens = max_obs_length
        sites = "\n".join(f"- {name}: {url}" for name, url in assignment.sites.items())
        rules = filled(
            "webarena/rules.txt",
            sites=sites,
            hint=prompt_text("webarena/hint.txt") if has_hint else "",
            form=filled(f"webarena/form_{style}.txt", phrase=PHRASE),
        )
        self._head = [Message(ChatRole.SYSTEM, rules)]
        for one in _examples():
            asked = _step(one.observation.rstrip("\n"), one.url, one.objective, one.previous)
            self._head += [
                Message(ChatRole.USER, asked),
                Message(ChatRole.ASSISTANT, _reply(one, style)),
            ]

    def least(self) -> tuple[Message, ...]:
        return (*self._head, Message(ChatRole.USER, _step("", "", self._objective, "None")))

    def messages(self, observation: Observation, previous: str) -> tuple[Message, ...]:
        """Return the whole conversation of a step: only the last action is recalled."""
        page = page_text(observation, self._tokens)
        step = _step(page, observation.url, self._objective, previous)
        return (*self._head, Message(ChatRole.USER, step))


def _examples() -> tuple[_Example, ...]:
    # BaseLoader: texts stay texts, whatever they look like.
    return _EXAMPLES.validate_python(
        yaml.load(prompt_text("webarena/examples.yaml"), Loader=yaml.BaseLoader)  # noqa: S506
    )


def _reply(example: _Example, style: Style) -> str:
    action = f"```{example.action}```"
    return f"{example.reasoning} {PHRASE} {action}" if style == "cot" else action


def _step(observation: str, url: str, objective: str, previous: str) -> str:
    return filled(
        "webarena/step.txt",
        observation=observation,
        url=url,
        objective=objective,
        previous=previous,
    )


_OF_AN_ELEMENT: Final = frozenset({"click", "hover", "type"})


@dataclass(frozen=True, slots=True)
class Move:
    """What of an action is compared: of one on an element the element alone, not what is typed."""

    kind: str
    detail: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, kind: str, fields: Mapping[str, object]) -> Move:
        named = {"element"} if kind in _OF_AN_ELEMENT else set(fields)
        return cls(kind, tuple(sorted((name, fields[name]) for name in named & set(fields))))


_NO_MOVE: Final = Move("none")


@dataclass(slots=True)
class EarlyStop:
    """Counts an agent's moves as `early_stop` of WebArena's `run.py` does.

    It stops after `parse_failures` replies in a row without an action; after `repeats` equal moves
    in a row, three scrolls down among them; and after `repeats` times that one element id was typed
    into, at any time and whatever was typed. Ids of different pages may be the same.
    """

    parse_failures: int
    repeats: int
    _moves: list[Move] = field(default_factory=list)

    def note(self, move: Move | None) -> None:
        self._moves.append(_NO_MOVE if move is None else move)

    def reason(self) -> str | None:
        """Say why the agent is to be stopped now; None where it may go on."""
        if not self._moves:
            return None
        last = self._moves[-1]
        if self._ends_with(_NO_MOVE, self.parse_failures):
            return f"no action in {self.parse_failures} replies in a row"
        if last.kind == "type":
            typed = self._moves.count(last) >= self.repeats
            return f"typed into the same element {self.repeats} times" if typed else None
        repeated = self._ends_with(last, self.repeats)
        return f"the same action {self.repeats} times in a row" if repeated else None

    def _ends_with(self, move: Move, times: int) -> bool:
        return self._moves[-times:] == [move] * times


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
        self._session = ModelSession(client, seed=seed, least=self._prompt.least())
        self._early_stop = EarlyStop(parse_failures=parse_failures, repeats=repeats)
        self._previous = "None"

    async def decide(self, observation: Observation) -> Decision:
        reason = self._early_stop.reason()
        if reason is not None:
            raise AgentError(f"early stop: {reason}")
        said = await self._session.ask(self._prompt.messages(observation, self._previous))
        fenced = fenced_action(said.text)
        written = fenced if isinstance(fenced, Misread) else read_written(fenced)
        action = self._take(written, said.text, observation)
        return self._session.decision(action, said.text)

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Take what was done before it began as its own: of it all, it recalls the last action.

        The early stop counts its own moves alone.
        """
        self._previous = _described(past[-1].action, past[-1].seen)

    def _take(self, written: Written | Misread, said: str, observation: Observation) -> Action:
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
    said = print_action(action) or action.kind
    element = getattr(action, "element", None)
    found = next((node for node in observation.nodes if node.id == element), None)
    return said if found is None else f"{said} where [{found.id}] is {node_text(found)}"


def _shown(*, viewport: bool = True) -> Shown:
    """Return what it is shown: WebArena shows its agents the viewport alone."""
    return Shown(observations=frozenset({f"{AXTREE}{IN_VIEWPORT}" if viewport else AXTREE}))


WEBARENA: Final = model_agent("webarena", WebArenaAgent, shown=_shown)
