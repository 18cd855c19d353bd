"""The matchers there are, and how parts of checks are told apart by their own names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, Final, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from arena_core.errors import PluginError, PrerequisiteError
from arena_core.plugins import Group, Seam, subclassing
from evaluators.matchers.base import Matcher
from evaluators.unions import OneOf

Part = TypeVar("Part", bound=BaseModel)


@runtime_checkable
class _Registry(Protocol):
    """What a validation allows, where its context says so."""

    @property
    def matchers(self) -> Mapping[str, type[Matcher]]:
        """By the value of `how`."""


MATCHERS: Final[Seam[type[Matcher]]] = Seam(Group.MATCHERS, "matcher", subclassing(Matcher))


def installed_matchers() -> Mapping[str, type[Matcher]]:
    """Return Arena's own, and what packages register as `arena.matchers`, as `installed_kinds`.

    Raises:
        PluginError: Arena's own are not registered.
    """
    return _matchers_on(tuple(sys.path))


@lru_cache(maxsize=8)
def _matchers_on(_path: tuple[str, ...]) -> Mapping[str, type[Matcher]]:
    """Import them once for each import path."""
    MATCHERS.require_own()
    found, _ = MATCHERS.load_all()
    return by_own_name((one for name, one in found.items() if own_name(one, "how") == name), "how")


def missing_kind(seam: Seam[Any], mark: str, name: str) -> str:
    """Say why what a task names is not there, and what to do about it."""
    if name not in seam.names():
        return (
            f"install the package that adds such a {seam.noun} (entry point group `{seam.group}`)"
        )
    try:
        found = seam.load(name)
    except PluginError as broken:
        return f"{broken.message}; {broken.hint}"
    called = own_name(found, mark)
    return f"{_path(found)} is registered under that name, and calls itself '{called}'"


def own_name(one: type[BaseModel], mark: str) -> object:
    """Return what a locator (`by`) or matcher (`how`) calls itself."""
    return one.model_fields[mark].default


def by_own_name(classes: Iterable[type[Part]], mark: str) -> dict[str, type[Part]]:
    """Return classes by what they call themselves.

    Raises:
        PrerequisiteError: two share a name, or one has none.
    """
    named: dict[str, type[Part]] = {}
    for one in classes:
        name = own_name(one, mark)
        if not isinstance(name, str):
            message = f"{_path(one)}: write `{mark}: Literal[NAME] = NAME`, which names it in tasks"
            raise PrerequisiteError(message)
        if name in named and named[name] is not one:
            message = f"`{mark}: {name}` is both {_path(named[name])} and {_path(one)}"
            raise PrerequisiteError(message, hint="uninstall one of the two packages")
        named[name] = one
    return named


def _path(one: type) -> str:
    return f"{one.__module__}.{one.__qualname__}"


def _matchers(context: object) -> Mapping[str, type[Matcher]]:
    return context.matchers if isinstance(context, _Registry) else installed_matchers()


# A field that holds any of them.
Match = Annotated[Matcher, OneOf("how", _matchers, partial(missing_kind, MATCHERS, "how"))]
