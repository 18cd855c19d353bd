"""What a query to a database of any engine gives, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from arena_core.errors import DatabaseError

if TYPE_CHECKING:
    from sites.manifest import Site

CONNECT_TIMEOUT_S: Final = 10
READ_TIMEOUT_S: Final = 60

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gave.

    Attributes:
        columns: their names.
        cut: whether there were more rows than asked for.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    cut: bool = False


class DatabaseReader(Protocol):
    """An open connection to a database of any engine, which may only read."""

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        """Run one statement; read at most so many rows, or all.

        Raises:
            DatabaseError: it failed.
        """
        ...


def no_server(site: Site) -> DatabaseError:
    """Return the error of a site that has no database server."""
    return DatabaseError(f"site '{site.name}' has no database server in its manifest")
