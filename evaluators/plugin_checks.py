"""What every locator and matcher keeps, whoever wrote it: called by the tests of its package.

from evaluators.plugin_checks import matcher_breaches

def test_the_matcher_keeps_the_contract() -> None:
assert matcher_breaches({"how": "length", "least": 3}) == ()
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Final, cast

from pydantic import ValidationError

from arena_core.worlds import World
from evaluators.changes import Change, ChangeKind, FileChange, IgnoredChanges
from evaluators.checks import Check
from evaluators.episode_view import HttpAnswer, PageSeen, Ran
from evaluators.evidence import Located
from evaluators.fields import When
from evaluators.locators.base import Locator, LookingLocator, Need, Subject
from evaluators.locators.kinds import installed_kinds
from evaluators.matchers.base import TEXTS, JudgedMatcher, Matched, Matcher

_FITTING: Final[tuple[Mapping[str, object], ...]] = (
    {"how": "exact", "value": "x"},
    {"how": "delta", "changes": [{"file": "/srv/a", "kind": "added"}]},
)
# Values that a page, a database or an agent may well hold.
_TEXTS: Final = ("", " ", "x", "19.99", "1e999", "-", "ß\u0130", "\x00", "a\nb", "٣", "x" * 5000)


class _EverythingThere:
    """An episode in which whatever can be looked at is there."""

    def __init__(self) -> None:
        self.world = World.OFFLINE
        self.own_page = self.fresh_pages = self.databases = self.apis = self

        self.url = "http://shop/kettle"

    async def look(self, *_: object) -> PageSeen:
        return PageSeen(("Kettle",))

    async def look_at(self, *_: object) -> PageSeen:
        return PageSeen(("Kettle",))

    async def read(self, *_: object) -> tuple[str, ...]:
        return ("Kettle",)

    async def get(self, *_: object) -> HttpAnswer:
        return HttpAnswer("http://shop/api", 200, json.dumps({"total": 3}))

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:  # noqa: ARG002
        return ((1, None),)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:  # noqa: ARG002
        return (FileChange(path="/srv/a", kind=ChangeKind.ADDED),)

    async def shell(self, *_: object) -> Ran:
        return Ran(0, "1\n", "")

    async def python(self, *_: object) -> tuple[str, ...]:
        return ("1",)

    async def reward(self) -> float | None:
        return 1.0


def matcher_breaches(written: Mapping[str, object]) -> tuple[str, ...]:
    """Return what a matcher does otherwise than Arena relies on, one sentence each.

    Args:
        written: an example, as a task's `match` has it; one that asks for something.
    """
    kind = installed_kinds().matchers[str(written["how"])]
    return tuple(_matcher_breaches(kind.model_validate(dict(written))))


def _matcher_breaches(matcher: Matcher) -> Iterator[str]:
    kind, kinds = type(matcher), installed_kinds()
    if kinds.matchers.get(matcher.how) is not kind:
        yield f"it calls itself '{matcher.how}', and another one is registered under that name"
    yield from _stored(matcher)
    if not any(one.yields == matcher.compares for one in kinds.locators.values()):
        yield f"no locator yields what it compares: {matcher.compares!r}"
    if not matcher.computed_counts():
        yield "`computed_counts` allows no number of computed values"
    is_judged = isinstance(matcher, JudgedMatcher)
    if not matcher.is_computable and matcher.compares == TEXTS and not is_judged:
        yield "what is compared with texts can be computed: `is_computable` says otherwise"
    if matcher.asks_for_nothing:
        yield "the example asks for nothing: take one that asks for something"
    for values in ((), *((text,) for text in _TEXTS), _TEXTS):
        for world in World:
            yield from _of_match(matcher, values, world)


def _of_match(matcher: Matcher, values: Sequence[str], world: World) -> Iterator[str]:
    shown = repr(values)[:60]
    try:
        found = cast("object", matcher.match(values, world))
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        yield f"`match` raises {type(error).__name__} for {shown}: {error}"
        return
    if not isinstance(found, Matched):
        yield f"`match` gives no `Matched` for {shown}"
        return
    if found.met and not values:
        yield "it is met where nothing was found"
    if not found.expected:
        yield f"`expected` is empty for {shown}"
    if not _is_a_clause(found.reason):
        yield f"its reason for {shown} is no clause: one line, without a full stop"
    if matcher.match(values, world) != found:
        yield f"it answers differently when asked twice about {shown}"


async def locator_breaches(
    written: Mapping[str, object], match: Mapping[str, object] | None = None
) -> tuple[str, ...]:
    """Return what a locator does otherwise than Arena relies on, one sentence each.

    Args:
        written: an example, as a task's `locate` has it.
        match: a matcher's example that compares what it yields; needed where none of Arena's does.
    """
    kind = installed_kinds().locators[str(written["by"])]
    locator = kind.model_validate(dict(written))
    breaches = [*_locator_breaches(locator, match), *_stored(locator), *_clauses(locator)]
    if isinstance(locator, LookingLocator):
        breaches += [one async for one in _of_look(locator)]
    return tuple(breaches)


def _locator_breaches(locator: Locator, match: Mapping[str, object] | None) -> Iterator[str]:
    kinds = installed_kinds()
    if kinds.locators.get(locator.by) is not type(locator):
        yield f"it calls itself '{locator.by}', and another one is registered under that name"
    if locator.subject not in set(Subject):
        yield f"its subject is {locator.subject!r}, which is not one of `Subject`"
    fitting = match or next(
        (one for one in _FITTING if kinds.matchers[str(one["how"])].compares == locator.yields),
        None,
    )
    if fitting is None:
        yield f"no matcher of Arena's compares what it yields ({locator.yields!r}): give `match`"
        return
    yield from _phases(locator, fitting)
    for is_whole in (True, False):
        once = locator.expected_form("shop:/a b", is_whole=is_whole)
        if locator.expected_form(once, is_whole=is_whole) != once:
            yield "`expected_form` changes a text that has its form already"


def _phases(locator: Locator, fitting: Mapping[str, object]) -> Iterator[str]:
    """Yield where a check takes another phase than the locator says, or is kept as another."""
    phases = [when for when in When if locator.phase_fault(when) is None]
    if not phases:
        yield "`phase_fault` refuses `when: step` and `when: end`"
    for when in When:
        document = {"name": "check", "when": when, "locate": locator, "match": dict(fitting)}
        try:
            check = Check.model_validate(document)
        except ValidationError as refused:
            if when in phases:
                yield f"a check `when: {when}` is refused: {refused.errors()[0]['msg']}"
            continue
        if when not in phases:
            yield f"`phase_fault` refuses `when: {when}`, and a check takes it"
        elif Check.model_validate_json(check.model_dump_json()) != check:
            yield "a check that a run keeps is read as another one"


def _clauses(locator: Locator) -> Iterator[str]:
    if not _is_a_clause(locator.absence()):
        yield "`absence` is no clause: one line, without a full stop"
    if not _is_a_clause(locator.requirement_fault() or "none"):
        yield "`requirement_fault` is no clause: one line, without a full stop"
    for seen in ((), ("one", "two")):
        said = locator.never_met(seen, "'wanted'")
        if not _is_a_clause(said) or "'wanted'" not in said:
            yield "`never_met` is no clause that says what was wanted"


async def _of_look(locator: LookingLocator) -> AsyncIterator[str]:
    if not locator.needs <= set(Need):
        yield f"`needs` holds what is not one of `Need`: {sorted(map(str, locator.needs))}"
    found = await locator.look(_EverythingThere())
    if not found.values or not all(isinstance(value, str) for value in found.values):
        yield "`look` finds no texts in an episode where everything is there"
    kept = Located(check="check", values=found.values, data=dict(found.data))
    if Located.model_validate_json(kept.model_dump_json()) != kept:
        yield "what it found is read back from the evidence as something else"


def _stored(one: Locator | Matcher) -> Iterator[str]:
    kind: Callable[..., Locator | Matcher] = type(one).model_validate
    if type(one).model_validate_json(one.model_dump_json()) != one:
        yield "what a run keeps of it is read as another one"
    try:
        kind({**one.model_dump(), "no_such_field": 1})
    except ValidationError:
        return
    yield "it takes a field that it does not have: derive its models from `Locator` or `Matcher`"


def _is_a_clause(text: str) -> bool:
    """Whether it is one line that a sentence can be made of."""
    return bool(text.strip()) and "\n" not in text and not text.endswith(".")
