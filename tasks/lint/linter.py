"""Mistakes of a suite that can be seen without playing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from evaluators.lint import Finding, TaskFault
from sites.registry import SiteRegistry
from tasks.lint.check_rules import check_faults, table_faults
from tasks.lint.given_rules import given_faults
from tasks.lint.page_rules import page_faults
from tasks.lint.proof_rules import lone_instances, proof_faults
from tasks.lint.reference_rules import reference_faults
from tasks.lint.safety_rules import arm_faults, harm_faults
from tasks.lint.sql import Tables
from tasks.lint.task_rules import task_faults, wob_faults
from tasks.lint.user_rules import user_faults
from tasks.lint.wording_rules import wording_faults
from tasks.lint.work_rules import tier_faults
from tasks.schema import Suite, Task
from tasks.sources import SuiteSource

_RULES: tuple[Callable[[Task, SiteRegistry], Iterator[TaskFault]], ...] = (
    task_faults,
    page_faults,
    reference_faults,
    proof_faults,
    wob_faults,
    wording_faults,
    tier_faults,
    harm_faults,
    user_faults,
)


def lint_suite(
    suite: Suite,
    registry: SiteRegistry,
    source: SuiteSource | None = None,
    tables: Tables | None = None,
    only: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Return the mistakes of a suite, in the order of its tasks; or of these tasks alone."""
    written = source or SuiteSource(suite)
    alone = (*lone_instances(suite), *arm_faults(suite))

    def faults_of(number: int, task: Task) -> Iterator[TaskFault]:
        yield from chain.from_iterable(rule(task, registry) for rule in _RULES)
        yield from check_faults(task, registry, tables or {})
        yield from table_faults(task, tables or {})
        yield from given_faults(task, registry, tables or {})
        yield from (fault for at, fault in alone if at == number)

    return tuple(
        Finding(fault.severity, task.id, written.where(number, fault.at), fault.message)
        for number, task in enumerate(suite.tasks)
        if only is None or task.id in only
        for fault in faults_of(number, task)
    )
