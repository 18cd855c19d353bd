"""Near misses of a key, and its margin: what was found for them, held against the check."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from arena_core.errors import TaskError
from arena_core.worlds import World
from evaluators.checks import Check, Margin, WrongKey
from evaluators.checks import match as compared
from evaluators.lint import Location
from evaluators.locators.base import Subject
from evaluators.values.text import normalise, shown_all
from tasks.instances import ROWS, as_located, lookup_of, open_suite, rows_suite
from tasks.schema import Suite, Task
from tasks.sources import DrawnFrom
from tasks.work import work_faults

_NUMBER: Final = re.compile(r"[^\w\s-]?(-?\d{1,3}(?:,\d{3})+|-?\d+)(\.\d+)?")
_PARTS: Final = re.compile(r", |;| \| |\n")
_NOTHING: Final = frozenset({"", "null"})

_MOST_PASSED_OVER: Final = 100
_MOST_TWINS: Final = 50  # then two instances may share a key: there may be no further ones

# By task, and by check or lookup, what a replica answered.
Found = Mapping[tuple[str, str], Sequence[str]]
Ask = Callable[[Suite, tuple[Task, ...]], Awaitable[Found]]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A wrong key of a check, and what was found for it.

    Attributes:
        at: its place in the check.
    """

    name: str
    at: Location
    values: tuple[str, ...]


def lookups_of(check: Check) -> Iterator[Check]:
    """Yield what asks a replica for a check's key, wrong keys and margin, each under a name."""
    for _, asked in check.asked:
        match asked:
            case WrongKey():
                yield lookup_of(check, asked, _named(check, asked.name))
            case Margin():
                yield lookup_of(check, asked, _named(check, ""))
            case _:
                yield lookup_of(check, asked, check.name)


def near_misses(check: Check, found: Mapping[str, Sequence[str]]) -> tuple[NearMiss, ...]:
    """Return a check's wrong keys with what was found, by the names of lookups."""
    return tuple(
        NearMiss(
            wrong.name, ("wrong_keys", number), wrong.read(tuple(found[_named(check, wrong.name)]))
        )
        for number, wrong in enumerate(check.wrong_keys)
        if _named(check, wrong.name) in found
    )


def near_faults(check: Check, found: Mapping[str, Sequence[str]]) -> Iterator[tuple[Location, str]]:
    """Yield, with their places, the wrong keys that are the key, and a margin that there is not.

    A wrong key is the key where the check takes it, and where it is the same values in another
    spelling or, unless the check asks for an order, in another order.
    """
    key = found.get(check.name, ())
    if check.computed is not None:
        key = check.computed.read(tuple(key))
    for miss in near_misses(check, found):
        fault = _wrong_key_fault(check, key, miss.values)
        if fault is not None:
            yield miss.at, f"wrong key '{miss.name}' {fault}"
    if check.margin is not None and _named(check, "") in found:
        fault = margin_fault(check.margin, check.margin.read(tuple(found[_named(check, "")])))
        if fault is not None:
            yield ("margin",), f"no margin: {fault}"


def unfit(suite: Suite, found: Found) -> Mapping[str, str]:
    """Return, by task, why what was found for it leaves no difference to a near miss."""
    return {
        task.id: reason
        for task in suite.tasks
        if (reason := next(_reasons(task, found), None)) is not None
    }


async def drawn_apart(name_or_path: str, seed: int, ask: Ask) -> Suite:
    """Return a suite with the tasks that a seed draws, all of them apart from their near misses.

    An instance that is not is drawn again, by the same seed: equal seeds draw equal tasks. So is
    one that has the key of another instance of its template, as long as there are others.

    Args:
        ask: asks replicas for what the checks of tasks expect, once their worlds are set up.

    Raises:
        TaskError: as in `open_suite`; or an instance is not apart, however often it is drawn.
    """
    rows = await _rows(name_or_path, ask)
    passed_over: dict[str, int] = {}
    known: dict[str, Task] = {}
    found: dict[tuple[str, str], Sequence[str]] = {}
    while True:
        drawn = open_suite(name_or_path, seed, DrawnFrom(passed_over, rows))
        anew = {task.id: task for task in drawn.asked if known.get(task.id) != task}
        if anew:
            kept = {key: values for key, values in found.items() if key[0] not in anew}
            found = {**kept, **await ask(drawn.suite, tuple(anew.values()))}
            known |= anew
        filled = drawn.filled(found)
        left = unfit(filled, found)
        if not left:
            # The first of each template: what is drawn in its place may be no twin of the next.
            twins = {
                task.template: task.id
                for task in reversed(list(repeated(filled, found)))
                if passed_over.get(task.id, 0) < _MOST_TWINS
            }
            if not twins:
                return filled
            for one in twins.values():
                passed_over[one] = passed_over.get(one, 0) + 1
            continue
        for name, why in left.items():
            passed_over[name] = passed_over.get(name, 0) + 1
            if f"-s{seed}-" not in name or passed_over[name] > _MOST_PASSED_OVER:
                times = passed_over[name]
                message = f"'{name}', drawn {times} times: {why}"
                raise TaskError(message, hint="let it `draw` from other values, or mend the key")


def repeated(suite: Suite, found: Found) -> Iterator[Task]:
    """Yield the drawn tasks whose answer is the key of an earlier instance of their template."""
    seen: set[tuple[str, str, tuple[str, ...]]] = set()
    for task in suite.tasks:
        for check in task.checks:
            values = found.get((task.id, check.name))
            if (
                task.template is None
                or values is None
                or check.locate.subject is not Subject.ANSWER
            ):
                continue
            key = task.template, check.name, tuple(normalise(one) for one in values)
            if key in seen:
                yield task
            seen.add(key)


async def _rows(name_or_path: str, ask: Ask) -> Mapping[str, Sequence[str]]:
    """Return what each template draws from where that is a site's rows, by the template's id."""
    suite = rows_suite(name_or_path)
    if suite is None:
        return {}
    found = await ask(suite, suite.tasks)
    return {task.id: found[task.id, ROWS] for task in suite.tasks}


def margin_fault(margin: Margin, values: Sequence[str]) -> str | None:
    """Say why the best are not apart from each other and from the next; None where they are."""
    if len(values) <= margin.best:
        return f"no runner-up: {len(values)} measures were found, wanted {margin.best + 1} or more"
    if _NOTHING & {*values}:
        return f"a measure is missing: {shown_all(values)}"
    numbers = [_number(value) for value in values]
    if None in numbers and margin.by is not None:
        return f"`by` compares numbers, found {shown_all(values)}"
    measures: list[Decimal] | list[str] = [one for one in numbers if one is not None]
    if None in numbers:
        measures = [normalise(value) for value in values]
    if list(measures) not in (sorted(measures), sorted(measures, reverse=True)):
        return f"the measures are in no order: {shown_all(values)}"
    return next(_too_close(margin, measures[: margin.best + 1], values), None)


def _too_close(
    margin: Margin, measures: list[Decimal] | list[str], values: Sequence[str]
) -> Iterator[str]:
    for number, (one, other) in enumerate(pairwise(measures)):
        pair = f"{values[number]} and {values[number + 1]}, places {number + 1} and {number + 2},"
        if one == other:
            yield f"{pair} are equal"
        elif margin.by is not None and isinstance(one, Decimal) and isinstance(other, Decimal):
            apart = abs(one - other)
            if apart < Decimal(str(margin.by)):
                yield f"{pair} are {apart} apart, wanted {margin.by:g}"


def _named(check: Check, name: str) -> str:
    """Return the name of a lookup, which no check has: theirs hold no tilde."""
    return f"{check.name}~{name}"


def _reasons(task: Task, found: Found) -> Iterator[str]:
    own = {name: values for (of, name), values in found.items() if of == task.id}
    for check in task.checks:
        yield from (f"check '{check.name}': {fault}" for _, fault in near_faults(check, own))
    yield from (fault for _, fault in work_faults(task, own))


def _wrong_key_fault(check: Check, key: Sequence[str], values: Sequence[str]) -> str | None:
    said = [value for value in values if normalise(value) not in _NOTHING]
    if not said:
        return "finds nothing, and that is no near miss"
    if key and _spelled(check, key) == _spelled(check, said):
        return f"is the key in another spelling: {shown_all(said)}, and the key is {shown_all(key)}"
    for way in check.ways:
        for given in (tuple(said), (", ".join(said),)):
            found = compared(way, as_located(way, given), World.OFFLINE)
            if found.met:
                return f"is taken for the key: {found.reason}, wanted {found.expected}"
    return None


def _spelled(check: Check, values: Sequence[str]) -> list[str]:
    """Return values in the one form in which key and wrong key are the same or not."""
    parts = [part for value in values for part in _PARTS.split(value) if part.strip()]
    numbers = [(part, _number(part)) for part in parts]
    spelled = [
        normalise(part).strip(" .\"'") if number is None else str(number.normalize())
        for part, number in numbers
    ]
    return spelled if getattr(check.match, "ordered", False) else sorted(spelled)


def _number(text: str) -> Decimal | None:
    """Read text that is a number alone, with a sign of currency or thousands' commas or without."""
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None else Decimal(found[1].replace(",", "") + (found[2] or ""))
