"""Mistakes of a suite that can be seen without playing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from sites.atlas import Atlas
from tasks.check_rules import check_faults, table_faults
from tasks.findings import Finding, TaskFault
from tasks.page_rules import page_faults
from tasks.proof_rules import lone_instances, proof_faults
from tasks.reference_rules import reference_faults
from tasks.schema import Suite, Task
from tasks.site_tables import Tables
from tasks.sources import SuiteSource
from tasks.task_rules import task_faults
from tasks.wob_rules import wob_faults

_RULES: tuple[Callable[[Task, Atlas], Iterator[TaskFault]], ...] = (
    task_faults,
    page_faults,
    reference_faults,
    proof_faults,
    wob_faults,
)


def lint_suite(
    suite: Suite,
    atlas: Atlas,
    source: SuiteSource | None = None,
    tables: Tables | None = None,
) -> tuple[Finding, ...]:
    """Return the mistakes of a suite, in the order of its tasks.

    Args:
        suite: what to look at.
        atlas: the sites there are.
        source: where the suite is written, for files and line numbers.
        tables: columns by table, of the sites whose databases are known.
    """
    written = source or SuiteSource(suite)
    alone = dict(lone_instances(suite))

    def told(number: int, task: Task) -> Iterator[TaskFault]:
        yield from chain.from_iterable(rule(task, atlas) for rule in _RULES)
        yield from check_faults(task, atlas, tables or {})
        yield from table_faults(task, tables or {})
        if number in alone:
            yield alone[number]

    return tuple(
        Finding(fault.severity, task.id, written.where(number, fault.at), fault.message)
        for number, task in enumerate(suite.tasks)
        for fault in told(number, task)
    )
