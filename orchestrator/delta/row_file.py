"""The file with the rows that an image carries: its format, for who writes it and who reads it."""

from __future__ import annotations

from typing import Final

FORMAT: Final = 2

# One SQLite database: `shape` a table, `row` its rows in the order of their keys, between `first`
# and `last`. `entry` is the database's own hash of the row and its key: a replica is compared
# without sending its rows. `cells` is a JSON array of texts and nulls in the order of `columns`.
SCHEMA: Final = f"""
PRAGMA user_version = {FORMAT};
PRAGMA journal_mode = OFF;
CREATE TABLE shape (
    name TEXT NOT NULL UNIQUE, columns TEXT NOT NULL, key TEXT NOT NULL, definition TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE row (id INTEGER PRIMARY KEY, entry TEXT NOT NULL, cells TEXT NOT NULL);
"""
