"""Whether an answer says an expected value, one value, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.days import DateKind, MonthKind, find_days
from evaluators.answers.json_values import json_atoms
from evaluators.answers.links import MailKind, UrlKind
from evaluators.answers.places import CoordinatesKind
from evaluators.answers.truth import BooleanKind
from evaluators.answers.wording import (
    SAID,
    VALUE,
    boolean_fault,
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
        is_moment: whether values are times or dates: `from` leaves them so, `by` does not.
    """

    kind: AnswerKind[Any]
    may_say: tuple[str, ...] = ()
    may_estimate: bool = False
    is_moment: bool = False


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
    spans, text_said = found_in(bare, asked, wanted.values)
    fault = values_fault(bare, spans, asked.kind)
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
    spans, said = found_in(bare, asked, everything)
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


def _prepared(text: str, asked: Asked) -> str:
    keeps = isinstance(asked.kind, UrlKind | MailKind)
    return asked.kind.prepare(plain(text, keep_targets=keeps))


def found_in(bare: str, asked: Asked, wanted: Sequence[Any]) -> tuple[list[Span[Any]], str]:
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
    seen = bare if asked.kind.is_words else blanked(bare, dates)
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


def values_fault(bare: str, spans: Sequence[Span[Any]], kind: AnswerKind[Any]) -> str | None:
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


def masked_text(text: str, spans: Sequence[Span[Any]]) -> str:
    """Return a text with a mark in place of each value, and of what it may say besides."""
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], VALUE]
        end = span.end
    return re.sub(rf"{SAID}+", SAID, "".join([*pieces, text[end:]]))


def _wrap(text: str, spans: Sequence[Span[Any]], asked: Asked) -> str | None:
    told = statements(masked_text(text, spans))
    for statement in told:
        if VALUE not in statement:
            if statement.strip(f" .,!{SAID}") == "":
                continue
            return f"also says {shown(statement.replace(SAID, '…'))}"
        fault = wrap_fault(
            statement,
            is_words=asked.kind.is_words,
            may_estimate=asked.may_estimate,
            is_moment=asked.is_moment,
        )
        if fault is not None:
            return fault
    return None


def _boolean_wrap(text: str, spans: Sequence[Span[Any]]) -> str | None:
    return boolean_fault(masked_text(text, spans), is_yes=bool(spans[0].value))


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
    masked = masked_text(text, spans)
    lead, *gaps, trail = masked.split(VALUE)
    lead = re.sub(rf"\b{len(spans)}\b(?!\.\s)", "", lead) if asked.kind.is_words else lead
    for gap in gaps:
        if gap == "/" and not asked.kind.is_words:
            return "holds a fraction"
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
            is_moment=asked.is_moment,
        )
        if fault is not None:
            return fault
    return None


def blanked(text: str, taken: Sequence[tuple[int, int]]) -> str:
    """Return a text whose pieces between these places are nothing that can be read."""
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "\ue002" * (end - start)
    return "".join(letters)
