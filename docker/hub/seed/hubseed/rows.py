"""Rows on their way into the database, by table."""

from __future__ import annotations

from typing import Any

from pagure.config import config
from pagure.lib import model
from pagure.lib.model_base import create_session


class Rows:
    """Rows by table, in the order in which they were added."""

    def __init__(self) -> None:
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def add(self, table: str, **row: Any) -> int:
        """Add a row; return how many the table has now, which is its id where ids start at 1."""
        held = self._rows.setdefault(table, [])
        held.append(row)
        return len(held)

    def of(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        return self._rows.get(table, [])

    def write(self) -> None:
        """Insert all rows, tables that others refer to first."""
        session = create_session(config["DB_URL"])
        for table in model.BASE.metadata.sorted_tables:
            if rows := self._rows.get(table.name):
                columns = {name for row in rows for name in row}
                whole = [{name: row.get(name) for name in columns} for row in rows]
                session.execute(table.insert(), whole)
        session.commit()
        session.remove()
