"""Rules on the tables and columns that computed values name, where the site's are known."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.check_rules import located_checks
from tasks.findings import TaskFault
from tasks.schema import Task
from tasks.site_tables import Tables
from tasks.sql import select_fault
from tasks.sql_names import names_fault


def table_faults(task: Task, known: Tables) -> Iterator[TaskFault]:
    """Yield tables and columns that a site does not have; sites that are not known are passed."""
    for at, check in located_checks(task):
        computed = check.computed
        if computed is None or computed.sql is None or computed.site not in known:
            continue
        if select_fault(computed.sql, known[computed.site].engine) is None:
            fault = names_fault(computed.sql, known[computed.site])
            if fault:
                message = f"the query cannot be answered: {fault}"
                yield TaskFault((*at, "computed", "sql"), message)
