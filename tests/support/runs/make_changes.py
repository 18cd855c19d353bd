"""Changes of rows, short to write."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.changes import ChangeKind, RowChange


def added(table: str, key: Mapping[str, str], **after: str | None) -> RowChange:
    """A row that is new."""
    return RowChange(table=table, kind=ChangeKind.ADDED, key=dict(key), after={**key, **after})


def removed(table: str, key: Mapping[str, str], **before: str | None) -> RowChange:
    """A row that is gone."""
    return RowChange(table=table, kind=ChangeKind.REMOVED, key=dict(key), before={**key, **before})


def changed(
    table: str, key: Mapping[str, str], **columns: tuple[str | None, str | None]
) -> RowChange:
    """A row that is otherwise in every column named, with its values before and after."""
    return RowChange(
        table=table,
        kind=ChangeKind.CHANGED,
        key=dict(key),
        before={**key, **{name: pair[0] for name, pair in columns.items()}},
        after={**key, **{name: pair[1] for name, pair in columns.items()}},
        changed=tuple(columns),
    )
