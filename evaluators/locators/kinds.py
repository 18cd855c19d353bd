"""The locators and matchers there are: Arena's own, and those of installed packages."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Final, Self

from arena_core.plugins import ExtensionPoint, Group, subclassing
from evaluators.locators.base import Locator
from evaluators.matchers.base import Matcher
from evaluators.matchers.kinds import OneOf, by_own_name, installed_matchers, missing_kind, own_name

LOCATORS: Final[ExtensionPoint[type[Locator]]] = ExtensionPoint(
    Group.LOCATORS, "locator", subclassing(Locator)
)


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
        """Return a registry of these classes."""
        return cls(by_own_name(locators, "by"), by_own_name(matchers, "how"))


def installed_kinds() -> CheckKinds:
    """Return Arena's own, and what packages register as `arena.locators` and `arena.matchers`.

    One that is broken, shares its name with another or names itself otherwise than it is
    registered is left out: it hides nothing else, and `missing_kind` says what is wrong with it.
    """
    return _kinds_on(tuple(sys.path))


@lru_cache(maxsize=8)
def _kinds_on(_path: tuple[str, ...]) -> CheckKinds:
    """Import them once for each import path."""
    LOCATORS.require_own()
    locators, _ = LOCATORS.load_all()
    return CheckKinds.of(
        (one for name, one in locators.items() if own_name(one, "by") == name),
        installed_matchers().values(),
    )


def _kinds(context: object) -> CheckKinds:
    """Return what a validation allows: the registry that is its context, or what is installed."""
    return context if isinstance(context, CheckKinds) else installed_kinds()


def _locators(context: object) -> Mapping[str, type[Locator]]:
    return _kinds(context).locators


# A field that holds any of them.
Locate = Annotated[Locator, OneOf("by", _locators, partial(missing_kind, LOCATORS, "by"))]
