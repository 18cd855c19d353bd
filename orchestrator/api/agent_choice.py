"""Which agent plays a run, as the run's lock keeps it, and back again for `--resume`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from arena_core.errors import UsageError
from orchestrator.agents.registry import AgentOption, AgentOptions, class_of, make_agent, takes
from orchestrator.model.options import DEADLINE_S, url_of
from orchestrator.observation import Agent, AgentClass, AgentMaker, Assignment, Reference
from orchestrator.store.lock import AgentLock

AgentFactory = Callable[[Assignment], Agent]
AgentChoice = str | AgentMaker | AgentFactory

_Kept = str | int | float | None
_OBJECT = "python:"  # begins the kind of an agent that no name leads back to


@dataclass(frozen=True, slots=True)
class _FactoryMaker:
    """Makes the agents of a person's own factory, which is not shown the reference."""

    name: str
    factory: AgentFactory

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        return self.factory(assignment)

    async def close(self) -> None:
        """Close nothing: what the factory shares is its own matter."""


def choose_agent(choice: AgentChoice, options: AgentOptions) -> tuple[AgentMaker, AgentLock]:
    """Return what makes a run's agents, and what the run's lock keeps of it.

    Args:
        choice: an agent's name, an `AgentMaker`, or a factory that takes the `Assignment` of an
            episode and returns its agent.
        options: of a named agent.

    Raises:
        UnknownNameError: there is no agent of that name.
        UsageError: an option is missing, or has no effect on this agent.
    """
    if isinstance(choice, str):
        return make_agent(choice, options), lock_agent(choice, options)
    if given := options.given():
        message = f"{given[0]} has no effect: the agent is a Python object"
        raise UsageError(message, hint="give it its options where it is made")
    maker = _as_maker(choice)
    kept: dict[str, _Kept] = {"kind": _kind_of_object(choice), "given": ""}
    return maker, AgentLock(name=maker.name, options=kept, agent_class=AgentClass.CONTESTANT)


def agent_of(lock: AgentLock, choice: AgentChoice | None) -> AgentMaker:
    """Return what makes the agents of a run that goes on.

    Args:
        lock: what the run keeps of its agent.
        choice: the same agent once more; needed where it was a Python object.

    Raises:
        UsageError: the run's agent was a Python object and none is given, or the one that is given
            has another name.
        UnknownNameError: there is no agent of the run's name any more.
    """
    kind = kind_of(lock)
    if choice is None and kind.startswith(_OBJECT):
        message = f"the agent of this run, {lock.name}, was a Python object"
        hint = "go on from Python: await arena.resume(run, agent=...)"
        raise UsageError(message, hint=hint)
    if choice is None or choice == kind:
        return make_agent(kind, options_of(lock))
    name = choice if isinstance(choice, str) else _as_maker(choice).name
    if isinstance(choice, str) or name != lock.name:
        message = f"the run began with the agent {lock.name}, and not with {name}"
        raise UsageError(message, hint="start a new run for another agent")
    return _as_maker(choice)


def _as_maker(choice: AgentMaker | AgentFactory) -> AgentMaker:
    if not isinstance(choice, type) and hasattr(choice, "name") and hasattr(choice, "close"):
        return choice  # type: ignore[return-value]  # it has all that an AgentMaker has
    return _FactoryMaker(_name_of_object(choice), choice)


def _name_of_object(choice: object) -> str:
    named = choice if hasattr(choice, "__qualname__") else type(choice)
    return f"{named.__module__}.{getattr(named, '__qualname__', 'agent')}"


def _kind_of_object(choice: object) -> str:
    """Return `module:Factory` where that names this very object: a run can go on with it then."""
    module, name = getattr(choice, "__module__", ""), getattr(choice, "__qualname__", "")
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if module != "__main__" and found is choice:
        return f"{module}:{name}"
    return f"{_OBJECT}{_name_of_object(choice)}"


def lock_agent(name: str, options: AgentOptions) -> AgentLock:
    """Write down an agent with what it honours: what was left out as the value that counts then.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: the model's URL is none.
    """
    kept: dict[str, _Kept] = {"kind": name}
    if takes(name, AgentOption.SEED):
        kept["seed"] = options.seed or 0
    if takes(name, AgentOption.MODEL):
        kept["model"] = options.model
        kept["model_url"] = url_of(options.model_url, os.environ)
        kept["model_deadline_s"] = options.model_deadline_s or DEADLINE_S
        kept["temperature"] = options.temperature or 0.0
    # An endpoint may refuse what was left out, and not what a person asked for.
    kept["given"] = " ".join(options.given())
    return AgentLock(name=name, options=kept, agent_class=class_of(name))


def kind_of(lock: AgentLock) -> str:
    """Return the name by which the agent of a run can be made again."""
    return str(lock.options.get("kind") or lock.name)


def options_of(lock: AgentLock) -> AgentOptions:
    """Return the options of a run's agent; those of earlier versions' runs too.

    Raises:
        UnknownNameError: there is no such agent.
    """
    kept = lock.options
    given = str(kept.get("given") or "").split()
    seed = int(kept.get("seed") or 0)
    has_seed = seed != 0 or AgentOption.SEED in given
    seeded = AgentOptions(seed=seed if has_seed else None)
    if not takes(kind_of(lock), AgentOption.MODEL):
        return seeded if takes(kind_of(lock), AgentOption.SEED) else AgentOptions()
    has_temperature = AgentOption.TEMPERATURE in given
    return replace(
        seeded,
        model=_text(kept.get("model")),
        model_url=_text(kept.get("model_url")),
        model_deadline_s=_number(kept.get("model_deadline_s")),
        temperature=_number(kept.get("temperature")) if has_temperature else None,
    )


def _text(value: _Kept) -> str | None:
    return None if value is None else str(value)


def _number(value: _Kept) -> float | None:
    return None if value is None else float(value)
