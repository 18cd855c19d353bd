"""Makes the ledger that is there when an episode begins."""

import os
import sqlite3
from pathlib import Path

FOLDER = Path("/srv/site/state/data")
MOMENT = 1_790_000_000

FOLDER.mkdir(parents=True)
with sqlite3.connect(FOLDER / "ledger.db") as ledger:
    ledger.executescript("""
    CREATE TABLE account (name TEXT NOT NULL PRIMARY KEY, password TEXT NOT NULL, last_seen TEXT);
    CREATE TABLE entry (
        id INTEGER PRIMARY KEY AUTOINCREMENT, author TEXT NOT NULL REFERENCES account (name),
        text TEXT NOT NULL, amount REAL, receipt BLOB, settled INTEGER NOT NULL DEFAULT 0,
        written_at TEXT NOT NULL
    );
    CREATE TABLE line (
        id INTEGER PRIMARY KEY, entry_id INTEGER NOT NULL REFERENCES entry (id), text TEXT NOT NULL
    );
    CREATE TABLE visit (path TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL);
    CREATE VIEW open_entry AS SELECT id, text FROM entry WHERE NOT settled;
    INSERT INTO account (name, password) VALUES
        ('ada', 'ledger-ada-2026'), ('grace', 'ledger-grace-2026');
    INSERT INTO entry (author, text, amount, receipt, written_at) VALUES
        ('ada', 'Coal', 12.5, x'00ff', '2026-09-21 13:33:20'),
        ('grace', 'Rope', 0.1, NULL, '2026-09-21 13:33:20');
    INSERT INTO line (entry_id, text) VALUES (1, 'Two sacks');
    """)
for path in (*FOLDER.rglob("*"), FOLDER):
    os.utime(path, (MOMENT, MOMENT))
