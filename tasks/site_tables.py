"""The tables that a site's database has, as far as its image shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sites.manifest import DatabaseEngine


@dataclass(frozen=True)
class SiteTables:
    """Tables and columns of one site.

    Attributes:
        state: columns by table that are part of the site's state: what a change can be seen in.
        volatile: columns by table that are no part of it; a query may read them.
        unlisted: tables and views whose columns are not known.
        engine: whose SQL the site's queries are.
    """

    state: Mapping[str, Collection[str]]
    volatile: Mapping[str, Collection[str]] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()
    engine: DatabaseEngine = DatabaseEngine.MARIADB

    @cached_property
    def columns(self) -> Mapping[str, Collection[str]]:
        """All known columns by table."""
        return {
            table: (*columns, *self.volatile.get(table, ()))
            for table, columns in self.state.items()
        }


# By site.
Tables = Mapping[str, SiteTables]
