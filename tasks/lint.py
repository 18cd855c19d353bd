"""Mistakes of a suite that can be seen without playing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from sites.atlas import Atlas
from sites.documents import line_of
from tasks.check_rules import check_faults
from tasks.findings import Fault, Finding, Location
from tasks.loader import load_suite, suite_names, suite_path
from tasks.page_rules import page_faults
from tasks.reference_rules import reference_faults
from tasks.schema import Suite, Task
from tasks.table_rules import Tables, table_faults
from tasks.task_rules import task_faults

_RULES: tuple[Callable[[Task, Atlas], Iterator[Fault]], ...] = (
    task_faults,
    check_faults,
    page_faults,
    reference_faults,
)


def lint_suite(
    suite: Suite, atlas: Atlas, source: Path | None = None, tables: Tables | None = None
) -> tuple[Finding, ...]:
    """Return the mistakes of a suite, in the order of its tasks.

    Args:
        suite: what to look at.
        atlas: the sites there are.
        source: the suite's file, for line numbers; found by itself for a shipped suite.
        tables: columns by table, of the sites whose databases are known.
    """
    path = source or _shipped_source(suite)
    text = path.read_text(encoding="utf-8") if path else ""
    return tuple(
        Finding(
            fault.severity, task.id, _where(path, text, ("tasks", number, *fault.at)), fault.message
        )
        for number, task in enumerate(suite.tasks)
        for fault in chain(
            chain.from_iterable(rule(task, atlas) for rule in _RULES),
            table_faults(task, tables or {}),
        )
    )


def _shipped_source(suite: Suite) -> Path | None:
    """Return the file of a suite that travels with Arena, None for any other."""
    if suite.suite in suite_names() and load_suite(suite.suite) == suite:
        return suite_path(suite.suite)
    return None


def _where(path: Path | None, text: str, location: Location) -> str:
    if path is None:
        return ".".join(str(part) for part in location)
    return f"{path}:{line_of(text, location)}"
