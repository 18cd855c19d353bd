"""The columns of tables, as they are documented, and one row's values for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final

Value = str | int | float | bool | Decimal | datetime | None
Row = tuple[Value, ...]

USD_DIGITS: Final = 38
USD_PLACES: Final = 9
_USD: Final = Decimal(1).scaleb(-USD_PLACES)


class Kind(StrEnum):
    """What a column holds; any of them may be empty where the column says so.

    `usd` is a decimal of 38 digits, 9 of them after the point; `time` is UTC, to the millisecond.
    """

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    USD = "usd"
    FLAG = "flag"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        unit: empty where there is none.
        meaning: in one sentence or less, and what empty means.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: a file of its name."""

    name: str
    rows: str
    columns: tuple[Column, ...]

    def row(self, values: Sequence[Value]) -> Row:
        """Return values as a row of this table.

        Raises:
            ValueError: they are not as many as its columns.
        """
        if len(values) != len(self.columns):
            message = f"{self.name}: {len(values)} values for {len(self.columns)} columns"
            raise ValueError(message)
        return tuple(values)


def as_usd(amount: float | None) -> Decimal | None:
    """Return an amount of money as a decimal."""
    return None if amount is None else Decimal(repr(amount)).quantize(_USD)


def as_time(text: str) -> datetime | None:
    """Return ISO 8601 text as UTC; None where it is none, or names no zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else found.astimezone(UTC)


def encodable(text: str) -> str:
    """Return text that UTF-8 can hold; bytes of a path that are none stand as numbers."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
