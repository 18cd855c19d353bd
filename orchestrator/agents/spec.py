"""What an agent is before it plays: how it is made, which options it takes, what it must see."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from arena_core.errors import PluginError
from orchestrator.agent_interface import Agent, AgentClass, Assignment, Told
from orchestrator.agents.options import Option, declared
from orchestrator.observation import AXTREE
from tasks.schema import ReferenceAction


class Metered(StrEnum):
    """What decisions report of their cost."""

    TOKENS = "tokens"
    USD = "usd"


AgentFactory = Callable[..., Agent]
Kept = str | int | float | bool | None


async def _close_nothing() -> None:
    """Close nothing: the agents share nothing that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """What makes one agent for each episode, and holds what they share.

    Attributes:
        make: called for each episode.
        name: as reports show it; empty for the name under which it was chosen.
        close: gives back what is shared, such as connections to a model; safe to repeat.
        settings: what counts where an option was left out, for the run's lock: a model's URL that
            the environment named. Options that are not here stand there as they were given.
        pinned: those of `settings` that a run that goes on takes from its lock, and not anew from
            its environment.
        observations: the forms of observation that these read, where options decide; None for the
            spec's.
        of_reference: of a reference agent, the forms that it reads besides for given actions;
            others are not computed for them. None where it reads the same for all.
        told: the parts of a task's solution that each is told, in `Assignment.guide`. The lock and
            the reports of a run say so.
        metered: what every decision of theirs reports, so that a run's budget can be held.
        price: what their model costs, in words, with date and source; None where nobody knows.
        replay: the folder of the run whose replies answer them; None where a model does.
    """

    make: Callable[[Assignment], Agent]
    name: str = ""
    close: Callable[[], Awaitable[None]] = _close_nothing
    settings: Mapping[str, Kept] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    observations: frozenset[str] | None = None
    of_reference: Callable[[Sequence[ReferenceAction]], frozenset[str]] | None = None
    told: frozenset[Told] = frozenset()
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
    """A spec or a factory, as the rest of Arena sees it.

    Attributes:
        open: takes values for the options that have one.
        options: what may be given.
        agent_class, observations: see `AgentSpec`.
    """

    open: Callable[..., Agents]
    options: tuple[Option, ...]
    agent_class: AgentClass
    observations: frozenset[str]


def kind_of(found: object) -> AgentKind:
    """Return what an `AgentSpec` or a factory of agents stands for.

    A factory is a class or function whose first parameter is the episode's `Assignment`, and whose
    further parameters are the agent's options. It is called once for each episode. It may have the
    attributes `agent_class` and `observations` of `AgentSpec`.

    Raises:
        TypeError: it is neither, in words for who wrote it.
    """
    if isinstance(found, AgentSpec):
        return AgentKind(
            open=found.open,
            options=declared(found.open, given_first=False),
            agent_class=found.agent_class,
            observations=found.observations,
        )
    if not callable(found):
        message = f"it is neither a factory of agents nor an AgentSpec, but {type(found).__name__}"
        raise TypeError(message)
    if isinstance(found, type):
        _require_decide(found)
    return AgentKind(
        open=_opening(found),
        options=declared(found, given_first=True),
        agent_class=_class_of(found),
        observations=_observations_of(found),
    )


def _opening(factory: Callable[..., object]) -> Callable[..., Agents]:
    def open_agents(**options: object) -> Agents:
        def make(assignment: Assignment) -> Agent:
            try:
                agent = factory(assignment, **options)
            except TypeError as cause:
                if cause.__traceback__ is None or cause.__traceback__.tb_next is not None:
                    raise  # it was called, and failed by itself
                message = f"an agent's factory cannot be called with an assignment: {cause}"
                raise PluginError(message) from cause
            try:
                _require_decide(agent)
            except TypeError as cause:
                message = f"an agent's factory gave what is no agent: {cause}"
                raise PluginError(message) from cause
            return cast("Agent", agent)

        return Agents(make=make, metered=_metered_of(factory))

    return open_agents


def _require_decide(found: object) -> None:
    decide = getattr(found, "decide", None)
    if not inspect.iscoroutinefunction(decide):
        name = found.__name__ if isinstance(found, type) else type(found).__name__
        what = "has no method `decide`" if decide is None else "must be `async def decide`"
        message = f"{name} {what}" if decide is None else f"{name}.decide {what}"
        raise TypeError(message)


def _class_of(factory: object) -> AgentClass:
    found = getattr(factory, "agent_class", AgentClass.CONTESTANT)
    try:
        return AgentClass(found)
    except ValueError as cause:
        message = f"its agent_class is {found!r}: one of {', '.join(AgentClass)} is needed"
        raise TypeError(message) from cause


def _metered_of(factory: object) -> frozenset[Metered]:
    found: object = getattr(factory, "metered", frozenset[str]())
    try:
        return frozenset(Metered(one) for one in cast("frozenset[str]", found))
    except (TypeError, ValueError) as cause:
        message = f"its `metered` is {found!r}: a set of {', '.join(Metered)} is needed"
        raise TypeError(message) from cause


def _observations_of(factory: object) -> frozenset[str]:
    found = getattr(factory, "observations", frozenset({AXTREE}))
    if isinstance(found, str) or not all(isinstance(one, str) for one in found):
        message = f"its `observations` is {found!r}: a set of names is needed, such as {{'axtree'}}"
        raise TypeError(message)
    return frozenset(found)
