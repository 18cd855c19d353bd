"""Plays the task's reference: what it fails, nobody can pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import sqrt
from typing import Final, assert_never

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    Infeasible,
    NewTab,
    Press,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
    Upload,
)
from arena_core.errors import AgentError, TaskError, UsageError
from arena_core.worlds import World
from evaluators.fields import in_world
from orchestrator.agents.builtin.elements import (
    inside_named,
    nearest_names,
    same_name,
    with_role_and_name,
)
from orchestrator.agents.builtin.miniwob.player import FURTHER_FORMS, MiniWobPlayer
from orchestrator.agents.interface import Agent, AgentClass, Assignment, Decision, Reference
from orchestrator.agents.spec import Agents, AgentSpec
from orchestrator.browser.observation import Node, Observation
from orchestrator.gateway.detours import detours_of
from orchestrator.gateway.labels import names_in
from tasks.reference import (
    Ask,
    FocusTabAt,
    GiveUp,
    GotoPage,
    OnElement,
    PressKeys,
    ReferenceAction,
    ScrollPage,
    SelectIn,
    Simple,
    SolveMiniWob,
    StopWith,
    Text,
    TypeInto,
    UploadTo,
)

_GOLDEN: Final = (sqrt(5) - 1) / 2
_WRONG: Final = "not found"
_MOST_DETOURS: Final = 10  # in a row

Script = tuple[tuple[int, ReferenceAction], ...]  # numbered as in the task's file


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """How often an agent is wrong, and in which episodes.

    Attributes:
        share: of episodes, from 0 to 1.
        seed: parts agents that are wrong equally often; those of one seed are wrong in the same
            episodes, the better one in fewer of them.
    """

    share: float
    seed: int

    def strike(self, assignment: Assignment) -> bool:
        began = _drawn("errs", self.seed, assignment.task, assignment.world)
        return (began + assignment.repeat * _GOLDEN) % 1.0 < self.share

    def made_in(self, assignment: Assignment, script: Script) -> Script:
        """Return what is done instead of a script in an episode that goes wrong.

        At most half of the actions before the ending, and then the end without an answer; or, of
        some episodes whose script answers, all of them and a wrong answer. What cannot be done is
        claimed to be done.
        """
        work = [one for one in script if not isinstance(one[1], StopWith | GiveUp)]
        drawn = _drawn("how", self.seed, assignment.task, assignment.world, assignment.repeat)
        ending = script[-1][1] if script else None
        number = len(script) + 1
        if isinstance(ending, GiveUp):
            return (*work, (number, StopWith(do="stop")))
        if isinstance(ending, StopWith) and ending.answer is not None and drawn < 1 / 2:
            return (*work, (number, StopWith(do="stop", answer=_WRONG)))
        kept = int((2 * drawn % 1.0) * (len(work) + 1) / 2)
        return (*work[:kept], (number, StopWith(do="stop")))


def _drawn(*parts: object) -> float:
    """Return a number from 0 up to 1 that nothing but its parts decides."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


_Targeted = OnElement | UploadTo | TypeInto | SelectIn
_SIMPLE: Final[Mapping[str, Callable[[], Action]]] = {
    "back": Back,
    "forward": Forward,
    "new_tab": NewTab,
    "close_tab": CloseTab,
}
_Untargeted = PressKeys | ScrollPage | GotoPage | Simple | FocusTabAt | Ask | StopWith | GiveUp


class OracleAgent:
    """Does the reference actions of one world in order, and gives up at the first that fails.

    Giving up ends the episode, which is then scored: the check it did not reach is the finding.

    In an arm it first gets past what the arm put in its way, as the arm says, and knows elements by
    the names that the arm gave them; nothing else is done besides the reference.
    """

    def __init__(
        self,
        reference: Reference,
        world: World,
        goal: str = "",
        mistaken: Callable[[Script], Script] | None = None,
    ) -> None:
        self._url_of = reference.url_of
        self._world = world
        self._goal = goal  # what a page of MiniWoB++ asks for, where the task is one
        self._seed = reference.seed
        self._player: MiniWobPlayer | None = None
        # Numbered as in the task's file, where the actions of the other world count too.
        script = tuple(
            (number, action)
            for number, action in enumerate(reference.actions, start=1)
            if action.only in {None, world}
        )
        self._script = script if mistaken is None else mistaken(script)
        self._is_mistaken = mistaken is not None
        self._done = 0
        self._detours = tuple(detours_of(reference.vary, reference.labels))
        self._labels = reference.labels
        self._detoured = 0  # since the last reference action
        self._last = ""

    async def decide(self, observation: Observation) -> Decision:
        if self._player is not None and observation.last_error is not None:
            raise AgentError(f"the rules for the page: {observation.last_error}")
        if observation.last_error is not None and self._last:
            raise AgentError(f"{self._last} could not be done: {observation.last_error}")
        way = next(self._ways(observation, is_missing=False), None)
        if way is not None:
            return self._around(way)
        if self._done == len(self._script):
            return Decision(Stop(), thought="the reference ends here")
        number, action = self._script[self._done]
        if isinstance(action, SolveMiniWob):
            return await self._solve(number, action, observation)
        if isinstance(action, OnElement | UploadTo | TypeInto | SelectIn):
            try:
                found = self._find(number, action, observation)
            except AgentError:
                way = next(self._ways(observation, is_missing=True), None)
                if way is None:
                    raise
                return self._around(way)
            decided = self._on_element(action, found.id)
        else:
            decided = self._on_browser(action)
        self._done += 1
        self._detoured, self._last = 0, self._label(number, action)
        return Decision(decided, thought=self._thought(number, action))

    def _ways(self, observation: Observation, *, is_missing: bool) -> Iterator[Node]:
        """Yield what leads past something that the arm put in the way."""
        for detour in self._detours:
            nodes = observation.nodes
            if (detour.sign is None) is is_missing and (
                detour.sign is None or with_role_and_name(nodes, *detour.sign)
            ):
                for node in nodes:
                    is_named = node.role == detour.role and detour.names.fullmatch(node.name)
                    if is_named and (detour.state is None or detour.state in node.states):
                        yield node

    def _around(self, node: Node) -> Decision:
        label = f"the arm's detour (click {node.role} {node.name!r})"
        if self._detoured == _MOST_DETOURS:
            raise AgentError(f"{label} leads nowhere: {_MOST_DETOURS} in a row were in vain")
        self._detoured += 1
        self._last = label
        return Decision(Click(element=node.id), thought=label)

    async def _solve(self, number: int, action: SolveMiniWob, observation: Observation) -> Decision:
        """Do what the page's rules say next; where they have ended, the next action."""
        if self._player is None:
            self._player = MiniWobPlayer(action.page, self._goal, self._seed)
        solving = self._player.next(observation)
        if solving is not None:
            return Decision(solving, thought=self._label(number, action))
        self._player = None
        self._done += 1
        return await self.decide(observation)

    def _on_browser(self, action: _Untargeted) -> Action:  # noqa: PLR0911 - a case each
        match action:
            case PressKeys():
                return Press(keys=action.keys)
            case ScrollPage():
                return Scroll(direction=ScrollDirection(action.direction))
            case GotoPage():
                return Goto(url=self._url_of(self._here(action.page)))
            case Simple():
                return _SIMPLE[action.do]()
            case FocusTabAt():
                return FocusTab(index=action.index)
            case Ask():
                return AskUser(question=action.question)
            case StopWith() | GiveUp():
                return (
                    Infeasible(reason=action.reason)
                    if isinstance(action, GiveUp)
                    else action.ending(self._world)
                )
            case _:
                assert_never(action)

    def _on_element(self, action: _Targeted, element: int) -> Action:
        match action:
            case OnElement(do="hover"):
                return Hover(element=element)
            case OnElement(button=button, count=count, modifiers=modifiers):
                return Click(element=element, button=button, count=count, modifiers=modifiers)
            case UploadTo(files=files):
                return Upload(element=element, files=files)
            case TypeInto():
                return Type(element=element, text=self._here(action.text), submit=action.submit)
            case SelectIn():
                return Select(element=element, option=self._here(action.option))
            case _:
                assert_never(action)

    def _find(self, number: int, action: _Targeted, observation: Observation) -> Node:
        nodes = observation.nodes
        if action.within is not None:
            around = names_in(self._labels, self._here(action.within))
            nodes = next((one for name in around if (one := inside_named(nodes, name))), ())
        role, names = self._here(action.role), names_in(self._labels, self._here(action.name))
        found = next((one for name in names if (one := with_role_and_name(nodes, role, name))), ())
        if 0 <= action.nth < len(found):
            return found[action.nth]
        if found:
            reason = f"only {len(found)} of them, and nth is {action.nth}"
        else:
            reason = self._absence(action, nodes, observation)
        label = self._label(number, action)
        raise AgentError(f"{label} finds no such element on {observation.url}: {reason}")

    def _absence(self, action: _Targeted, nodes: tuple[Node, ...], observation: Observation) -> str:
        """Say what a page has in place of the element: nearest names first, then other roles."""
        role, name = self._here(action.role), self._here(action.name)
        if not nodes and action.within is not None:
            return f"nothing is inside an element called {self._here(action.within)!r}"
        near = ", ".join(repr(candidate) for candidate in nearest_names(nodes, role, name))
        reason = f"the nearest there: {role} {near}" if near else f"there is no {role} with a name"
        others = {node.role for node in observation.nodes if same_name(node.name, name)} - {role}
        if action.within is not None and with_role_and_name(observation.nodes, role, name):
            reason += f"; one is outside {self._here(action.within)!r}"
        elif others:
            reason += f"; of that name but another role: {', '.join(sorted(others))}"
        return reason

    def _thought(self, number: int, action: ReferenceAction) -> str:
        if self._is_mistaken and self._done == len(self._script):
            return "a mistake on purpose, as error_rate says: the episode ends here"
        return self._label(number, action)

    def _label(self, number: int, action: ReferenceAction) -> str:
        label = f"reference action {number} ({action.do}"
        if isinstance(action, OnElement | UploadTo | TypeInto | SelectIn):
            label += f" {self._here(action.role)} {self._here(action.name)!r}"
            if action.within is not None:
                label += f" within {self._here(action.within)!r}"
        return label + ")"

    def _here(self, text: Text) -> str:
        return in_world(text, self._world)


def _open(error_rate: float = 0.0, seed: int | None = None) -> Agents:
    """Make oracles, or such that go wrong in a share of episodes; see `Mistakes`."""
    if not 0 <= error_rate <= 1:
        raise UsageError(
            f"error_rate {error_rate:g} is no share of episodes: give 0 to 1, such as 0.25"
        )
    if not error_rate:
        if seed is not None:
            message = "seed has no effect on the oracle without error_rate"
            raise UsageError(message, hint="--agent-option error_rate=0.25 --seed 7")
        return Agents(make=_play_reference, of_reference=_read_for)
    mistakes = Mistakes(share=error_rate, seed=seed or 0)

    def make(assignment: Assignment) -> Agent:
        return _play_reference(assignment, mistakes)

    return Agents(
        make=make,
        name=f"oracle that errs in {100 * error_rate:.4g} %",
        of_reference=_read_for,
        settings={"seed": seed or 0},
    )


def _read_for(actions: Sequence[ReferenceAction]) -> frozenset[str]:
    """Return the forms of observation that the rules of a MiniWoB++ page read besides."""
    pages = [one.page for one in actions if isinstance(one, SolveMiniWob)]
    return frozenset[str]().union(*(FURTHER_FORMS.get(page, frozenset()) for page in pages))


def _play_reference(assignment: Assignment, mistakes: Mistakes | None = None) -> Agent:
    reference = assignment.reference
    if reference is None or not reference.actions:
        message = f"task '{assignment.task}' has no reference: the oracle has nothing to play"
        raise TaskError(message, hint="choose another agent, or write the task's `reference`")
    mistaken = None
    if mistakes is not None and mistakes.strike(assignment):
        mistaken = partial(mistakes.made_in, assignment)
    return OracleAgent(reference, assignment.world, assignment.intent, mistaken)


ORACLE: Final = AgentSpec(open=_open, agent_class=AgentClass.REFERENCE)
