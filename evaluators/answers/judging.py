"""Whether an answer says an expected value, one value, and nothing else."""

from __future__ import annotations

import json
import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.clock import DurationKind
from evaluators.answers.days import DateKind, MonthKind, find_days
from evaluators.answers.links import MailKind, UrlKind
from evaluators.answers.places import CoordinatesKind
from evaluators.answers.quantities import DistanceKind, MoneyKind, NumberKind
from evaluators.answers.truth import BooleanKind
from evaluators.answers.wording import (
    SAID,
    VALUE,
    boolean_fault,
    record_fault,
    statements,
    wrap_fault,
)
from evaluators.pairing import pair_up
from evaluators.text import shown

_LONGEST_ONE: Final = 2_000
_MOST_ITEMS: Final = 500
_SEPARATORS: Final = re.compile(
    r"(?:\s|[,;|/&•*·-]|\band\b|\bas well as\b|\bthen\b|->|→|\d{1,3}[.)](?=\s)|\(\d{1,3}\)"
    r"|[\[\]{}()'\"]|\.(?=\s|$))*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One value that is expected: any of these.

    Attributes:
        values: as the kind reads them.
    """

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer is read.

    Attributes:
        kind: of each value.
        may_say: words that an answer may hold beside its value.
        may_start: whether `from` and `since` leave a value as it is.
    """

    kind: AnswerKind[Any]
    may_say: tuple[str, ...] = ()
    may_estimate: bool = False
    may_start: bool = False


def one_fault(text: str, asked: Asked, wanted: Wanted) -> str | None:
    """Say why an answer does not say the one value that is expected; None where it does."""
    atoms = json_atoms(text)
    if atoms is not None:
        if isinstance(asked.kind, CoordinatesKind):
            atoms = [", ".join(atoms)]
        if len(atoms) != 1:
            return f"holds {len(atoms)} values where one is asked for"
        text = atoms[0]
    if len(text) > _LONGEST_ONE:
        return "is too long to be one answer"
    bare = _prepared(text, asked)
    if not bare:
        return "is empty"
    spans, text_said = _found(bare, asked, wanted.values)
    fault = _values_fault(bare, spans, asked.kind)
    if fault is not None:
        return fault
    if isinstance(asked.kind, BooleanKind):
        fault = _boolean_wrap(bare, spans)
    else:
        fault = _wrap(text_said, spans, asked)
    if not any(asked.kind.is_same(spans[0].value, one) for one in wanted.values):
        return "says another value"
    return fault


def list_fault(
    texts: Sequence[str], asked: Asked, wanted: Sequence[Wanted], *, ordered: bool
) -> str | None:
    """Say why an answer does not list exactly what is expected; None where it does.

    Args:
        texts: the answer; several texts are its items.
        asked: how each item is read.
        wanted: what must be listed, each as often as it stands here.
        ordered: whether the order matters.
    """
    atoms = list(texts) if len(texts) > 1 else json_atoms(texts[0])
    if atoms is not None:
        return _atoms_fault(atoms, asked, wanted, ordered=ordered)
    text = texts[0]
    fault = _text_list_fault(text, asked, wanted, ordered=ordered)
    apart = re.sub(r"(?<=\d),(?=\d)", ", ", text)
    if fault is None or asked.kind.is_words or apart == text:
        return fault
    return None if _text_list_fault(apart, asked, wanted, ordered=ordered) is None else fault


def _text_list_fault(
    text: str, asked: Asked, wanted: Sequence[Wanted], *, ordered: bool
) -> str | None:
    if len(text) > LONGEST:
        return "is too long"
    bare = _prepared(text, asked)
    everything = [value for one in wanted for value in one.values]
    spans, said = _found(bare, asked, everything)
    if not bare:
        return "is empty"
    spans = _without_numbering(bare, spans, asked.kind)
    unread = next((span for span in spans if span.value is None), None)
    if unread is not None:
        return f"'{bare[unread.start : unread.end]}' {unread.fault}"
    fault = _pairing_fault([span.value for span in spans], asked, wanted, ordered=ordered)
    return fault or _list_wrap(said, spans, asked)


def _atoms_fault(
    atoms: Sequence[str], asked: Asked, wanted: Sequence[Wanted], *, ordered: bool
) -> str | None:
    if len(atoms) != len(wanted):
        return f"lists {len(atoms)} values, not {len(wanted)}"
    fits = [
        [n for n, atom in enumerate(atoms) if one_fault(atom, asked, one) is None] for one in wanted
    ]
    if ordered:
        wrong = next((n for n, fit in enumerate(fits) if n not in fit), None)
        return None if wrong is None else f"has {shown(atoms[wrong])} at place {wrong + 1}"
    paired = pair_up(fits)
    left = [atom for n, atom in enumerate(atoms) if n not in paired]
    return f"lists {shown(left[0])}, which is not expected" if left else None


def _pairing_fault(
    values: Sequence[object], asked: Asked, wanted: Sequence[Wanted], *, ordered: bool
) -> str | None:
    if len(values) > _MOST_ITEMS:
        return "lists too many values"
    fits = [
        [
            n
            for n, value in enumerate(values)
            if any(asked.kind.is_same(value, goal) for goal in one.values)
        ]
        for one in wanted
    ]
    if len(values) != len(wanted):
        return f"lists {len(values)} of such values, not {len(wanted)}"
    if ordered:
        wrong = next((n for n, fit in enumerate(fits) if n not in fit), None)
        return None if wrong is None else f"has another value at place {wrong + 1}"
    return None if len(pair_up(fits)) == len(wanted) else "lists other values than these"


def json_atoms(text: str) -> list[str] | None:
    """Return the values of an answer that is a JSON list or object; None where it is neither.

    An object with one key stands for its value. Lists in lists are one list.
    """
    bare = text.strip()
    fenced = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n?\s*```", bare, re.DOTALL)
    bare = fenced[1].strip() if fenced else bare
    if not bare.startswith(("[", "{")) or len(bare) > LONGEST:
        return None
    try:
        content = json.loads(bare, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return list(_atoms(content))


def json_rows(text: str) -> list[list[str]] | None:
    """Return the cells of each row of an answer that is a JSON list of rows; None for others."""
    bare = text.strip()
    fenced = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n?\s*```", bare, re.DOTALL)
    bare = fenced[1].strip() if fenced else bare
    if not bare.startswith(("[", "{")) or len(bare) > LONGEST:
        return None
    try:
        content = json.loads(bare, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    if isinstance(content, dict):
        if all(not isinstance(value, dict | list) for value in content.values()):
            if len(content) > 0:
                return [[*map(_text, content.values())]]
            return []
        content = next(iter(content.values())) if len(content) == 1 else [content]
    if content and all(not isinstance(row, dict | list) for row in content):
        return [[_text(cell) for cell in content]]
    return [list(_atoms(row)) if isinstance(row, dict | list) else [_text(row)] for row in content]


def _atoms(content: object) -> Iterator[str]:
    match content:
        case list():
            for one in content:
                yield from _atoms(one)
        case dict():
            for one in content.values():
                yield from _atoms(one)
        case _:
            yield _text(content)


def _text(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _prepared(text: str, asked: Asked) -> str:
    keeps = isinstance(asked.kind, UrlKind | MailKind)
    return asked.kind.prepare(plain(text, keep_targets=keeps))


def _found(bare: str, asked: Asked, wanted: Sequence[Any]) -> tuple[list[Span[Any]], str]:
    """Return the values of a text that stand not in words that it may say, and it without those."""
    said = [
        found.span()
        for one in asked.may_say
        if (words := asked.kind.prepare(plain(one)))
        for found in re.finditer(
            r"(?<!\w)" + r"\s+".join(map(re.escape, words.split())) + r"(?!\w)", bare, re.IGNORECASE
        )
    ]
    dates = _whole_dates(bare, asked.kind)
    seen = bare if asked.kind.is_words else _blanked(bare, dates)
    spans = [
        span
        for span in asked.kind.find(seen, wanted)
        if not any(start <= span.start and span.end <= end for start, end in said)
    ]
    said += dates
    text = list(bare)
    for start, end in said:
        if not any(span.start < end and start < span.end for span in spans):
            text[start:end] = SAID * (end - start)
    return spans, "".join(text)


# "515,543 (2021)": when a value held, which is no second value.
_YEAR_OF_VALUE: Final = re.compile(r"\d\S* \(((?:as of |in )?(?:19|20)\d\d)\)")


def _whole_dates(bare: str, kind: AnswerKind[Any]) -> list[tuple[int, int]]:
    """Return the dates of a text, which are no second number beside a value of another kind."""
    if isinstance(kind, DateKind | MonthKind):
        return []
    days = ((span, span.value) for span in find_days(bare))
    years = [found.span(1) for found in _YEAR_OF_VALUE.finditer(bare)]
    return years + [
        (span.start, span.end)
        for span, day in days
        if day is not None and day.month is not None and (day.day or day.year) is not None
    ]


def _values_fault(bare: str, spans: Sequence[Span[Any]], kind: AnswerKind[Any]) -> str | None:
    """Say why a text does not hold exactly one value of a kind."""
    if not spans:
        return (
            f"holds no such {kind.noun.split(' ', 1)[1]}"
            if kind.is_words
            else f"holds no {kind.noun.split(' ', 1)[-1]}"
        )
    for span in spans:
        if span.value is None:
            return f"'{bare[span.start : span.end]}' {span.fault}"
    first = spans[0]
    other = next(
        (
            span
            for span in spans
            if not kind.is_same(span.value, first.value) and span.value != first.value
        ),
        None,
    )
    if other is not None:
        return f"holds '{bare[first.start : first.end]}' and '{bare[other.start : other.end]}'"
    return None


def _masked(text: str, spans: Sequence[Span[Any]]) -> str:
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], VALUE]
        end = span.end
    return re.sub(rf"{SAID}+", SAID, "".join([*pieces, text[end:]]))


def _wrap(text: str, spans: Sequence[Span[Any]], asked: Asked) -> str | None:
    told = statements(_masked(text, spans))
    for statement in told:
        if VALUE not in statement:
            if statement.strip(f" .,!{SAID}") == "":
                continue
            return f"also says {shown(statement.replace(SAID, '…'))}"
        fault = wrap_fault(
            statement,
            is_words=asked.kind.is_words,
            may_estimate=asked.may_estimate,
            may_start=asked.may_start,
        )
        if fault is not None:
            return fault
    return None


def _boolean_wrap(text: str, spans: Sequence[Span[Any]]) -> str | None:
    return boolean_fault(_masked(text, spans), is_yes=bool(spans[0].value))


def _without_numbering(
    bare: str, spans: Sequence[Span[Any]], kind: AnswerKind[Any]
) -> list[Span[Any]]:
    """Return values without the numbers of a numbered list: 1, 2, 3 at the lines' beginnings."""
    del kind
    marks = list(re.finditer(r"(?:^|(?<=\n))\s*\(?(\d{1,3})[.)]\s", bare))
    if [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return list(spans)
    return [
        span
        for span in spans
        if not any(mark.start() <= span.start and span.end <= mark.end() for mark in marks)
    ]


def _list_wrap(text: str, spans: Sequence[Span[Any]], asked: Asked) -> str | None:
    """Say which words of a list are neither separators nor a lead-in or ending."""
    if not spans:
        return None
    masked = _masked(text, spans)
    lead, *gaps, trail = masked.split(VALUE)
    lead = re.sub(rf"\b{len(spans)}\b(?!\.\s)", "", lead) if asked.kind.is_words else lead
    for gap in gaps:
        left = _SEPARATORS.sub("", gap.replace(SAID, " ")).strip()
        if left:
            return f"says {shown(gap.strip())} between its values"
    opening = re.sub(r"(?:^|\n)\s*(?:[-*•]|\(?1[.)])\s*$|[\[({]\s*$", " ", lead)
    whole = f"{opening.rstrip()} {VALUE}{_SEPARATORS.sub('', trail) and trail}"
    for statement in statements(whole.replace("\n", " ") if ":" in opening else whole):
        if VALUE not in statement:
            return f"also says {shown(statement)}"
        fault = wrap_fault(
            statement,
            is_words=asked.kind.is_words,
            may_estimate=asked.may_estimate,
            may_start=asked.may_start,
        )
        if fault is not None:
            return fault
    return None


@dataclass(frozen=True, slots=True)
class Row:
    """One row that is expected: a value in each column."""

    cells: tuple[Wanted, ...]


def rows_fault(
    texts: Sequence[str], columns: Sequence[Asked], rows: Sequence[Row], *, ordered: bool
) -> str | None:
    """Say why an answer does not tell exactly these rows; None where it does."""
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
        masked = _blanked(asked.kind.prepare(bare), taken)
        if len(masked) != len(bare):
            return "cannot be read"
        spans = [
            span
            for span in _found(masked, asked, wanted.values)[0]
            if span.value is not None or _greed(asked.kind) == _MOST_GREEDY
        ]
        fault = _values_fault(masked, spans, asked.kind)
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
    masked = _masked("".join(text_said), spans)
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


def _blanked(text: str, taken: Sequence[tuple[int, int]]) -> str:
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "\ue002" * (end - start)
    return "".join(letters)
