"""The static lint before a run: what would be scored wrongly is not played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena_core.errors import TaskError
from orchestrator.api.events import OnArenaEvent, WarningNote
from orchestrator.proof.tables import known_tables
from sites.atlas import Atlas
from tasks.findings import Finding
from tasks.lint import lint_suite
from tasks.schema import Suite, Task
from tasks.sources import SuiteSource

_SHOWN: Final = 3


async def refuse_faulty(
    suite: str, source: SuiteSource, tasks: Sequence[Task], atlas: Atlas
) -> None:
    """Refuse a run of tasks with mistakes, before anything is started for it.

    Args:
        suite: its name or path, as it was given.
        source: where its tasks are written.
        tasks: those that are to be played.
        atlas: the sites there are.

    Raises:
        TaskError: naming file and line of the first mistakes.
    """
    errors = await _errors(source, tasks, atlas)
    if not errors:
        return
    shown = "; ".join(_said(error) for error in errors[:_SHOWN])
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    message = f"{shown}{more}"
    raise TaskError(message, hint=f"nothing was played; arena tasks lint {suite}")


async def warn_of_faults(
    suite: Suite, tasks: Sequence[Task], atlas: Atlas, on_event: OnArenaEvent
) -> None:
    """Name the mistakes of tasks of a run that goes on; what they keep from playing is unscored."""
    errors = await _errors(SuiteSource(suite), tasks, atlas)
    for error in errors[:_SHOWN]:
        on_event(WarningNote(_said(error)))
    if len(errors) > _SHOWN:
        on_event(WarningNote(f"and {len(errors) - _SHOWN} mistakes more"))


async def _errors(source: SuiteSource, tasks: Sequence[Task], atlas: Atlas) -> list[Finding]:
    chosen = {task.id for task in tasks}
    tables = await known_tables(tasks, atlas)
    found = lint_suite(source.suite, atlas, source, tables)
    return [one for one in found if one.is_error and one.task in chosen]


def _said(error: Finding) -> str:
    return f"{error.where}: task '{error.task}': {error.message}"
