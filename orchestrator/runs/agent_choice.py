"""Which agent a run plays, as its lock keeps it, and back again for a run that goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from arena_core.errors import StoreError, UsageError
from arena_core.logs import REDACTED as HIDDEN
from arena_core.names import listed
from orchestrator.agents.choice import (
    OBJECT,
    OpenedAgent,
    WithoutReference,
    find_agent,
    is_own,
    open_agent,
)
from orchestrator.agents.interface import AgentClass, AgentLock, AgentMaker, Hint
from orchestrator.agents.options import REDACTED, by_name, flag_of, plain
from orchestrator.agents.spec import AgentFactory, AgentSpec, Metered
from orchestrator.episode.external.command import DEFAULT_SECONDS, KIND, AgentCommand
from orchestrator.episode.person.agent import KIND as HUMAN
from orchestrator.episode.person.agent import PersonAgent
from orchestrator.runs.spec import AgentEntry
from tasks.schema import Task

# Its last line may say both. Where it says nothing, the report names the limit that was not held.
_OF_A_COMMAND: Final = frozenset(Metered)
AgentChoice = str | AgentCommand | AgentMaker | AgentSpec | AgentFactory
_START_ANEW: Final = "start a new run; what had finished can be reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAgent:
    """An agent with its options, and what the lock of its run says of it.

    Attributes:
        metered: what its decisions report of their cost.
        replay: the folder of the run whose replies answer it.
    """

    maker: AgentMaker
    lock: AgentLock
    metered: frozenset[Metered] = frozenset()
    replay: str | None = None


def named_agent(entry: AgentEntry) -> AgentChoice:
    """Return the agent that a file or the command line names."""
    if entry.command is None:
        return entry.agent or ""
    return AgentCommand.read(entry.command, entry.seconds or DEFAULT_SECONDS)


def choose_agent(agent: AgentChoice, options: Mapping[str, object] | None = None) -> ChosenAgent:
    """Return an agent with its options.

    Args:
        agent: a registered name, `package.module:Factory`, a factory of agents or an `AgentSpec`
            itself, or an `AgentMaker`.
        options: by name; text is read as the type that the agent declares.
    """
    if isinstance(agent, AgentCommand) and not options:
        return ChosenAgent(maker=agent, lock=agent.lock, metered=_OF_A_COMMAND)
    if isinstance(agent, PersonAgent):
        return ChosenAgent(maker=agent, lock=agent.lock)
    if _is_maker(agent):
        return _made_already(agent, options or {})
    opened = open_agent(find_agent(agent), options or {})
    return _chosen(opened, _lock(opened))


def agent_of_lock(
    lock: AgentLock,
    agent: AgentChoice | None = None,
    secrets: Mapping[str, object] | None = None,
) -> ChosenAgent:
    """Return the agent of a run that goes on, with the options it began with.

    Args:
        lock: what the run wrote down.
        agent: the same agent once more; needed where it was a Python object that no name leads to.
        secrets: the options whose values no lock holds, given again.
    """
    if lock.kind == KIND or isinstance(agent, AgentCommand):
        return _command_again(lock, agent)
    if lock.kind == HUMAN or isinstance(agent, PersonAgent):
        return _person_again(lock, agent)
    options = _options_again(lock, dict(secrets or {}))
    if _is_maker(agent):
        _require_name(lock, agent.name)
        return ChosenAgent(maker=WithoutReference(agent), lock=lock)
    if agent is None and lock.kind.startswith(OBJECT):
        message = f"the agent of this run, {lock.name}, was a Python object"
        hint = "go on from Python: await arena.runs.resume(run, agent=...)"
        raise UsageError(message, hint=hint)
    found = find_agent(lock.kind if agent is None else agent)
    if found.name != lock.kind:
        _require_name(lock, found.name)
    opened = open_agent(found, options)
    _require_same_code(lock, opened)
    return _chosen(opened, lock)


def _chosen(opened: OpenedAgent, lock: AgentLock) -> ChosenAgent:
    agents = opened.agents
    return ChosenAgent(maker=opened.maker, lock=lock, metered=agents.metered, replay=agents.replay)


def _command_again(lock: AgentLock, agent: AgentChoice | None) -> ChosenAgent:
    """Return the command that a run began with."""
    if agent is None:
        text = str(lock.options["command"])
        if HIDDEN in text:
            message = f"the run's lock keeps no secrets: its command was {text}"
            raise UsageError(message, hint="give it again: --agent-cmd '…'")
        agent = AgentCommand.read(text, float(lock.options["seconds"] or 0))
    if not isinstance(agent, AgentCommand) or agent.lock != lock:
        name = agent.name if isinstance(agent, AgentCommand) else str(agent)
        _require_name(lock, name)
        message = f"the run began with {lock.options}"
        raise UsageError(message, hint="start a new run for other options")
    return ChosenAgent(maker=agent, lock=lock, metered=_OF_A_COMMAND)


def _person_again(lock: AgentLock, agent: AgentChoice | None) -> ChosenAgent:
    """Return the person that a run began with, who agreed to the same text."""
    if not isinstance(agent, PersonAgent):
        message = f"{lock.name} played this run by hand"
        raise UsageError(message, hint="go on with: arena human --resume RUN --person ID")
    _require_name(lock, agent.name)
    if agent.lock != lock:
        message = f"the run began with {lock.options}"
        raise UsageError(message, hint="start a new run: the limit or the consent is another one")
    return ChosenAgent(maker=agent, lock=lock)


def _is_maker(agent: object) -> TypeGuard[AgentMaker]:
    return not isinstance(agent, type) and isinstance(agent, AgentMaker)


def _options_again(lock: AgentLock, secrets: dict[str, object]) -> dict[str, object]:
    """Return the options that a run began with, the secrets among them given again."""
    hidden = {name for name in lock.given if lock.options.get(name) == REDACTED}
    for name in secrets:
        if name not in hidden:
            raise UsageError(f"--resume goes on as the run began: it takes no {flag_of(name)}")
    missing = sorted(hidden - set(secrets))
    if missing:
        message = f"the run's lock keeps no secrets: {', '.join(missing)} must be given again"
        raise UsageError(message, hint=f"add {flag_of(missing[0])}=…")
    return {name: lock.options[name] for name in lock.given if name not in hidden} | secrets


def _require_name(lock: AgentLock, name: str) -> None:
    if name != lock.name:
        message = f"the run began with the agent {lock.name}, and not with {name}"
        raise UsageError(message, hint="start a new run for another agent")


def _made_already(maker: AgentMaker, options: Mapping[str, object]) -> ChosenAgent:
    """Return a maker that somebody made: its options were given where it was made."""
    if options:
        message = f"{flag_of(next(iter(options)))} has no effect: the agent is a Python object"
        raise UsageError(message, hint="give it its options where it is made")
    path = f"{type(maker).__module__}:{type(maker).__qualname__}"
    lock = AgentLock(
        name=maker.name,
        kind=f"{OBJECT}{path}",
        options={},
        agent_class=AgentClass.CONTESTANT,
        import_path=path,
    )
    return ChosenAgent(maker=WithoutReference(maker), lock=lock)


def require_references(lock: AgentLock, tasks: Sequence[Task]) -> None:
    """Refuse tasks that lack the hints an agent gets, before anything is started for them."""
    if lock.agent_class is AgentClass.REFERENCE:
        _require(lock, tasks, "plays references", [one for one in tasks if one.reference is None])
    if Hint.LENGTH in lock.hints:
        without = [one for one in tasks if one.reference is None]
        _require(lock, tasks, "goes by the length of references", without)
    if Hint.KEY_NODES in lock.hints:
        without = [one for one in tasks if not one.key_nodes]
        _require(lock, tasks, "is given key nodes", without)


def _require(lock: AgentLock, tasks: Sequence[Task], what: str, without: Sequence[Task]) -> None:
    if not without:
        return
    names = [task.id for task in without]
    message = f"the agent '{lock.name}' {what}, and {len(names)} of the"
    message += f" {len(tasks)} tasks have none: {listed(names)}"
    raise UsageError(message, hint="choose other tasks, another --agent, or write references")


def _lock(opened: OpenedAgent) -> AgentLock:
    """Write an agent down with what counts, also where it was left out, and without secrets."""
    declared = by_name(opened.found.kind.options)
    counting = {name: option.default for name, option in declared.items() if not option.is_required}
    counting |= opened.options
    counting |= {
        name: value
        for name, value in opened.agents.settings.items()
        if not (name in declared and declared[name].is_secret)
    }
    pinned = {name for name in opened.agents.pinned if name in declared}
    return AgentLock(
        name=opened.maker.name,
        kind=opened.found.name,
        options={
            name: plain(declared[name], value)
            for name, value in counting.items()
            if name in declared
        },
        given=tuple(name for name in declared if name in {*opened.options, *pinned}),
        agent_class=opened.agent_class,
        hints=tuple(sorted(opened.agents.hints)),
        import_path=opened.found.source.path,
        distribution=opened.found.source.distribution,
        version=opened.found.source.version,
        source_hash=opened.found.source.source_hash,
        price=opened.agents.price,
    )


def _require_same_code(lock: AgentLock, opened: OpenedAgent) -> None:
    """Refuse another version of a foreign agent; of Arena's own the lock names the package."""
    source = opened.found.source
    if is_own(source) or lock.import_path is None:
        return
    began_with = (lock.import_path, lock.distribution, lock.version, lock.source_hash)
    if began_with == (source.path, source.distribution, source.version, source.source_hash):
        return
    what = f"{lock.distribution} {lock.version}" if lock.distribution else "its file"
    now = f"{source.distribution} {source.version}" if source.distribution else "another file"
    message = f"the agent {lock.kind} that the run began with ({what}) is another one now ({now})"
    raise StoreError(message, hint=_START_ANEW)
