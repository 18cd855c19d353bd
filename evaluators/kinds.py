"""The locators and matchers there are: Arena's own, and those of installed packages."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Final, Self, TypeVar

from arena_core.errors import PluginError, PrerequisiteError
from arena_core.plugins import Group, Seam
from evaluators.locators.base import Locator
from evaluators.matchers.base import Matcher
from evaluators.unions import OneOf

Part = TypeVar("Part", Locator, Matcher)


@dataclass(frozen=True, slots=True)
class CheckKinds:
    """What a check may be made of, by the name that tasks use.

    Attributes:
        locators: by the value of `by`.
        matchers: by the value of `how`.
    """

    locators: Mapping[str, type[Locator]]
    matchers: Mapping[str, type[Matcher]]

    @classmethod
    def of(cls, locators: Iterable[type[Locator]], matchers: Iterable[type[Matcher]]) -> Self:
        """Return a registry of these classes.

        Raises:
            PrerequisiteError: two share a name, or one has none.
        """
        return cls(_by_name(locators, "by"), _by_name(matchers, "how"))


def accept_locator(found: object) -> type[Locator]:
    """Return an object that was registered as a locator.

    Raises:
        TypeError: it is no locator's class.
    """
    if isinstance(found, type) and issubclass(found, Locator):
        return found
    message = "it is no subclass of evaluators.locators.base.Locator"
    raise TypeError(message)


def accept_matcher(found: object) -> type[Matcher]:
    """Return an object that was registered as a matcher.

    Raises:
        TypeError: it is no matcher's class.
    """
    if isinstance(found, type) and issubclass(found, Matcher):
        return found
    message = "it is no subclass of evaluators.matchers.base.Matcher"
    raise TypeError(message)


LOCATORS: Final[Seam[type[Locator]]] = Seam(Group.LOCATORS, "locator", accept_locator)
MATCHERS: Final[Seam[type[Matcher]]] = Seam(Group.MATCHERS, "matcher", accept_matcher)


def installed_kinds() -> CheckKinds:
    """Return Arena's own, and what packages register as `arena.locators` and `arena.matchers`.

    One that is broken, shares its name with another or names itself otherwise than it is
    registered is left out: it hides nothing else, and `missing_kind` says what is wrong with it.

    Raises:
        PluginError: Arena's own are not registered.
    """
    return _kinds_on(tuple(sys.path))


@lru_cache(maxsize=8)
def _kinds_on(_path: tuple[str, ...]) -> CheckKinds:
    """Import them once for each import path."""
    LOCATORS.require_own()
    MATCHERS.require_own()
    locators, _ = LOCATORS.load_all()
    matchers, _ = MATCHERS.load_all()
    return CheckKinds.of(
        (one for name, one in locators.items() if _own_name(one) == name),
        (one for name, one in matchers.items() if _own_name(one) == name),
    )


def missing_kind(seam: Seam[type[Locator]] | Seam[type[Matcher]], name: str) -> str:
    """Say why what a task names is not there, and what to do about it."""
    if name not in seam.names():
        return (
            f"install the package that adds such a {seam.noun} (entry point group `{seam.group}`)"
        )
    try:
        found = seam.load(name)
    except PluginError as broken:
        return f"{broken.message}; {broken.hint}"
    return f"{_path(found)} is registered under that name, and calls itself '{_own_name(found)}'"


def _own_name(one: type[Locator | Matcher]) -> object:
    mark = "by" if issubclass(one, Locator) else "how"
    return one.model_fields[mark].default


def _by_name(classes: Iterable[type[Part]], mark: str) -> dict[str, type[Part]]:
    named: dict[str, type[Part]] = {}
    for one in classes:
        name = one.model_fields[mark].default
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


def _kinds(context: object) -> CheckKinds:
    """Return what a validation allows: the registry that is its context, or what is installed."""
    return context if isinstance(context, CheckKinds) else installed_kinds()


def _locators(context: object) -> Mapping[str, type[Locator]]:
    return _kinds(context).locators


def _matchers(context: object) -> Mapping[str, type[Matcher]]:
    return _kinds(context).matchers


# Fields that hold any of them.
Locate = Annotated[Locator, OneOf("by", _locators, partial(missing_kind, LOCATORS))]
Match = Annotated[Matcher, OneOf("how", _matchers, partial(missing_kind, MATCHERS))]
