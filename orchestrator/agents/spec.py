"""What an agent is before it plays: how it is made, which options it takes, what it must see."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from functools import partial, update_wrapper
from types import SimpleNamespace
from typing import Final, cast

from arena_core.errors import PluginError
from orchestrator.agents.interface import Agent, AgentClass, Assignment, Hint
from orchestrator.agents.options import Option, declared
from orchestrator.browser.observation import AXTREE, Observation
from tasks.reference import ReferenceAction

_SEEN: Final = frozenset({"observation", "obs"})
_TASK: Final = "assignment"
_BY_NAME_ONLY: Final = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Role(Enum):
    """What Arena calls it with, and what for.

    `MAKES` gets the episode's assignment and returns an agent; `MAKES_ALIKE` the same without the
    assignment; `DECIDES` gets each observation and returns an action.
    """

    MAKES = auto()
    MAKES_ALIKE = auto()
    DECIDES = auto()


def role_of(found: Callable[..., object]) -> Role:
    """Return what a class or function is called with.

    A class is told by its `decide`. A function says it by its first parameter: its annotation, or
    its name. What is in doubt is refused: called with the wrong thing it would fail every episode.
    """
    if isinstance(found, type):
        require_decide(found)
        takes_none = all(
            one.kind in _BY_NAME_ONLY and one.name != _TASK for one in _parameters(found)
        )
        return Role.MAKES_ALIKE if takes_none else Role.MAKES
    first = next((one for one in _parameters(found) if one.kind in _POSITIONAL), None)
    decides = first is not None and (first.annotation is Observation or first.name in _SEEN)
    makes = first is not None and (first.annotation is Assignment or first.name == _TASK)
    is_async = inspect.iscoroutinefunction(found)
    if makes and first is not None and first.annotation is not Observation:
        if is_async:
            raise TypeError("it makes an agent, so it must be no `async def`")
        return Role.MAKES
    if decides or (is_async and first is not None):
        _require_return(found, "it")
        return Role.DECIDES
    raise TypeError(
        "it does not say whether it chooses an action or makes an agent: call its first parameter"
        " `observation` or `assignment`, or annotate it as `Observation` or `Assignment`"
    )


def require_decide(found: object) -> None:
    """Refuse a class or an object that has no `decide` which takes an observation."""
    name = found.__name__ if isinstance(found, type) else type(found).__name__
    decide = getattr(found, "decide", None)
    if not callable(decide):
        raise TypeError(f"{name} has no method `decide`")
    try:
        if not any(_takes(decide, given) for given in _arguments(found)):
            raise TypeError(f"{name}.decide must take one observation, and no more")
    except ValueError:
        pass  # compiled code shows no signature
    _require_return(decide, f"{name}.decide")


def _arguments(found: object) -> tuple[int, ...]:
    if not isinstance(found, type):
        return (1,)
    is_method = inspect.isfunction(inspect.getattr_static(found, "decide"))
    return (2,) if is_method else (1, 2)


def _takes(decide: Callable[..., object], given: int) -> bool:
    try:
        inspect.signature(decide).bind(*[None] * given)
    except TypeError:
        return False
    return True


def agent_of(function: Callable[..., object], options: dict[str, object]) -> Agent:
    decide = update_wrapper(partial(function, **options), function)
    return cast("Agent", SimpleNamespace(decide=decide))


def _parameters(found: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(found, eval_str=True).parameters.values())
    except (NameError, ValueError, AttributeError) as cause:
        raise TypeError(f"its signature cannot be read: {cause}") from cause


def _require_return(function: Callable[..., object], name: str) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{name} yields, and must return one action")


class Metered(StrEnum):
    """What decisions report of their cost."""

    TOKENS = "tokens"
    USD = "usd"


AgentFactory = Callable[..., object]
Kept = str | int | float | bool | None


async def _nothing() -> None:
    """Agents may share nothing that is open, and need nothing that could be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """What makes one agent for each episode, and holds what they share.

    Attributes:
        make: called for each episode.
        name: as reports show it; empty for the name under which it was chosen.
        close: gives back what is shared, such as connections to a model; safe to repeat.
        check: finds out before a run, cheaply, whether the agents could play; raises `ModelError`
            where their model cannot be reached or refuses.
        settings: what counts where an option was left out, for the run's lock: a model's URL that
            the environment named. Options that are not here stand there as they were given.
        pinned: those of `settings` that a run that goes on takes from its lock, and not anew from
            its environment.
        observations: the forms of observation that these read, where options decide; None for the
            spec's.
        of_reference: of a reference agent, the forms that it reads besides for given actions;
            others are not computed for them. None where it reads the same for all.
        hints: the parts of a task's solution that each is given, in `Assignment.guide`. The lock
            and the reports of a run say so.
        metered: what every decision of theirs reports, so that a run's budget can be held.
        price: what their model costs, in words, with date and source; None where nobody knows.
        replay: the folder of the run whose replies answer them; None where a model does.
    """

    make: Callable[[Assignment], Agent]
    name: str = ""
    close: Callable[[], Awaitable[None]] = _nothing
    check: Callable[[], Awaitable[object]] = _nothing
    settings: Mapping[str, Kept] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    observations: frozenset[str] | None = None
    of_reference: Callable[[Sequence[ReferenceAction]], frozenset[str]] | None = None
    hints: frozenset[Hint] = frozenset()
    metered: frozenset[Metered] = frozenset()
    price: str | None = None
    replay: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """An agent whose episodes share something, or that is no contestant: what may be registered.

    Attributes:
        open: takes the agent's options as keyword parameters: its signature declares their names,
            types and defaults. It raises `UsageError` for values that do not fit.
        agent_class: what its figures stand for. Only a reference agent gets the task's reference.
        observations: the forms of observation that it reads; others are not computed.
    """

    open: Callable[..., Agents]
    agent_class: AgentClass = AgentClass.CONTESTANT
    observations: frozenset[str] = frozenset({AXTREE})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """A spec or a factory, as the rest of Arena sees it."""

    open: Callable[..., Agents]
    options: tuple[Option, ...]
    agent_class: AgentClass
    observations: frozenset[str]


def kind_of(found: object) -> AgentKind:
    """Return what an `AgentSpec`, a factory of agents or a function that decides stands for.

    A factory is a class or function whose first parameter is the episode's `Assignment`, and whose
    further parameters are the agent's options. It is called once for each episode. A function that
    decides gets each observation instead. Either may have the attributes `agent_class` and
    `observations` of `AgentSpec`.

    Raises:
        TypeError: it is neither, in words for its author.
    """
    if isinstance(found, AgentSpec):
        return AgentKind(
            open=found.open,
            options=declared(found.open, given_first=False),
            agent_class=found.agent_class,
            observations=found.observations,
        )
    if not callable(found):
        what = type(found).__name__
        message = f"it is neither a factory of agents nor an AgentSpec, but {what}"
        if hasattr(found, "decide"):
            message = f"it is one {what}, made already: pass the class, which makes one an episode"
        raise TypeError(message)
    role = role_of(found)
    return AgentKind(
        open=_opening(found, role),
        options=declared(found, given_first=role is not Role.MAKES_ALIKE),
        agent_class=_class_of(found),
        observations=_observations_of(found),
    )


def _opening(factory: Callable[..., object], role: Role) -> Callable[..., Agents]:
    def open_agents(**options: object) -> Agents:
        def make(assignment: Assignment) -> Agent:
            if role is Role.DECIDES:
                return agent_of(factory, options)
            given = () if role is Role.MAKES_ALIKE else (assignment,)
            try:
                agent = factory(*given, **options)
            except TypeError as cause:
                if cause.__traceback__ is None or cause.__traceback__.tb_next is not None:
                    raise  # it was called, and failed by itself
                raise PluginError(
                    f"an agent's factory cannot be called with an assignment: {cause}"
                ) from cause
            try:
                require_decide(agent)
            except TypeError as cause:
                raise PluginError(f"an agent's factory returned no agent: {cause}") from cause
            return cast("Agent", agent)

        return Agents(make=make, metered=_metered_of(factory))

    return open_agents


def _class_of(factory: object) -> AgentClass:
    found = getattr(factory, "agent_class", AgentClass.CONTESTANT)
    try:
        return AgentClass(found)
    except ValueError as cause:
        raise TypeError(
            f"its agent_class is {found!r}: one of {', '.join(AgentClass)} is needed"
        ) from cause


def _metered_of(factory: object) -> frozenset[Metered]:
    found: object = getattr(factory, "metered", frozenset[str]())
    try:
        return frozenset(Metered(one) for one in cast("frozenset[str]", found))
    except (TypeError, ValueError) as cause:
        raise TypeError(
            f"its `metered` is {found!r}: a set of {', '.join(Metered)} is needed"
        ) from cause


def _observations_of(factory: object) -> frozenset[str]:
    found = getattr(factory, "observations", frozenset({AXTREE}))
    if isinstance(found, str) or not all(isinstance(one, str) for one in found):
        raise TypeError(
            f"its `observations` is {found!r}: a set of names is needed, such as {{'axtree'}}"
        )
    return frozenset(found)
