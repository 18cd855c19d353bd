"""What would repair a drifted task: new names and values, for a person to accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from arena_core.worlds import World
from evaluators.fields import PerWorld, in_world
from evaluators.lint import Location
from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.reference import target_of
from tasks.edits import ValueChange
from tasks.schema import Task

# Less alike than that, the nearest element is a guess.
LEAST_ALIKE: Final = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a task would be changed to.

    Attributes:
        because: what drifted.
        changes: empty where a person has to repair it; `by_hand` says why.
    """

    task: str
    because: str
    changes: tuple[ValueChange, ...] = ()
    by_hand: str = ""


def repair_of(task: Task, world: World, found: Mapping[str, Any]) -> Repair | None:
    """Return what would repair a task; None where it has not drifted.

    Args:
        found: the last finding of it, as a JSON document.
    """
    drift = found.get("drift")
    if found.get("status") != CanaryStatus.DRIFTED or not isinstance(drift, Mapping):
        return None
    if drift.get("action") is not None:
        changes, why = _rename(task, world, drift)
    elif drift.get("check") is not None:
        changes, why = _new_value(task, world, drift)
    else:
        changes, why = (), f"{drift['at']} cannot be repaired by a new name or value"
    because = str(found.get("because", ""))
    return Repair(task=task.id, because=because, changes=changes, by_hand=why)


_Mended = tuple[tuple[ValueChange, ...], str]


def _rename(task: Task, world: World, drift: Mapping[str, Any]) -> _Mended:
    """Return role and name of the nearest element, in the action and in checks of that element."""
    at = int(drift["action"]) - 1
    action = task.reference_actions[at]
    target = target_of(action, world)
    near = drift.get("nearest") or []
    if target is None or not near:
        return (), "no element of the page is like the one that is missing"
    if near[0]["likeness"] < LEAST_ALIKE:
        return (), f"the nearest element is only {100 * near[0]['likeness']:.0f} % alike"
    if len(near) > 1 and near[1]["likeness"] == near[0]["likeness"]:
        return (), "several elements of the page are as alike"
    role, name = target
    new = {"role": near[0]["role"], "name": near[0]["name"]}
    changes = [
        _change(task, world, ("reference", at, field), getattr(action, field), new[field])
        for field, old in (("role", role), ("name", name))
        if new[field] != old
    ]
    if not changes:
        return (), "the nearest element has the same role and name: look at `within` and `nth`"
    return (*changes, *_in_checks(task, world, role, name, new["name"])), ""


def _in_checks(task: Task, world: World, role: str, name: str, new: str) -> Iterator[ValueChange]:
    """Yield the renaming in key nodes that ask for this very element."""
    if name == new:
        return
    for number, check in enumerate(task.checks):
        locate, value = check.locate, getattr(check.match, "value", None)
        if getattr(locate, "by", "") != "element" or getattr(locate, "role", None) != role:
            continue
        if getattr(locate, "read", None) == "name" and in_world(value, world) == name:
            yield _change(task, world, ("checks", number, "match", "value"), value, new)


def _new_value(task: Task, world: World, drift: Mapping[str, Any]) -> _Mended:
    """Return the value that a check found, in place of the one that it wants."""
    found = [one for one in task.checks if one.name == drift["check"]]
    values = drift.get("values") or []
    if not found:
        return (), "what a task requires of its site is a person's to say"
    check, number = found[0], task.checks.index(found[0])
    value = getattr(check.match, "value", None)
    if getattr(check.match, "how", "") != "exact" or not isinstance(in_world(value, world), str):
        return (), "only the one text that an `exact` match wants can be proposed anew"
    if len(values) != 1:
        return (), f"the check found {len(values)} values, and a person has to choose"
    at = ("checks", number, "match", "value")
    return (_change(task, world, at, value, values[0]),), ""


def _change(task: Task, world: World, at: Location, old: object, new: str) -> ValueChange:
    """Return the change of a value; the other world keeps its own."""
    if isinstance(old, PerWorld):
        return ValueChange(at=(*at, world.value), old=str(old.of(world)), new=new)
    if len(task.worlds) == 1:
        return ValueChange(at=at, old=str(old), new=new)
    both = {one.value: new if one is world else str(old) for one in World}
    return ValueChange(at=at, old=str(old), new=both)
