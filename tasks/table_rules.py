"""Rules on the tables and columns that delta checks name, where the site's are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from evaluators.checks import LocateDelta, MatchDelta
from tasks.check_rules import located_checks
from tasks.findings import Fault, Location
from tasks.schema import Task

_SHOWN = 8

# Columns by table, by site.
Tables = Mapping[str, Mapping[str, Collection[str]]]


def table_faults(task: Task, known: Tables) -> Iterator[Fault]:
    """Yield tables and columns that a site does not have; sites that are not known are passed."""
    for at, check in located_checks(task):
        if not (isinstance(check.locate, LocateDelta) and isinstance(check.match, MatchDelta)):
            continue
        tables = known.get(check.locate.site)
        if tables is None:
            continue
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


def _tables(at: Location, patterns: Iterable[str], tables: Collection[str]) -> Iterator[Fault]:
    for number, pattern in enumerate(patterns):
        if not any(fnmatchcase(table, pattern) for table in tables):
            yield Fault((*at, number), f"no table '{pattern}'{_like(pattern, tables)}")


def _columns(
    at: Location, table: str, columns: Iterable[str], tables: Mapping[str, Collection[str]]
) -> Iterator[Fault]:
    if table not in tables:
        yield Fault(at, f"no table '{table}'{_like(table, tables)}")
        return
    for column in columns:
        if not any(fnmatchcase(name, column) for name in tables[table]):
            message = f"table '{table}' has no column '{column}'"
            yield Fault(at, f"{message}{_like(column, tables[table])}")


def _like(name: str, names: Collection[str]) -> str:
    """Return the end of a message that says what is called alike."""
    near = get_close_matches(name, names) or sorted(names)[:_SHOWN]
    return f"; there are: {', '.join(near)}{', …' if len(near) < len(names) else ''}"
