"""Rows on their way into the database: collected by table, written as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

from forgeseed.clock import stamp

Cell = str | int | float | bool | None | date | datetime
BATCH = 200
ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0"})
# Filled by Redmine's migrations and default data, and added to; every other table is emptied first.
KEPT = frozenset({"users", "settings"})
# What the larger fields of forms hold: browsers send it with CR LF, so it is kept like that. Else
# whoever saves such a form changes a text that they never touched.
TYPED = {
    "custom_values": "value",
    "issues": "description",
    "journals": "notes",
    "messages": "content",
    "news": "description",
    "projects": "description",
    "wiki_content_versions": "data",
    "wiki_contents": "text",
}


class Tables:
    """Rows by table; all rows of a table name the same columns."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Mapping[str, Cell]]] = {}

    def add(self, table: str, **row: Cell) -> int:
        """Add a row; return how many the table has now, which is its id where ids start at 1."""
        held = self._rows.setdefault(table, [])
        text = row.get(TYPED.get(table, ""))
        held.append({**row, TYPED[table]: typed(text)} if isinstance(text, str) else row)
        return len(held)

    def count(self, table: str) -> int:
        """Return how many rows were added to a table."""
        return len(self._rows.get(table, ()))

    def rows(self, table: str) -> Sequence[Mapping[str, Cell]]:
        """Return the rows of a table in their order."""
        return self._rows.get(table, ())

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the tables."""
        return iter(self._rows)

    def statements(self) -> Iterator[str]:
        """Yield the statements that empty and fill the tables."""
        yield "SET NAMES utf8mb4, time_zone = '+00:00', unique_checks = 0, foreign_key_checks = 0;"
        for table, rows in self._rows.items():
            if table not in KEPT:
                yield f"TRUNCATE `{table}`;"
            columns = ", ".join(f"`{name}`" for name in rows[0])
            for start in range(0, len(rows), BATCH):
                values = ",\n".join(_row(row) for row in rows[start : start + BATCH])
                yield f"INSERT INTO `{table}` ({columns}) VALUES\n{values};"


def typed(text: str) -> str:
    """Return a text with the line ends that a browser sends."""
    return "\r\n".join(text.split("\n"))


def _row(row: Mapping[str, Cell]) -> str:
    return "(" + ", ".join(_cell(cell) for cell in row.values()) + ")"


def _cell(cell: Cell) -> str:
    match cell:
        case None:
            return "NULL"
        case bool():
            return str(int(cell))
        case int() | float():
            return str(cell)
        case datetime():
            return f"'{stamp(cell)}'"
        case date():
            return f"'{cell.isoformat()}'"
        case str():
            return f"'{cell.translate(ESCAPES)}'"
