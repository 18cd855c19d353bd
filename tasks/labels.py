"""Tables of labels: what an arm calls the controls of pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

Table = Mapping[str, str]  # a new name by the old one, whose case and white space are no matter


def folded(text: str) -> str:
    """Return a label as a table looks it up."""
    return " ".join(text.split()).lower()


def table_fault(table: Table) -> str | None:
    """Return why a table does not lead back from each new name to one old name; None if it does."""
    old, new = [folded(one) for one in table], [folded(one) for one in table.values()]
    if not table or "" in old or "" in new:
        return "needs labels and new names that are not empty"
    for names, what in ((old, "is renamed twice"), (new, "is the new name of two labels")):
        twice = next((one for number, one in enumerate(names) if one in names[:number]), None)
        if twice is not None:
            return f"'{twice}' {what}"
    both = next((one for one in new if one in old), None)
    return None if both is None else f"'{both}' is a new name, and a label that is renamed"


def _sound(table: dict[str, str]) -> dict[str, str]:
    fault = table_fault(table)
    if fault is not None:
        raise ValueError(fault)
    return table


Labels = Annotated[dict[str, str], AfterValidator(_sound)]
