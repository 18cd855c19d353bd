"""`string_match`: what the agent answers, as a typed answer where the gold has a type."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from pydantic import JsonValue, ValidationError

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher
from tasks.imports.formats import Untranslated, Written, end_check
from tasks.imports.webarena.records import Evaluation, WebArenaRecord

NOT_POSSIBLE: Final = "N/A"
_FIELD: Final = "eval.reference_answers"
_OR: Final = " |OR| "
_KEYS: Final = ("exact_match", "must_include", "fuzzy_match")
_JUDGED: Final = "fuzzy_match"
# Of the published servers; no replica has it.
_FOREIGN_HOST: Final = "metis.lti.cs.cmu.edu"
# What the published agents are shown in place of the replicas' hosts.
_SHOWN_HOSTS: Final[Mapping[str, str]] = MappingProxyType({"http://www.reddit.com": "__REDDIT__"})

_MONEY_WORDS: Final = re.compile(
    r"\b(?:price|cost|total|spend|spent|paid|pay|payment|amount|refund)", re.IGNORECASE
)
# With these a whole number is an amount too: "how much did I spend" is answered by $0.00.
_SPENT_WORDS: Final = re.compile(
    r"\bhow much\b[^.?]*\b(?:spen[dt]|paid|pay|cost|refund)", re.IGNORECASE
)
_CURRENCY: Final = "USD"  # of every shop of the set
_COORDINATES: Final = re.compile(r"\bcoordinates\b", re.IGNORECASE)
_DEGREES: Final = re.compile(r"-?\d{1,3}\.\d+")
_MONTHS: Final = tuple(month_name)[1:]
_RANGE_WORDS: Final = re.compile(r"\brange\b", re.IGNORECASE)
# The first that fits says the type.
_FORMS: Final = tuple(
    (re.compile(form, re.IGNORECASE), kind)
    for form, kind in (
        (r"yes|no", "boolean"),
        (r"[^@\s]+@[^@\s]+\.[a-z]+", "email"),
        (r"https?://\S+", "url"),
        (r"(?:\d+\s*(?:h|hours?|hr|min|minutes?|s|seconds?)\s*)+", "duration"),
        (r"\d+(?:\.\d+)?\s*(?:km|m|miles?)", "distance"),
        (r"[a-z]+ \d{1,2}(?:st|nd|rd|th)?,? \d{4}", "date"),
        (r"\$\d[\d,.]*", "money"),
        (r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?(?:0|[1-9]\d*)(?:\.\d+)?", "number"),
    )
)
# Digits that are no number, by a word of the question.
_CODE_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"phone": "phone", "zip": "code", "order number": "code"}
)
_NUMBERED: Final = re.compile(r"\b(?:order|invoice) (?:number|id)\b", re.IGNORECASE)
_NUMBER_DIGITS: Final = 9  # Magento shows order 189 as 000000189
_NAMED: Final = re.compile(r"([^:]+): (.+)")
_COUNTED: Final = re.compile(r"(\d+) ([a-z]+)")
_LONGEST_TEXT: Final = 160


def is_unachievable(evaluation: Evaluation) -> bool:
    """Whether the published gold says that the task cannot be done."""
    answers = evaluation.reference_answers or {}
    return NOT_POSSIBLE in {str(answers.get("fuzzy_match")), str(answers.get("exact_match"))}


def answer_checks(
    record: WebArenaRecord, bases: Mapping[str, str]
) -> Iterator[Written | Untranslated]:
    """Yield the check of the answer.

    A gold becomes a typed answer where one of the types reads it, and an answer that says it in the
    gold's own words is right by that type. A gold that only a judge could compare, and one with
    parts of several kinds, is left to a judge.
    """
    answers = record.evaluation.reference_answers or {}
    if is_unachievable(record.evaluation):
        locate: Written = {"by": "answer", "part": "status"}
        yield end_check("answer", locate, {"how": "exact", "value": "infeasible"})
        return
    golds = [text for key in _KEYS for text in _texts(answers.get(key))]
    unknown = sorted(set(answers) - set(_KEYS))
    if unknown:
        yield Untranslated(_FIELD, f"asks in a way that WebArena has not: {', '.join(unknown)}")
    if not golds:
        yield Untranslated(_FIELD, "is empty")
    elif any(_FOREIGN_HOST in one for one in golds):
        message = f"names the host {_FOREIGN_HOST}, which no replica has: the gold is not sound"
        yield Untranslated(_FIELD, message)
    else:
        is_judged = _JUDGED in answers
        match = _typed(golds, record.intent, bases, may_be_text=not is_judged)
        yield end_check("answer", {"by": "answer"}, match or _judged(golds, record.intent))


def _texts(given: JsonValue) -> list[str]:
    if given is None:
        return []
    return [str(one) for one in given] if isinstance(given, list) else [str(given)]


def _judged(golds: list[str], intent: str) -> Written:
    """Return the match by a model's judgement."""
    asked = " ".join(intent.split())
    rubric = f'The text answers "{asked}". It is right if it says everything that the reference'
    rubric += " says, in whatever words and units, and nothing that contradicts it."
    return {"how": "semantic", "rubric": rubric, "reference": "; ".join(golds)}


def _typed(
    golds: list[str], intent: str, bases: Mapping[str, str], *, may_be_text: bool
) -> Written | None:
    """Return the match by a type that reads all golds; None where none does."""
    if len(golds) > 1 and _RANGE_WORDS.search(intent):
        return None  # from … to …: no list of two
    if len(golds) == 1 and _OR in golds[0]:
        choices = golds[0].split(_OR)
        kind = _kind(choices[0], intent)
        return _sound({**_type(kind), "any_of": choices}, choices[:1])
    if _is_point(golds, intent):
        return _point(golds)
    kinds = {_kind(one, intent) for one in golds}
    if len(kinds) == 1 and (may_be_text or kinds != {"text"}):
        found = _of_one_kind(kinds.pop(), golds, intent, bases)
        if found is not None:
            return found
    return _named_values(golds, intent, may_be_text=may_be_text)


def _type(kind: str) -> Written:
    return {"type": kind, "currency": _CURRENCY} if kind == "money" else {"type": kind}


def _of_one_kind(
    kind: str, golds: list[str], intent: str, bases: Mapping[str, str]
) -> Written | None:
    if len(golds) > 1 and kind == "text" and any(len(one) > _LONGEST_TEXT for one in golds):
        return None
    values = [_spellings(one, kind, intent, bases) for one in golds]
    if len(golds) == 1:
        said: Written = {"any_of": values[0]} if len(values[0]) > 1 else {"value": golds[0]}
        return _sound({**_type(kind), **said}, golds)
    items: list[object] = [{"any_of": one} if len(one) > 1 else one[0] for one in values]
    return _sound({**_type(kind), "all_of": items}, golds)


def _is_point(golds: list[str], intent: str) -> bool:
    is_pair = len(golds) == 2 and all(map(_DEGREES.fullmatch, golds))  # noqa: PLR2004 - a pair
    return is_pair and _COORDINATES.search(intent) is not None


def _point(golds: list[str]) -> Written | None:
    """Return the match of a place whose latitude and longitude are given as their beginnings.

    `-79.939` is a fragment of -79.93963 and of -79.9390: a place is off by one unit of the last
    digit at the most.
    """
    digits = min(len(one.partition(".")[2]) for one in golds)
    match: Written = {"type": "coordinates", "value": ", ".join(golds)}
    return _sound({**match, "tolerance": float(f"1e-{digits}")}, golds)


def _named_values(golds: list[str], intent: str, *, may_be_text: bool) -> Written | None:
    """Return the match of `driving: 13min`, `walking: 1h 45min` as rows; None of anything else.

    Labels that a judge was to compare are often misspelt ("Feburary"): they are read as months, or
    have to be words of the question. Other ones are left to the judge.
    """
    pairs = [_NAMED.fullmatch(one) for one in golds]
    rows = [[one[1], one[2]] for one in pairs if one is not None]
    if len(rows) < len(golds) or len(rows) < 2:  # noqa: PLR2004 - a list
        return None
    months = [_month(label) for label, _ in rows]
    is_said = may_be_text or all(_is_in(label, intent) for label, _ in rows)
    value_column, values = _value_column([value for _, value in rows], intent)
    if value_column is None or not (all(months) or is_said):
        return None
    is_month = all(months)
    labels = [
        month if is_month and month else row[0] for month, row in zip(months, rows, strict=True)
    ]
    written = [list(row) for row in zip(labels, values, strict=True)]
    said = [f"{label}: {row[1]}" for label, row in zip(labels, rows, strict=True)]
    label_column = {"type": "month" if is_month else "text"}
    return _sound({"columns": [label_column, value_column], "rows": written}, said)


def _month(label: str) -> str | None:
    """Return the month that a label means, also in short or misspelt; None of another label."""
    short = next((name for name in _MONTHS if name[:3] == label.rstrip(".")), None)
    return short or next(iter(get_close_matches(label, _MONTHS, n=1, cutoff=0.8)), None)


def _is_in(label: str, intent: str) -> bool:
    return re.search(rf"\b{re.escape(label)}\b", intent, re.IGNORECASE) is not None


def _value_column(values: list[str], intent: str) -> tuple[Written | None, list[str]]:
    """Return the column that reads all values, with the values as it reads them."""
    counted = [_COUNTED.fullmatch(one) for one in values]
    units = {one[2] for one in counted if one is not None}
    if all(counted) and len(units) == 1:
        return {"type": "number", "unit": units.pop()}, [one[1] for one in counted if one]
    kinds = {_kind(value, intent) for value in values}
    return (_type(kinds.pop()) if len(kinds) == 1 else None), values


def _sound(match: Written, golds: list[str]) -> Written | None:
    """Return a match that its own gold meets, said in a sentence or as a list; None otherwise."""
    try:
        matcher = AnswerMatcher.model_validate({"how": "answer", **match})
    except ValidationError:
        return None
    for text in (", ".join(golds), "\n".join(f"- {one}" for one in golds)):
        if matcher.match((text,), World.OFFLINE).met:
            return {"how": "answer", **match}
    return None


def _spellings(gold: str, kind: str, intent: str, bases: Mapping[str, str]) -> list[str]:
    """Return a gold as it is, and in the other form that the sites show it in."""
    if kind == "url":
        for shown, base in _SHOWN_HOSTS.items():
            if gold.startswith(shown) and base in bases:
                return [gold, gold.replace(shown, bases[base], 1)]
    if kind == "code" and _NUMBERED.search(intent):
        return list(dict.fromkeys((gold, gold.zfill(_NUMBER_DIGITS), gold.lstrip("0") or "0")))
    return [gold]


def _kind(gold: str, intent: str) -> str:
    text = gold.strip()
    if text.isdigit():
        for word, kind in _CODE_WORDS.items():
            if re.search(rf"\b{word}\b", intent, re.IGNORECASE):
                return kind
    for form, kind in _FORMS:
        if form.fullmatch(text):
            words = _MONEY_WORDS if "." in text else _SPENT_WORDS
            return "money" if kind == "number" and words.search(intent) else kind
    return "text"
