"""Writes rows as SQL for the mariadb client."""

from __future__ import annotations

from collections.abc import Iterator

from gazette.php import Value, serialised
from gazette.rows import TABLES, Cell, Rows

BATCH = 200
ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def statements(rows: Rows, options: dict[str, Value]) -> Iterator[str]:
    """Yield statements that replace all content and set the options."""
    yield "SET NAMES utf8mb4, sql_mode = '', time_zone = '+00:00';"
    yield "SET unique_checks = 0, foreign_key_checks = 0;"
    for table in (*TABLES, "commentmeta", "termmeta", "links"):
        yield f"TRUNCATE wp_{table};"
    for table, columns in TABLES.items():
        held = rows.tables[table]
        names = ", ".join(columns.split())
        for start in range(0, len(held), BATCH):
            values = ",\n".join(_row(row) for row in held[start : start + BATCH])
            yield f"INSERT INTO wp_{table} ({names}) VALUES\n{values};"
    yield "DELETE FROM wp_options WHERE option_name LIKE '%\\_transient\\_%';"
    for name, value in options.items():
        written = value if isinstance(value, str) else serialised(value)
        yield (
            "INSERT INTO wp_options (option_name, option_value, autoload)"  # noqa: S608  escaped
            f" VALUES ({_cell(name)}, {_cell(written)}, 'yes')"
            " ON DUPLICATE KEY UPDATE option_value = VALUES(option_value);"
        )


def _row(row: tuple[Cell, ...]) -> str:
    return "(" + ", ".join(_cell(cell) for cell in row) + ")"


def _cell(cell: Cell) -> str:
    return str(cell) if isinstance(cell, int) else f"'{cell.translate(ESCAPES)}'"
