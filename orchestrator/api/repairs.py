"""Repairs of suites: proposed as a diff, and written where a person accepts them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError, TaskError, UsageError
from arena_core.names import offered
from orchestrator.authoring.canary.history import History, Origins, history_file
from orchestrator.authoring.canary.repair import Repair, repair_of
from tasks.edits import FileEdit, edits_of, is_written_out
from tasks.loader import Selection, load_source, select_tasks, suite_names
from tasks.schema import Task
from tasks.sources import SuiteSource

_COUNTED: Final = "revision"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRepair:
    """What is proposed for the drifted tasks of a suite.

    Attributes:
        proposed: tasks with changes.
        by_hand: drifted tasks that a person has to mend, with the reason.
        diff: of the suite's files.
        is_written: the changes were accepted, and stand in the files.
    """

    proposed: tuple[Repair, ...]
    by_hand: tuple[Repair, ...]
    diff: str
    is_written: bool

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return asdict(self)


def repair_suite(
    suite: str,
    patterns: Sequence[str],
    *,
    origins: str,
    accept: bool,
    history: Path | None,
) -> SuiteRepair:
    """Propose repairs, and write them where accepted; see `Suites.repair`."""
    if origins not in set(Origins):
        message = f"the canary looks at no origins '{origins}'"
        raise UsageError(message, hint=offered(origins, list(Origins)))
    if accept and suite.partition("@")[0] in suite_names() and not Path(suite).exists():
        message = f"'{suite}' ships with Arena, and is not changed by its name"
        raise UsageError(message, hint="copy its file, and name the copy by its path")
    source = load_source(suite)
    chosen = select_tasks(source.suite, Selection(ids=tuple(patterns)))
    repairs = _repairs(source, chosen, Origins(origins), history_file(history))
    proposed = {number: one for number, one in repairs.items() if one.changes}
    changes = {number: one.changes for number, one in proposed.items()}
    edits = edits_of(source, changes) if changes else ()
    if accept and edits:
        _write(edits, source, proposed, suite)
    return SuiteRepair(
        proposed=tuple(proposed.values()),
        by_hand=tuple(one for one in repairs.values() if not one.changes),
        diff="".join(map(_diff, edits)),
        is_written=accept and bool(proposed),
    )


def _repairs(
    source: SuiteSource, chosen: Sequence[Task], origins: Origins, path: Path
) -> dict[int, Repair]:
    """Return the repairs of drifted tasks, by their number; by the browser looked with last."""
    if not path.is_file():
        message = f"{path}: the canary has looked at nothing yet"
        raise StoreError(message, hint="arena canary SUITE")
    ids, found = {task.id for task in chosen}, dict[int, Repair]()
    with History.at(path) as history:
        place = history.last_place(source.suite.suite, origins)
        for number, task in enumerate(source.suite.tasks if place else ()):
            document = history.document(place, task) if place and task.id in ids else None
            repair = repair_of(task, place.world, document) if place and document else None
            if repair is not None:
                found[number] = _writable(source, number, repair)
    return found


def _writable(source: SuiteSource, number: int, repair: Repair) -> Repair:
    """Return a repair; by hand where its values do not stand in the file as they are."""
    why = ""
    if repair.changes and not is_written_out(source, number):
        why = "it is made by a template or an importer"
    elif repair.changes:
        try:
            edits_of(source, {number: repair.changes})
        except TaskError as cause:
            why = cause.message
    return Repair(task=repair.task, because=repair.because, by_hand=why) if why else repair


def _diff(edit: FileEdit) -> str:
    lines = difflib.unified_diff(
        edit.old.splitlines(keepends=True),
        edit.new.splitlines(keepends=True),
        f"a/{edit.path}",
        f"b/{edit.path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _write(
    edits: Sequence[FileEdit], source: SuiteSource, proposed: Mapping[int, Repair], suite: str
) -> None:
    """Write files that say what was proposed and nothing else, or leave them all as they were."""
    try:
        for edit in edits:
            _replace(edit.path, edit.new)
        _require_only(source, proposed, suite)
    except BaseException:
        for edit in edits:
            _replace(edit.path, edit.old)
        raise


def _require_only(source: SuiteSource, proposed: Mapping[int, Repair], suite: str) -> None:
    """Read the suite again, and refuse it where it says anything else than was shown."""
    after = load_source(suite).suite
    if len(after.tasks) != len(source.suite.tasks):
        raise TaskError(f"{suite}: the repair would change which tasks there are")
    for number, (old, new) in enumerate(zip(source.suite.tasks, after.tasks, strict=True)):
        expected = [*proposed[number].changes] if number in proposed else []
        wanted = {change.at for change in expected}
        wanted |= {(_COUNTED,)} if expected else set()
        changed = set(_differences(_plain(old), _plain(new)))
        stray = [at for at in changed if not any(at[: len(one)] == one for one in wanted)]
        if stray or (expected and not changed):
            where = ".".join(map(str, stray[0])) if stray else "nothing"
            message = f"task '{old.id}': the repair would change {where}: the files are as before"
            raise TaskError(message, hint="change it by hand")


def _plain(task: Task) -> dict[str, Any]:
    return task.model_dump(mode="json")


def _differences(old: object, new: object, at: tuple[int | str, ...] = ()) -> list[Any]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = [*dict.fromkeys((*old, *new))]
        return [one for key in keys for one in _differences(old.get(key), new.get(key), (*at, key))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [one for key, (a, b) in pairs for one in _differences(a, b, (*at, key))]
    return [] if old == new else [at]


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.repaired")
    try:
        beside.write_bytes(text.encode())
        beside.replace(path)
    except OSError as cause:
        message = f"{path}: cannot be written: {cause.strerror}"
        raise StoreError(message, hint="the suite is as it was") from cause
