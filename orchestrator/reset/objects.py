"""What a database holds besides tables, as far as its read-only account may see it."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from orchestrator.reset.mariadb import Connection, rows_of
from orchestrator.reset.state import ObjectState

# Name first, then everything that defines the object; nothing that changes by looking or by time.
_QUERIES: Final = {
    "trigger": (
        "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER,"
        " ACTION_STATEMENT, SQL_MODE, DEFINER, CHARACTER_SET_CLIENT, COLLATION_CONNECTION"
        " FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"
    ),
    "view": (
        "SELECT TABLE_NAME, VIEW_DEFINITION, CHECK_OPTION, IS_UPDATABLE, DEFINER, SECURITY_TYPE,"
        " ALGORITHM, CHARACTER_SET_CLIENT, COLLATION_CONNECTION,"
        " (SELECT JSON_ARRAYAGG(CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE) ORDER BY ORDINAL_POSITION)"
        " FROM information_schema.COLUMNS AS shown"
        " WHERE shown.TABLE_SCHEMA = DATABASE() AND shown.TABLE_NAME = VIEWS.TABLE_NAME)"
        " FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"
    ),
    "routine": (
        "SELECT SPECIFIC_NAME, ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION, SQL_DATA_ACCESS,"
        " IS_DETERMINISTIC, SECURITY_TYPE, SQL_MODE, DEFINER"
        " FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()"
    ),
    "event": (
        "SELECT EVENT_NAME, EVENT_DEFINITION, EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE,"
        " INTERVAL_FIELD, STARTS, ENDS, STATUS, ON_COMPLETION, SQL_MODE, DEFINER"
        " FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()"
    ),
    # A server that was just started has none of these, whatever machine it runs on.
    "setting": (
        "SELECT VARIABLE_NAME, GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES"
        " WHERE GLOBAL_VALUE_ORIGIN = 'SQL'"
    ),
}


def read_objects(connection: Connection) -> tuple[ObjectState, ...]:
    """Return triggers, views, routines and events, and variables set since the server started.

    An account that may only SELECT sees views and variables; of the others it sees what it was
    given a privilege for.
    """
    return tuple(
        ObjectState(kind=kind, name=str(name), definition=_hashed(parts))
        for kind, query in _QUERIES.items()
        for name, *parts in rows_of(connection, query)
    )


def _hashed(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
