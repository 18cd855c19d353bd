"""Rules on tasks that are called hard: they show what makes them so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluators.fields import When
from evaluators.lint import TaskFault
from evaluators.locators.base import Subject
from sites.registry import SiteRegistry
from tasks.needs import Tier
from tasks.schema import Family, Task
from tasks.work import work_faults

_SUPERLATIVE: Final = re.compile(
    r"(?<!\bat )\b(most|least|fewest|highest|lowest|largest|smallest|greatest|biggest|cheapest"
    r"|dearest|longest|shortest|oldest|newest|busiest|quietest|best[- ](?:rated|selling))\b",
    re.IGNORECASE,
)


def tier_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield needs that cannot be true, and what a task lacks that is called hard."""
    yield from (TaskFault(*fault) for fault in work_faults(task, None))
    if task.tier is not Tier.HARD or task.family is Family.UNACHIEVABLE:
        return
    for number, check in enumerate(task.checks):
        is_key = check.when is When.END and check.locate.subject is Subject.ANSWER
        if is_key and not check.wrong_keys:
            message = f"check '{check.name}' of a hard task has no `wrong_keys`"
            yield TaskFault(("checks", number), f"{message}: nothing shows that haste fails")
    asks = _SUPERLATIVE.search(task.intent)
    if asks is not None and not any(check.margin for check in task.checks):
        message = f"a hard task that asks for the '{asks[0]}' has no check with a `margin`"
        yield TaskFault(("intent",), f"{message}: nothing shows that there are no ties")
