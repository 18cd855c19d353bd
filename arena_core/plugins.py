"""What is plugged in: objects that installed distributions register by entry point.

Plain `importlib.metadata`, not `pluggy`: each extension point holds single objects that are loaded
by name, and `pluggy` orders calls to all plug-ins at once. So nothing is imported before its name
is used, and no manager has to be passed around.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from itertools import chain
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from arena_core.errors import PluginError, UnknownNameError
from arena_core.names import offered

ARENA: Final = "arena-orchestrator"
_REINSTALL: Final = "install Arena again: `pip install .`, or `make setup` in a checkout"

Item_co = TypeVar("Item_co", covariant=True)


class Group(StrEnum):
    """The entry-point groups: one for each kind of thing that can be plugged in."""

    AGENTS = "arena.agents"
    OBSERVATIONS = "arena.observations"
    LOCATORS = "arena.locators"
    MATCHERS = "arena.matchers"
    FUNCTIONS = "arena.functions"
    IMPORTERS = "arena.importers"
    FORMATS = "arena.formats"
    SCORERS = "arena.scorers"
    EXPORTERS = "arena.exporters"
    REPORTS = "arena.reports"


# What a group was called before: what registers there is found for one release more.
_FORMER: Final[Mapping[Group, str]] = {Group.SCORERS: "arena.readings"}


@dataclass(frozen=True, slots=True, order=True)
class Plugin:
    """One registered object, which may not be imported yet.

    Attributes:
        path: where it is, `package.module:attribute`.
        distribution, version: what registered it.
    """

    group: Group
    name: str
    path: str
    distribution: str
    version: str

    @property
    def is_own(self) -> bool:
        """Whether it ships with Arena."""
        return self.distribution == ARENA

    def load(self) -> object:
        """Import the object."""
        try:
            return EntryPoint(self.name, self.path, self.group).load()
        except (Exception, SystemExit) as cause:
            message = f"{self} cannot be loaded: {type(cause).__name__}: {_one_line(cause)}"
            raise PluginError(message, hint=self._next_step()) from cause

    def unfit(self, reason: str) -> PluginError:
        """Return the error of an object that is not what its group asks for."""
        return PluginError(f"{self} cannot be used: {reason}", hint=self._next_step())

    def _next_step(self) -> str:
        if self.is_own:
            return _REINSTALL
        return f"fix it, or remove it: pip uninstall {self.distribution}"

    def __str__(self) -> str:
        owner = f"{self.distribution} {self.version}"
        return f"plug-in '{self.name}' of {self.group} ({owner}, {self.path})"


@dataclass(frozen=True, slots=True)
class ExtensionPoint(Generic[Item_co]):
    """One group, as the part of Arena sees it that uses what is plugged in there.

    Attributes:
        noun: what one of them is called in messages: `agent`.
        accept: checks and converts a loaded object; raises `TypeError` if it is invalid.
    """

    group: Group
    noun: str
    accept: Callable[[object], Item_co] = field(repr=False)

    def plugins(self) -> tuple[Plugin, ...]:
        """Return what is registered, by name; nothing is imported."""
        return registered(self.group)

    def names(self) -> tuple[str, ...]:
        """Return the registered names in order, Arena's own first; nothing is imported."""
        ordered = sorted(self.plugins(), key=lambda one: (not one.is_own, one.name))
        return tuple(dict.fromkeys(one.name for one in ordered))

    def require_own(self) -> None:
        """Refuse an installation in which not even Arena's own are registered."""
        if not any(one.is_own for one in self.plugins()):
            message = f"Arena's own plug-ins of {self.group} are not registered"
            raise PluginError(message, hint=f"its installation is out of date: {_REINSTALL}")

    def find(self, name: str) -> Plugin:
        """Return what is registered under a name, without importing it."""
        found = [one for one in self.plugins() if one.name == name]
        if len(found) > 1:
            raise _twins(found)
        if found:
            return found[0]
        self.require_own()
        message = f"there is no {self.noun} '{name}'"
        raise UnknownNameError(message, hint=offered(name, self.names()))

    def load(self, name: str) -> Item_co:
        """Import what is registered under a name, and nothing else."""
        return self._accepted(self.find(name))

    def load_all(self) -> tuple[dict[str, Item_co], tuple[PluginError, ...]]:
        """Import all: what can be used by name, and what is wrong with the others."""
        usable: dict[str, Item_co] = {}
        broken: list[PluginError] = []
        for name in self.names():
            try:
                usable[name] = self.load(name)
            except PluginError as error:
                broken.append(error)
        return usable, tuple(broken)

    def _accepted(self, plugin: Plugin) -> Item_co:
        loaded = plugin.load()
        try:
            return self.accept(loaded)
        except TypeError as cause:
            raise plugin.unfit(str(cause)) from cause


def filling(protocol: type[Any]) -> Callable[[object], Any]:
    """Return what accepts an object that has all public members of a protocol.

    Args:
        protocol: a `runtime_checkable` one; mypy takes no protocol for a `type[T]`.
    """
    members = sorted(
        name for name in {*vars(protocol), *protocol.__annotations__} if not name.startswith("_")
    )

    def accept(found: object) -> object:
        if isinstance(found, type):
            raise TypeError(f"it is the class {found.__name__}: register an object of it")
        missing = [name for name in members if not hasattr(found, name)]
        if missing or not isinstance(found, protocol):
            raise TypeError(f"it is no {protocol.__name__}: it lacks {', '.join(missing)}")
        return found

    return accept


def subclassing(base: type[Any]) -> Callable[[object], Any]:
    """Return what accepts a subclass of a class; mypy takes no abstract one for a `type[T]`."""

    def accept(found: object) -> type[Any]:
        if isinstance(found, type) and issubclass(found, base):
            return found
        raise TypeError(f"it is no subclass of {base.__module__}.{base.__name__}")

    return accept


def registered(group: Group) -> tuple[Plugin, ...]:
    """Return what installed distributions register in a group, by name; nothing is imported."""
    return _read(group, tuple(sys.path))


@lru_cache(maxsize=32)
def _read(group: Group, _path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Read the metadata of every distribution once for each import path."""
    found = {
        Plugin(
            group=group,
            name=point.name,
            path=point.value,
            distribution=point.dist.name if point.dist else "unknown",
            version=point.dist.version if point.dist else "",
        )
        for called in dict.fromkeys((group.value, _FORMER.get(group, group.value)))
        for point in entry_points(group=called)
    }
    return tuple(sorted(found, key=lambda one: (one.name, one.distribution, one.path)))


@dataclass(frozen=True, slots=True)
class Owner:
    """The distribution that a module belongs to."""

    distribution: str
    version: str


def owner_of(module: str) -> Owner | None:
    """Return what installed an imported module; None for a file that nobody installed.

    The lists of files are read of the distributions beside the module's top-level package alone:
    reading those of all takes 0.2 s. One that was installed to be edited lies elsewhere, and is
    known by the packages that it declares.
    """
    top = module.partition(".")[0]
    package = sys.modules.get(top)
    files = getattr(package, "__path__", None) or [getattr(package, "__file__", None)]
    beside = distributions(path=[str(Path(file).parent) for file in files if file])
    owners = chain(
        (one for one in beside if _holds(one, top)),
        (one for one in distributions() if _declares(one, top)),
    )
    # What an installer is just writing, or has left behind, has no name yet or any more.
    named = (one for one in owners if one.read_text("METADATA"))
    return next((Owner(one.metadata["Name"], one.version) for one in named), None)


def _holds(distribution: Distribution, top: str) -> bool:
    record = f"\n{distribution.read_text('RECORD') or ''}"
    return f"\n{top}/" in record or f"\n{top}." in record


def _declares(distribution: Distribution, top: str) -> bool:
    return top in (distribution.read_text("top_level.txt") or "").split()


def _twins(found: list[Plugin]) -> PluginError:
    owners = " and ".join(f"{one.distribution} {one.version} ({one.path})" for one in found)
    first = found[0]
    message = f"two plug-ins of {first.group} are called '{first.name}': {owners}"
    foreign = [one.distribution for one in found if not one.is_own]
    hint = f"uninstall one of them: pip uninstall {' | '.join(dict.fromkeys(foreign)) or ARENA}"
    return PluginError(message, hint=hint)


def _one_line(cause: BaseException) -> str:
    return " ".join(str(cause).split()) or "no message"
