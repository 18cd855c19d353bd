"""From what names an agent to what makes it: a registered name, `module:Factory`, or the object."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from arena_core.errors import AgentError, PluginError, UnknownNameError, UsageError
from arena_core.plugins import ARENA, ExtensionPoint, Group, owner_of
from arena_core.worlds import World
from orchestrator.agents.interface import (
    Agent,
    AgentClass,
    AgentMaker,
    Assignment,
    Guide,
    Hint,
    Reference,
)
from orchestrator.agents.options import by_name, flag_of, name_now
from orchestrator.agents.spec import AgentKind, Agents, kind_of
from orchestrator.browser.observations.forms import require_form
from tasks.reference import ReferenceAction

# Begins the name of an agent that no import leads back to: it lives in one process alone.
OBJECT: Final = "python:"
AGENTS: Final = ExtensionPoint(Group.AGENTS, "agent", kind_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSource:
    """Whose code an agent is, for a run's lock.

    Attributes:
        path: where it is imported from, `package.module:attribute`.
        distribution, version: what installed it; None where its module belongs to none.
        source_hash: SHA-256 of the file of its module, where no distribution has it.
    """

    path: str
    distribution: str | None
    version: str | None
    source_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAgent:
    """An agent that is found, and not made yet."""

    name: str
    kind: AgentKind
    source: AgentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAgent:
    """An agent with its options: what makes one for each episode."""

    found: NamedAgent
    options: Mapping[str, object]
    agents: Agents
    maker: AgentMaker

    @property
    def agent_class(self) -> AgentClass:
        """What its figures stand for: with its options, as they decide what it is told."""
        if Hint.KEY_NODES in self.agents.hints:
            return AgentClass.GUIDED
        return self.found.kind.agent_class


@dataclass(frozen=True, slots=True)
class _Maker:
    """Fills `AgentMaker`; of the reference, agents get here what they are told, and no more."""

    name: str
    kind: AgentKind
    agents: Agents

    @property
    def observations(self) -> frozenset[str]:
        chosen = self.agents.observations
        return self.kind.observations if chosen is None else chosen

    def observations_of(self, actions: Sequence[ReferenceAction]) -> frozenset[str]:
        further = self.agents.of_reference
        if further is None or self.kind.agent_class is not AgentClass.REFERENCE:
            return frozenset()
        return further(actions)

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        if self.kind.agent_class is AgentClass.REFERENCE:
            assignment = replace(assignment, reference=reference)
        if self.agents.hints:
            guide = _guide(reference, self.agents.hints, assignment.world)
            assignment = replace(assignment, guide=guide)
        return self.agents.make(assignment)

    async def check(self) -> None:
        await self.agents.check()

    async def close(self) -> None:
        await self.agents.close()


def _guide(reference: Reference, hints: frozenset[Hint], world: World) -> Guide:
    steps = [one for one in reference.actions if one.only in {None, world} and one.do != "stop"]
    return Guide(
        url_of=reference.url_of,
        key_nodes=reference.key_nodes if Hint.KEY_NODES in hints else (),
        length=len(steps) if Hint.LENGTH in hints else None,
    )


@dataclass(frozen=True, slots=True)
class WithoutReference:
    """A maker that somebody made: its agents are contestants, so the reference ends here."""

    maker: AgentMaker

    @property
    def name(self) -> str:
        return self.maker.name

    @property
    def observations(self) -> frozenset[str]:
        return self.maker.observations

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        return self.maker(assignment, Reference((), _no_page))

    async def close(self) -> None:
        await self.maker.close()


def _no_page(page: str) -> str:
    raise AgentError(f"{page}: a contestant is shown no reference")


def make_agent(agent: str | object, options: Mapping[str, object] | None = None) -> AgentMaker:
    """Return what makes agents, one per episode; arguments and errors are those of `open_agent`."""
    return open_agent(find_agent(agent), options or {}).maker


def find_agent(agent: str | object) -> NamedAgent:
    """Return the agent that is meant.

    Args:
        agent: a registered name; `package.module:Factory`, where the current folder is searched
            after everything that is installed; or such a factory or an `AgentSpec` itself.
    """
    if not isinstance(agent, str):
        return _of_object(agent)
    if ":" in agent:
        return _imported(agent)
    plugin = AGENTS.find(agent)
    return NamedAgent(
        name=agent,
        kind=AGENTS.load(agent),
        source=AgentSource(
            path=plugin.path, distribution=plugin.distribution, version=plugin.version
        ),
    )


def open_agent(found: NamedAgent, options: Mapping[str, object]) -> OpenedAgent:
    """Return what makes the agent with these options; text is read as the declared type."""
    for form in sorted(found.kind.observations):
        _require_form(found, form)
    read = _read(found, options)
    agents = found.kind.open(**read)
    for form in sorted(agents.observations or ()):
        _require_form(found, form)
    maker = _Maker(agents.name or found.name, found.kind, agents)
    return OpenedAgent(found=found, options=read, agents=agents, maker=maker)


def _require_form(found: NamedAgent, form: str) -> None:
    """Refuse an agent that would not see what it needs, before anything is started for it."""
    try:
        require_form(form)
    except UnknownNameError as cause:
        message = f"the agent '{found.name}' needs the observation '{form}': {cause.message}"
        raise UnknownNameError(message, hint=cause.hint) from cause


def _read(found: NamedAgent, options: Mapping[str, object]) -> dict[str, object]:
    declared = by_name(found.kind.options)
    read: dict[str, object] = {}
    for given, value in options.items():
        name = name_now(found.name, given)
        if name in read:
            raise UsageError(f"{flag_of(given)} and {flag_of(name)} are the same option")
        if name not in declared:
            message = f"{flag_of(name)} has no effect: the agent '{found.name}' does not take it"
            raise UsageError(message, hint=f"{_takes(found)}{_others(name)}")
        try:
            read[name] = declared[name].read(value)
        except ValueError as cause:
            shown = "" if declared[name].is_secret else f" {value!r}"
            what = f"{declared[name].flag}{shown} is not valid for the agent '{found.name}'"
            raise UsageError(f"{what}: {cause}", hint=_takes(found)) from cause
    missing = [one.flag for one in found.kind.options if one.is_required and one.name not in read]
    if missing:
        message = f"the agent '{found.name}' needs {' and '.join(missing)}"
        raise UsageError(message, hint=_takes(found))
    return read


def _takes(found: NamedAgent) -> str:
    if not found.kind.options:
        return f"'{found.name}' takes no options"
    return f"'{found.name}' takes: {', '.join(map(str, found.kind.options))}"


def _others(name: str) -> str:
    usable, _ = AGENTS.load_all()
    taking = [f"--agent {one}" for one, kind in usable.items() if name in by_name(kind.options)]
    return f"; agents that take it: {', '.join(taking)}" if taking else ""


def _of_object(factory: object) -> NamedAgent:
    named = factory if hasattr(factory, "__qualname__") else type(factory)
    module, name = str(named.__module__), str(getattr(named, "__qualname__", ""))
    path = f"{module}:{name}"
    is_importable = module != "__main__" and _attribute(sys.modules.get(module), name) is factory
    try:
        kind = kind_of(factory)
    except TypeError as cause:
        raise PluginError(f"agent {path} cannot be used: {cause}") from cause
    return NamedAgent(
        name=path if is_importable else f"{OBJECT}{path}", kind=kind, source=_source(path, module)
    )


def _attribute(found: object, name: str) -> object:
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _imported(path: str) -> NamedAgent:
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise UnknownNameError(f"agent '{path}' is not of the form package.module:Factory")
    module = _module(path, module_name)
    found: object = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            message = f"agent {path}: {module_name} has no '{part}'"
            raise UnknownNameError(message, hint=_offered(module_name, module))
        found = getattr(found, part)
    try:
        return NamedAgent(name=path, kind=kind_of(found), source=_source(path, module_name))
    except TypeError as cause:
        message = f"agent {path} cannot be used: {cause}"
        hint = "it must take an episode's Assignment first, and return its agent"
        raise PluginError(message, hint=hint) from cause


def _module(path: str, name: str) -> object:
    """Import a module; the current folder comes last, so that nothing there hides a library."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
        importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as cause:
        missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            message = f"agent {path}: there is no module '{missing}'"
            hint = f"looked among what is installed, then in {here}"
            raise UnknownNameError(message, hint=hint) from cause
        what = " ".join(f"{type(cause).__name__}: {cause}".split())
        raise PluginError(f"agent {path} cannot be loaded: {what}{_place(cause)}") from cause


def _place(cause: BaseException) -> str:
    last = cause.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f" ({last.tb_frame.f_code.co_filename}:{last.tb_lineno})" if last else ""


def _offered(name: str, module: object) -> str:
    """Say what a module defines itself that could be an agent, and where it is."""
    own = [
        one
        for one, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == name and one[0] != "_"
    ]
    return f"{getattr(module, '__file__', name)} defines: {', '.join(own) or 'nothing callable'}"


def _source(path: str, module: str) -> AgentSource:
    owner = owner_of(module)
    if owner is not None:
        return AgentSource(path=path, distribution=owner.distribution, version=owner.version)
    file = getattr(sys.modules.get(module), "__file__", None)
    content = Path(file).read_bytes() if file and Path(file).is_file() else None
    return AgentSource(
        path=path,
        distribution=None,
        version=None,
        source_hash=hashlib.sha256(content).hexdigest() if content is not None else None,
    )


def is_own(source: AgentSource) -> bool:
    return source.distribution == ARENA
