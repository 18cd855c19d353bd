"""Whether an answer tells exactly the rows that are expected."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.clock import DurationKind
from evaluators.answers.days import MonthKind
from evaluators.answers.json_values import json_rows
from evaluators.answers.judging import (
    Asked,
    Wanted,
    blanked,
    found_in,
    masked_text,
    one_fault,
    values_fault,
)
from evaluators.answers.quantities import DistanceKind, MoneyKind, NumberKind
from evaluators.answers.wording import SAID, record_fault
from evaluators.pairing import pair_up
from evaluators.text import shown


@dataclass(frozen=True, slots=True)
class Row:
    """One row that is expected: a value in each column."""

    cells: tuple[Wanted, ...]


def rows_fault(
    texts: Sequence[str], columns: Sequence[Asked], rows: Sequence[Row], *, ordered: bool
) -> str | None:
    """Say why an answer does not tell exactly these rows; None where it does."""
    if sum(map(len, texts)) > LONGEST:
        return "is too long"
    found = _rows(texts, len(rows))
    if len(found) != len(rows):
        return f"tells {len(found)} rows, not {len(rows)}"
    fits = [
        [n for n, cells in enumerate(found) if _row_fault(cells, columns, row) is None]
        for row in rows
    ]
    if ordered:
        wrong = next((n for n, fit in enumerate(fits) if n not in fit), None)
    else:
        paired = pair_up(fits)
        wrong = next((n for n in range(len(found)) if n not in paired), None)
    if wrong is None:
        return None
    said = shown(" | ".join(found[wrong]))
    why = _row_fault(found[wrong], columns, rows[wrong]) if len(rows) == 1 or ordered else None
    return f"{why} in {said}" if why else f"has the row {said}, which is not expected"


def _rows(texts: Sequence[str], count: int) -> list[list[str]]:
    """Return the rows of an answer, as cells where they can be told, else whole."""
    if len(texts) > 1:
        return [[text] for text in texts]
    told = json_rows(texts[0])
    if told is not None:
        return told
    bare = plain(texts[0])
    table = [line for line in bare.split("\n") if line.count("|") >= 1]
    rules = [n for n, line in enumerate(table) if re.fullmatch(r"[\s|:-]+", line)]
    if rules:
        table = table[rules[0] + 1 :]
        return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table]
    if count == 1:
        return [[bare.replace("\n", ", ")]]
    for mark in (r"\n+", r"\s*;\s*", r"\s*,\s*(?:and\s+)?|\s+and\s+"):
        parts = [part for part in re.split(mark, _without_lead(bare)) if part.strip(" -*•.")]
        if len(parts) == count:
            return [[part] for part in parts]
    lines = [part for part in bare.split("\n") if part.strip()]
    return [[line] for line in lines]


def _without_lead(bare: str) -> str:
    """Return a list without the line or words that announce it."""
    first, newline, rest = bare.partition("\n")
    if newline and first.rstrip().endswith(":"):
        return rest
    found = re.match(r"(?:here (?:are|is)|the|sure)[^:\d\n]{0,80}:\s+", bare, re.IGNORECASE)
    return bare[found.end() :] if found else bare


def _row_fault(cells: Sequence[str], columns: Sequence[Asked], row: Row) -> str | None:
    if len(cells) == len(columns):
        for cell, asked, wanted in zip(cells, columns, row.cells, strict=True):
            fault = one_fault(cell, asked, wanted)
            if fault is not None:
                return fault
        return None
    if len(cells) != 1:
        return f"has {len(cells)} cells, not {len(columns)}"
    return _sentence_fault(cells[0], columns, row)


def _sentence_fault(text: str, columns: Sequence[Asked], row: Row) -> str | None:
    """Say why a text does not hold a value for each column, and nothing else."""
    bare = plain(text)
    bare = re.sub(r"^\s*(?:[-*•]|\(?\d{1,3}[.)])\s+", "", bare)
    if isinstance(columns[0].kind, MonthKind):  # "01:12" is a count in January
        bare = re.sub(r"^(0?[1-9]|1[0-2])(?=\s?:)", _named_month, bare)
    taken: list[tuple[int, int]] = []
    ordered = sorted(zip(columns, row.cells, strict=True), key=lambda pair: _greed(pair[0].kind))
    for asked, wanted in ordered:
        masked = blanked(asked.kind.prepare(bare), taken)
        if len(masked) != len(bare):
            return "cannot be read"
        spans = [
            span
            for span in found_in(masked, asked, wanted.values)[0]
            if span.value is not None or _greed(asked.kind) == _MOST_GREEDY
        ]
        fault = values_fault(masked, spans, asked.kind)
        if fault is not None:
            return fault
        if not any(asked.kind.is_same(spans[0].value, one) for one in wanted.values):
            return f"says '{masked[spans[0].start : spans[0].end]}'"
        taken += [(span.start, span.end) for span in spans]
    spans = [Span(start, end, "") for start, end in sorted(taken)]
    said = tuple(one for asked in columns for one in asked.may_say)
    text_said = list(bare)
    for one in said:
        for found in re.finditer(rf"(?<!\w){re.escape(one)}(?!\w)", bare, re.IGNORECASE):
            if not any(start < found.end() and found.start() < end for start, end in taken):
                text_said[found.start() : found.end()] = SAID * (found.end() - found.start())
    masked = masked_text("".join(text_said), spans)
    return record_fault(masked)


def _named_month(found: re.Match[str]) -> str:
    return month_name[int(found[1])]


# Bare numbers are a value of these kinds: the others take theirs first, and digits that nobody took
# are a fault.
_MOST_GREEDY: Final = 3


def _greed(kind: AnswerKind[Any]) -> int:
    if kind.is_words:
        return 0
    if isinstance(kind, NumberKind):
        return _MOST_GREEDY
    return 2 if isinstance(kind, MoneyKind | DistanceKind | DurationKind) else 1
