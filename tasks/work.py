"""The least work that a task asks for: added up, and held against what its tier demands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluators.checks import Look
from evaluators.fields import When
from evaluators.lint import Location
from evaluators.locators.db import DbLocator
from evaluators.matchers.delta import DeltaMatcher
from evaluators.values.text import shown_all
from tasks.needs import Tier, Work
from tasks.reference import GiveUp, ReferenceAction, SolveMiniWob, StopWith
from tasks.schema import Task

# Any one of these makes a task long enough to be hard.
LEAST: Final = {Work.ROWS: 40, Work.PAGES: 3, Work.LOOKUPS: 4, Work.WRITES: 3}
LEAST_SITES: Final = 3

# By the name of its look-up, what a replica answered; None where none was asked.
Found = Mapping[str, Sequence[str]] | None


def need_lookups(task: Task) -> Iterator[Look]:
    """Yield what asks a replica how much work there is, each under a name that no check has."""
    for number, need in enumerate(task.needs):
        if need.site is not None and need.sql is not None:
            locate = DbLocator(site=need.site, sql=need.sql)
            look = Look(name="needs", when=When.END, locate=locate)
            yield look.model_copy(update={"name": _named(number)})


def work_faults(task: Task, found: Found) -> Iterator[tuple[Location, str]]:
    """Yield, with their places, what is no number, more than the task takes, or too little.

    Args:
        found: what replicas answered; where they were not asked, what asks them is enough.
    """
    amounts = [_amount(task, number, found) for number in range(len(task.needs))]
    for number, amount in enumerate(amounts):
        if isinstance(amount, str):
            yield ("needs", number), amount
    if any(isinstance(one, str) for one in amounts):
        return
    by_kind: dict[Work, list[int | None]] = {}
    for need, amount in zip(task.needs, amounts, strict=True):
        by_kind.setdefault(need.what, []).append(None if isinstance(amount, str) else amount)
    sums = {kind: sum(one or 0 for one in of_it) for kind, of_it in by_kind.items()}
    for kind, fault in _overstated(task, sums):
        number = next(n for n, need in enumerate(task.needs) if need.what is kind)
        yield ("needs", number), fault
    is_open = any(None in of_it for of_it in by_kind.values())
    if task.tier is Tier.HARD and not is_open and not _is_enough(task, sums):
        said = ", ".join(f"{amount} {kind}" for kind, amount in sums.items()) or "nothing"
        wanted = ", ".join(f"{least} {kind}" for kind, least in LEAST.items())
        message = f"too little work for `tier: hard`: its `needs` come to {said}"
        yield ("needs",), f"{message}; wanted is one of {wanted} or {LEAST_SITES} sites"


def _is_enough(task: Task, sums: Mapping[Work, int]) -> bool:
    enough = any(amount >= LEAST[kind] for kind, amount in sums.items())
    return enough or len({*task.sites}) >= LEAST_SITES


def _overstated(task: Task, sums: Mapping[Work, int]) -> Iterator[tuple[Work, str]]:
    """Yield the kinds of work of which the task's own ways or checks show that there is less."""
    ways = {"the reference": _acts(task, task.reference_actions)} if task.reference else {}
    ways |= {f"path '{one.name}'": _acts(task, task.actions_of(one)) for one in task.other_paths}
    for kind in (Work.PAGES, Work.LOOKUPS):
        for way, acts in ways.items():
            if acts is not None and acts < sums.get(kind, 0):
                yield kind, f"{sums[kind]} {kind} are needed, but {way} takes {acts} actions"
                break
    matches = [one.match for one in task.checks if isinstance(one.match, DeltaMatcher)]
    rows = sum(change.count for one in matches for change in one.changes)
    if matches and rows < sums.get(Work.WRITES, 0):
        yield Work.WRITES, f"{sums[Work.WRITES]} writes are needed, but {rows} changes expected"


def _acts(task: Task, actions: Sequence[ReferenceAction]) -> int | None:
    """Return how many actions a way takes before it ends, the page it starts on counted as one."""
    if any(isinstance(one, SolveMiniWob) for one in actions):
        return None
    done = sum(not isinstance(one, StopWith | GiveUp) for one in actions)
    return done + len(task.start)


def _amount(task: Task, number: int, found: Found) -> int | str | None:
    """Return how much a need is; None where nobody asked yet, or what is wrong with the answer."""
    need = task.needs[number]
    if need.count is not None or found is None:
        return need.count
    values = found.get(_named(number))
    if values is None:
        return None
    if len(values) != 1 or not values[0].strip().isdecimal():
        return f"`sql` finds one whole number, found {shown_all(values) or 'nothing'}"
    return int(values[0])


def _named(number: int) -> str:
    return f"~needs-{number}"
