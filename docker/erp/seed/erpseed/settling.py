"""What the models would draw or keep of the bake, set to constants in the file itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from passlib.hash import pbkdf2_sha512

from erpseed.data import read

_ROUNDS = 1000  # logins of a replica should not cost a tenth of a second
_PASSING = (
    "ir_cache",
    "ir_session",
    "ir_session_wizard",
    "ir_queue",
    "ir_error",
    "res_user_warning",
)


def settle(file: str) -> None:
    """Set passwords with salts of their own, forget what passes, and pack the file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        for person in read("office")["person"]:
            if "login" in person:
                salted = pbkdf2_sha512.using(rounds=_ROUNDS, salt=person["login"].encode())
                database.execute(
                    "UPDATE res_user SET password_hash = ? WHERE login = ?",
                    (salted.hash(person["password"]), person["login"]),
                )
        database.execute("UPDATE res_user SET password_hash = NULL WHERE login = 'admin'")
        database.execute("UPDATE ir_module_config_wizard_item SET state = 'done'")
        # Tryton's English is American, and the web client's dates are those of a user's language.
        database.execute("UPDATE ir_lang SET date = '%d/%m/%Y' WHERE code = 'en'")
        database.execute(
            "UPDATE res_user SET language = (SELECT id FROM ir_lang WHERE code = 'en')"
            " WHERE login <> 'root'"
        )
        known = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        for table in known.intersection(_PASSING):
            database.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
            database.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        database.execute("VACUUM")
