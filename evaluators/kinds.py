"""The locators and matchers there are: Arena's own, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Self, TypeVar

from arena_core.errors import PrerequisiteError
from evaluators.locators.answer import AnswerLocator
from evaluators.locators.api import ApiLocator
from evaluators.locators.base import Locator
from evaluators.locators.db import DbLocator
from evaluators.locators.db_delta import DbDeltaLocator
from evaluators.locators.element import ElementLocator
from evaluators.locators.page import PageLocator
from evaluators.locators.url import UrlLocator
from evaluators.locators.wob import WobLocator
from evaluators.matchers.base import Matcher
from evaluators.matchers.delta import DeltaMatcher
from evaluators.matchers.exact import ExactMatcher
from evaluators.matchers.include import IncludeMatcher
from evaluators.matchers.number import NumberMatcher

LOCATORS: Final = "arena.locators"
MATCHERS: Final = "arena.matchers"

OWN_LOCATORS: Final[tuple[type[Locator], ...]] = (
    UrlLocator,
    AnswerLocator,
    ElementLocator,
    PageLocator,
    DbLocator,
    ApiLocator,
    DbDeltaLocator,
    WobLocator,
)
OWN_MATCHERS: Final[tuple[type[Matcher], ...]] = (
    ExactMatcher,
    IncludeMatcher,
    NumberMatcher,
    DeltaMatcher,
)

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


@cache
def installed_kinds() -> CheckKinds:
    """Return Arena's own, and what packages register as `arena.locators` and `arena.matchers`.

    Raises:
        PrerequisiteError: a package registers what cannot be loaded, is none, or has a taken name.
    """
    return CheckKinds.of(
        (*OWN_LOCATORS, *_registered(LOCATORS, accept_locator)),
        (*OWN_MATCHERS, *_registered(MATCHERS, accept_matcher)),
    )


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


def _registered(group: str, accept: Callable[[object], type[Part]]) -> tuple[type[Part], ...]:
    points = sorted(entry_points(group=group), key=lambda one: one.name)
    return tuple(_loaded(point, accept) for point in points)


def _loaded(point: EntryPoint, accept: Callable[[object], type[Part]]) -> type[Part]:
    source = point.dist.name if point.dist else "an unnamed package"
    try:
        return accept(point.load())
    except (ImportError, AttributeError, TypeError) as cause:
        what = f"'{point.name}' of {point.group} ({source}, {point.value})"
        message = f"{what} cannot be used: {cause}"
        raise PrerequisiteError(message, hint=f"repair or uninstall {source}") from cause


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
