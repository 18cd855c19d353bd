"""Rules on the tables and columns that checks name, where the site's are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from evaluators.checks import LocateDb, LocateDelta, MatchDelta
from tasks.check_rules import located_checks
from tasks.findings import Location, TaskFault
from tasks.schema import Task
from tasks.site_tables import Tables, like
from tasks.sql import select_fault
from tasks.sql_names import names_fault


def table_faults(task: Task, known: Tables) -> Iterator[TaskFault]:
    """Yield tables and columns that a site does not have; sites that are not known are passed."""
    yield from _queries(task, known)
    for at, check in located_checks(task):
        if not (isinstance(check.locate, LocateDelta) and isinstance(check.match, MatchDelta)):
            continue
        if check.locate.site not in known:
            continue
        tables = known[check.locate.site].state
        ignore, asked = check.locate.ignore, check.match
        yield from _tables((*at, "locate", "ignore", "tables"), ignore.tables, tables)
        for table, columns in ignore.columns.items():
            yield from _columns((*at, "locate", "ignore", "columns", table), table, columns, tables)
        yield from _tables((*at, "match", "allow", "tables"), asked.allow.tables, tables)
        for number, wanted in enumerate(asked.changes):
            if wanted.table is not None:
                where = (*at, "match", "changes", number)
                named = (*wanted.columns, *wanted.before, *wanted.also)
                yield from _columns(where, wanted.table, named, tables)


def _queries(task: Task, known: Tables) -> Iterator[TaskFault]:
    asked: list[tuple[Location, str, str]] = []
    for at, check in located_checks(task):
        if isinstance(check.locate, LocateDb):
            asked.append(((*at, "locate", "sql"), check.locate.site, check.locate.sql))
        if check.computed is not None and check.computed.sql is not None:
            asked.append(((*at, "computed", "sql"), check.computed.site, check.computed.sql))
    for at, site, sql in asked:
        if site in known and select_fault(sql, known[site].engine) is None:
            fault = names_fault(sql, known[site])
            if fault:
                yield TaskFault(at, f"the query cannot be answered: {fault}")


def _tables(at: Location, patterns: Iterable[str], tables: Collection[str]) -> Iterator[TaskFault]:
    for number, pattern in enumerate(patterns):
        if not any(fnmatchcase(table, pattern) for table in tables):
            yield TaskFault((*at, number), f"no table '{pattern}'{like(pattern, tables)}")


def _columns(
    at: Location, table: str, columns: Iterable[str], tables: Mapping[str, Collection[str]]
) -> Iterator[TaskFault]:
    if table not in tables:
        yield TaskFault(at, f"no table '{table}'{like(table, tables)}")
        return
    for column in columns:
        if not any(fnmatchcase(name, column) for name in tables[table]):
            message = f"table '{table}' has no column '{column}'"
            yield TaskFault(at, f"{message}{like(column, tables[table])}")
