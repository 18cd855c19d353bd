"""Whether an answer tells exactly the rows that are expected."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import JsonValue

from evaluators.answers.asides import without_politeness
from evaluators.answers.asked import Asked, Wanted, found_in, spans_said
from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.clock import DurationKind
from evaluators.answers.days import MonthKind
from evaluators.answers.json_values import json_content, key_words, leaves_of, without_lead
from evaluators.answers.judging import (
    blanked,
    labels_fault,
    masked_text,
    one_fault,
    said_at_last,
    values_fault,
)
from evaluators.answers.quantities import DistanceKind, MoneyKind, NumberKind
from evaluators.answers.texts import TextKind
from evaluators.answers.wording import surroundings_fault, without_lead_in
from evaluators.answers.words import SAID, normal
from evaluators.values.pairing import pair_up
from evaluators.values.text import shown


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
    answers, fault = list(texts), None
    if len(texts) == 1:
        answers[0], fault = said_at_last(texts[0], columns[0].question)
    if fault is not None:
        return fault
    answers[0] = without_lead_in(answers[0], columns[0].around)
    names = [str(row.cells[0].values[0]) for row in rows] if columns[0].kind.is_words else []
    faults = [
        _told_fault(told, columns, rows, ordered=ordered)
        for told in _told(answers, len(rows), names)
    ]
    return None if None in faults else faults[-1]


def _told_fault(
    told: _Told, columns: Sequence[Asked], rows: Sequence[Row], *, ordered: bool
) -> str | None:
    found = told.rows
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
        return labels_fault(told.labels, _of_all(columns), len(rows))
    said = shown(" | ".join(found[wrong]))
    why = _row_fault(found[wrong], columns, rows[wrong]) if len(rows) == 1 or ordered else None
    return f"{why} in {said}" if why else f"has the row {said}, which is not expected"


@dataclass(frozen=True, slots=True)
class _Told:
    """The rows of an answer, as cells where they can be told, else whole; and words beside them.

    Attributes:
        labels: the lead-in, headings and keys.
    """

    rows: list[list[str]]
    labels: tuple[str, ...] = ()


def _of_all(columns: Sequence[Asked]) -> Asked:
    question = columns[0].question
    if columns[0].kind.is_words:  # what the question names does in each row what is counted
        roles = replace(question.roles, others=frozenset(), bases=frozenset(), doers=frozenset())
        question = replace(question, roles=roles)
    around = replace(
        columns[0].around,
        question=question,
        own=frozenset().union(*(column.around.own for column in columns)),
        before=frozenset().union(*(column.around.before for column in columns)) | {"with"},
        is_words=False,
        counts=None,
        may_estimate=False,
        many=True,
    )
    said = tuple(one for column in columns for one in column.may_say)
    return Asked(TextKind(), said, around)


def _told(texts: Sequence[str], count: int, names: Sequence[str]) -> list[_Told]:
    """Return the ways in which an answer may be parted into rows.

    Args:
        names: where the first column has names, one of each row.
    """
    if len(texts) > 1:
        return [_Told([[text] for text in texts])]
    lead, rest = without_lead(texts[0])
    content = json_content(rest)
    if content is not None:
        return [_json_rows(content, count, lead)]
    bare = without_politeness(plain(texts[0]))
    table = [line for line in bare.split("\n") if line.count("|") >= 1]
    rules = [n for n, line in enumerate(table) if re.fullmatch(r"[\s|:-]+", line)]
    if rules:
        beside = [line for line in bare.split("\n") if "|" not in line]
        heading = [cell for line in table[: rules[0]] for cell in line.split("|")]
        cells = [_cells(line) for line in table[rules[0] + 1 :]]
        return [_Told(cells, (*beside, *heading))]
    if len(table) == count + 1:
        beside = [line for line in bare.split("\n") if "|" not in line]
        return [_Told([_cells(line) for line in table[1:]], (*beside, *_cells(table[0])))]
    if count == 1:
        return [_Told([[bare.replace("\n", ", ")]])]
    found = [*_parted(*_lead_of(bare), count), *_parted(bare, (), count), *_begun(bare, names)]
    if (verb := _LINKED.match(bare)) is not None:
        found += _parted(bare[verb.end() :], (verb.group(),), count)
    return found or [_Told([[part] for part in bare.split("\n") if part.strip()])]


_LINKED: Final = re.compile(r"[^:\n]{1,120}?\b(?:is|are|was|were|has|have)\s+")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _parted(bare: str, labels: tuple[str, ...], count: int) -> Iterator[_Told]:
    """Yield as many rows as are expected, in each way in which the text parts them."""
    for mark in (r"\n+", r"\s*;\s*", r"\s*,\s*(?:and\s+)?|\s+and\s+"):
        parts = [part for part in re.split(mark, bare) if part.strip(" -*•.")]
        if len(parts) == count:
            yield _Told([[part] for part in parts], labels)


def _begun(bare: str, names: Sequence[str]) -> Iterator[_Told]:
    """Yield the rows of a text in which each begins with its name, where each name stands once."""
    found = [
        list(re.finditer(rf"(?<!\w){re.escape(one)}(?!\w)", bare, re.IGNORECASE)) for one in names
    ]
    if len(found) < 2 or any(len(one) != 1 for one in found):  # noqa: PLR2004 - several rows
        return
    begins = sorted(one[0].start() for one in found)
    parts = [bare[at:end] for at, end in zip(begins, [*begins[1:], len(bare)], strict=True)]
    yield _Told(
        [[_BETWEEN.sub("", part)] for part in parts], (_BETWEEN.sub("", bare[: begins[0]]),)
    )


_BETWEEN: Final = re.compile(r"[\s,;.]*(?:\band)?[\s*•-]*(?:\n\s*\d{1,3}[.)])?\s*$")


def _lead_of(bare: str) -> tuple[str, tuple[str, ...]]:
    """Return a list without the line or words that announce it, and those."""
    first, newline, rest = bare.partition("\n")
    if newline and (first.endswith(":") or not re.search(r"\d", first)):
        return rest, (first,)
    found = re.match(r"[^:\d\n]{1,120}:\s+(?=[^\d\s])", bare)
    return (bare[found.end() :], (found.group(),)) if found else (bare, ())


def _json_rows(content: JsonValue, count: int, lead: str) -> _Told:
    """Return the rows of a JSON text: lists, objects, or an object of names and values."""
    labels = [lead]
    while isinstance(content, dict) and len(content) == 1 and count != 1:
        [(key, content)] = content.items()
        labels.append(f"{key_words(key)}:")
    plain_values = isinstance(content, dict) and not any(
        isinstance(one, dict | list) for one in content.values()
    )
    if isinstance(content, dict) and plain_values and count != 1:
        pairs = [[key, leaf.text] for key, leaf in zip(content, leaves_of(content), strict=True)]
        return _Told(pairs, tuple(labels))
    parts: list[JsonValue] = content if isinstance(content, list) else [content]
    if (
        isinstance(content, list)
        and count == 1
        and not any(isinstance(one, dict | list) for one in content)
    ):
        parts = [content]
    rows: list[list[str]] = []
    for part in parts:
        leaves = list(leaves_of(part))
        if isinstance(part, dict) and len(part) == 1 and len(leaves) == 1 and count != 1:
            rows.append([next(iter(part)), leaves[0].text])  # {"January": 12}
            continue
        labels += [f"{leaf.label}:" for leaf in leaves if leaf.label]
        rows.append([leaf.text for leaf in leaves])
    return _Told(rows, tuple(labels))


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
    bare = re.sub(r"^\s*(?:[-*•]\s+)?(?:\(?\d{1,3}[.)]\s+)?", "", bare)
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
        counted = _COUNTED.match(masked, spans[0].end) if asked.around.counts is not None else None
        if counted is not None and _counts_another(normal(counted[1]), asked):
            return f"counts '{counted[1]}'"
        if not asked.kind.is_words and _BY.search(masked[: spans[0].start]):
            return "says 'by' right before it"
        taken += [(span.start, span.end) for span in spans]
    everything = _of_all(columns)
    spans = [Span(start, end, "") for start, end in sorted(taken)]
    letters = list(bare)
    for start, end in spans_said(bare, everything, taken):
        letters[start:end] = SAID * (end - start)
    return surroundings_fault(masked_text("".join(letters), spans), everything.around)


_BY: Final = re.compile(r"\bby\s+$", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\s([a-z]+)\b")


def _counts_another(noun: str, asked: Asked) -> bool:
    """Say whether a noun behind a number is one of the question that it does not count."""
    roles = asked.question.roles
    known = roles.asked | roles.deeds | roles.others | asked.around.own
    return noun in roles.nouns - known


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
