"""Whether an answer says an expected value, one value, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from evaluators.answers.asides import politeness
from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.conversions import conversions
from evaluators.answers.days import DateKind, find_days
from evaluators.answers.json_values import Leaf, json_leaves, without_lead
from evaluators.answers.keys import key_fault, names_the_thing, with_its_key
from evaluators.answers.links import MailKind, PhoneKind, UrlKind
from evaluators.answers.places import CoordinatesKind
from evaluators.answers.question import Question
from evaluators.answers.texts import CodeKind
from evaluators.answers.truth import NEGATED, BooleanKind, boolean_fault, restated
from evaluators.answers.wording import Surroundings, doubtful_word, surroundings_fault
from evaluators.answers.words import SAID, VALUE, normal, tokens_of
from evaluators.values.pairing import pair_up
from evaluators.values.text import shown

_LONGEST_ONE: Final = 2_000
_MOST_ITEMS: Final = 500
_THOUGHT: Final = re.compile(
    r"\s*\**(?:thoughts?|reasoning|think(?:ing)?|analysis|observation)\**\s*:(.*)"
    r"(?:\n|(?<=[.!?])\s|\s\s)\s*\**((?:final )?(?:answer|response)\**\s*:.*)",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT_KEYS: Final = frozenset({"thought", "thoughts", "reasoning", "analysis"})
# What parts two items of a list; without any of these they are no list.
_PARTING: Final = re.compile(r"[,;|/&•\n]|->|=>|→|\band\b|\bas well as\b|\bthen\b", re.IGNORECASE)
_NUMERO: Final = re.compile(rf"\b(?:no|nr)\.\s?(?={VALUE})", re.IGNORECASE)
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_NUMBERING: Final = re.compile(
    r"(?:(?<=^)|(?<=[\s,;]))(?:\(?#?(\d{1,3})[.):](?=\s)|(\d{1,3})(?:st|nd|rd|th)\b:?"
    rf"|({'|'.join(_ORDINALS)})(?:ly)?\b:?)",
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
        around: what else may.
    """

    kind: AnswerKind[Any]
    may_say: tuple[str, ...] = ()
    around: Surroundings = field(default_factory=Surroundings)

    @property
    def question(self) -> Question:
        """What the question lets an answer say."""
        return self.around.question

    def is_wanted(self, value: object, wanted: Sequence[Any]) -> bool:
        """Say whether a value is one of those that are expected."""
        return value is not None and any(self.kind.is_same(value, one) for one in wanted)


def one_fault(  # noqa: PLR0911 - one return a rule
    text: str, asked: Asked, wanted: Wanted
) -> str | None:
    """Say why an answer does not say the one value that is expected; None where it does."""
    said, fault = _said_as_text(text, asked)
    if fault is not None:
        return fault
    if len(said) > _LONGEST_ONE:
        return "is too long to be one answer"
    bare = prepared(said, asked)
    if not bare:
        return "is empty"
    spans, text_said = found_in(bare, asked, wanted.values)
    if not spans and isinstance(asked.kind, BooleanKind):
        again = restated(bare, asked.question.polar, asked.question.roles)
        if again is not None:
            return None if asked.is_wanted(again, wanted.values) else "says another value"
    fault = values_fault(bare, spans, asked.kind)
    if fault is not None:
        return fault
    if not asked.is_wanted(spans[0].value, wanted.values):
        return "says another value"
    masked = masked_text(text_said, spans)
    if isinstance(asked.kind, CodeKind):
        masked = _NUMERO.sub("number ", masked)
    if isinstance(asked.kind, BooleanKind):
        fault = boolean_fault(masked, bare, spans, asked.question.stems)
    return fault or surroundings_fault(masked, _around(asked, spans[0].value))


def _said_as_text(text: str, asked: Asked) -> tuple[str, str | None]:
    """Return an answer as text, its JSON as lines of keys and values; and why it is in doubt."""
    if len(text) > LONGEST:
        return "", "is too long to be one answer"
    said, fault = said_at_last(text, asked.question)
    lead, rest = without_lead(said)
    leaves = json_leaves(rest)
    if leaves is None or fault is not None:
        return said, fault
    if all(leaf.label in _THOUGHT_KEYS for leaf in leaves):
        return "", "holds 0 values where one is asked for"
    between = ", " if isinstance(asked.kind, CoordinatesKind) else "\n"
    question = asked.question
    told = [with_its_key(one, asked.kind) for one in leaves if not names_the_thing(one, question)]
    fault = _keys_fault(told, asked)
    if fault is not None:
        return "", fault
    lines = between.join(map(str, sorted(told, key=_is_answer)))
    return said_at_last(f"{lead}\n{lines}".strip(), asked.question)


def said_at_last(text: str, question: Question) -> tuple[str, str | None]:
    """Return an answer without question and thought before it, and why the thought is in doubt."""
    bare = text if question.whole is None else question.whole.sub("\n", text)
    found = _THOUGHT.match(bare)
    if found is None:
        return bare, None
    doubt = doubtful_word(plain(found[1]), plain(found[2].partition(":")[2]))
    return found[2], None if doubt is None else f"thinks before it with '{doubt}'"


def _keys_fault(leaves: Sequence[Leaf], asked: Asked) -> str | None:
    """Say which key of a value names another thing of the question than it asks for."""
    for leaf in leaves:
        holds = asked.kind.is_words or asked.kind.find(prepared(leaf.text, asked), ())
        if holds and not isinstance(asked.kind, BooleanKind):
            fault = key_fault(leaf.label, asked.around, asked.may_say)
            if fault is not None:
                return fault
    return None


def _is_answer(leaf: Leaf) -> bool:
    return leaf.label not in _THOUGHT_KEYS


def _around(asked: Asked, value: Any) -> Surroundings:
    """Return what may stand around a value; of a date its own day of the week may."""
    if isinstance(asked.kind, DateKind):
        return replace(asked.around, own=asked.around.own | asked.kind.weekday_of(value))
    if isinstance(asked.kind, BooleanKind) and value is False:
        return replace(asked.around, own=asked.around.own | NEGATED)
    if isinstance(asked.kind, CodeKind) and str(value).strip("#").isdigit():
        return replace(asked.around, counts=frozenset())
    return asked.around


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
    if len(texts) > 1:
        return _atoms_fault(texts, asked, wanted, ordered=ordered)
    if len(texts[0]) > LONGEST:
        return "is too long"
    text, fault = said_at_last(texts[0], asked.question)
    if fault is not None:
        return fault
    lead, rest = without_lead(text)
    leaves = json_leaves(rest)
    if leaves is not None:
        labels = [lead, *(f"{leaf.label}:" for leaf in leaves if leaf.label)]
        fault = labels_fault(labels, asked)
        fault = fault or _keys_fault(leaves, asked)
        atoms = [leaf.text for leaf in leaves]
        if len(atoms) == 1 < len(wanted):
            fault = fault or _text_list_fault(atoms[0], asked, wanted, ordered=ordered)
        else:
            fault = fault or _atoms_fault(atoms, asked, wanted, ordered=ordered)
        return fault
    fault = _text_list_fault(text, asked, wanted, ordered=ordered)
    apart = re.sub(r"(?<=\d),(?=\d)", ", ", text)
    if fault is None or asked.kind.is_words or apart == text:
        return fault
    return None if _text_list_fault(apart, asked, wanted, ordered=ordered) is None else fault


def labels_fault(labels: Sequence[str], asked: Asked, count: int = 1) -> str | None:
    """Say which word of keys, headings or lead-ins is not explained; None where all are."""
    for label in dict.fromkeys(labels):
        bare = prepared(label, asked)
        fault = surroundings_fault(found_in(bare, asked, (), count)[1], asked.around)
        if fault is not None:
            return fault
    return None


def _text_list_fault(
    text: str, asked: Asked, wanted: Sequence[Wanted], *, ordered: bool
) -> str | None:
    bare = prepared(text, asked)
    if not bare:
        return "is empty"
    if asked.kind.is_words:
        bare = re.sub(r"\S+", lambda found: _parted(found.group(), asked.question), bare)
    everything = [value for one in wanted for value in one.values]
    bare = _without_numbering(bare)
    spans, said = found_in(bare, asked, everything, count=len(wanted))
    unread = next((span for span in spans if span.value is None), None)
    if unread is not None:
        return f"'{bare[unread.start : unread.end]}' {unread.fault}"
    fault = _pairing_fault([span.value for span in spans], asked, wanted, ordered=ordered)
    if fault is None and ordered and _names_another_order(bare, spans, asked.question):
        fault = "names its values in another order than the question"
    return fault or _list_wrap(said, spans, asked)


def _parted(piece: str, question: Question) -> str:
    """Return words with blanks around the slash between them; not a piece of the question."""
    if piece.strip(".,:;!?()'\"") in question.phrases:
        return piece
    return re.sub(r"(?<=[^\W\d])/(?=[^\W\d])", " / ", piece)


def _names_another_order(bare: str, spans: Sequence[Span[Any]], question: Question) -> bool:
    """Say whether the words beside the values stand otherwise than in `the small and the large`."""
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(bare)]
    gaps = [bare[end:start] for end, start in zip(ends, starts, strict=True)]
    for beside in (gaps[:-1], gaps[1:]):
        places = [
            [
                question.coordinated.index(word)
                for word in map(normal, tokens_of(gap.casefold()))
                if word in question.coordinated
            ]
            for gap in beside
        ]
        if all(len(one) == 1 for one in places):
            found = [one[0] for one in places]
            return len(set(found)) == len(found) and found != sorted(found)
    return False


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


def prepared(text: str, asked: Asked) -> str:
    """Return a text as a kind finds values in it."""
    keeps = isinstance(asked.kind, UrlKind | MailKind | PhoneKind)
    return asked.kind.prepare(plain(text, keep_targets=keeps))


def found_in(
    bare: str, asked: Asked, wanted: Sequence[Any], count: int = 1
) -> tuple[list[Span[Any]], str]:
    """Return the values of a text, but those that it may say besides, and it without the latter.

    Args:
        bare: a prepared text.
        asked: how it is read.
        wanted: the values that are expected.
        count: how many of them the text may be expected to count: `six states: …`.
    """
    keep = [
        (span.start, span.end)
        for span in asked.kind.find(bare, wanted)
        if asked.is_wanted(span.value, wanted)
    ]
    letters = list(bare)
    for start, end, is_phrase in _said(bare, asked, count):
        held = [one for one in keep if one[0] < end and start < one[1]]
        hides = [one for one in held if start <= one[0] and one[1] <= end and one != (start, end)]
        if not held or (is_phrase and hides == held):
            letters[start:end] = SAID * (end - start)
            keep = [one for one in keep if one not in held]
    seen = "".join(letters)
    return list(asked.kind.find(seen, wanted)), seen


def _said(  # noqa: C901 - one loop for each kind of piece
    bare: str, asked: Asked, count: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield the pieces of a text that it may say beside its value.

    And whether each is a phrase: what stands in a longer one is no value.
    """
    question = asked.question
    yield from ((*place, False) for place in politeness(bare))
    for phrase in (*question.phrases, *asked.may_say):
        said = asked.kind.prepare(plain(phrase))
        if said:
            is_number = not any(map(str.isalpha, said)) and phrase not in asked.may_say
            for found in _whole(said).finditer(bare):
                if not (is_number and _stands_alone(bare, *found.span())):
                    yield *found.span(), True
    for found in _NUMBERS.finditer(bare):
        if found.group() in question.numbers and not _stands_alone(bare, *found.span()):
            yield *found.span(), False
    if question.days and not isinstance(asked.kind, DateKind):
        for span in find_days(bare):
            if span.value in question.days:
                yield span.start, span.end, False
    for pattern in _counts(count, asked) if count > 1 else ():
        yield from ((*one.span(), False) for one in pattern.finditer(bare))
    yield from ((*place, False) for place in conversions(bare))


def spans_said(
    bare: str, asked: Asked, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the pieces that a text may say beside the values at these places."""
    for start, end, _ in _said(bare, asked, 1):
        if not any(one < end and start < other for one, other in taken):
            yield start, end


def _stands_alone(bare: str, start: int, end: int) -> bool:
    """Say whether a number stands where another value would: alone between separators."""
    ahead = bare[max(0, start - _WINDOW) : start]
    return _BEGINS.search(ahead) is not None and _ENDS.match(bare, end) is not None


_WINDOW: Final = 8
_BEGINS: Final = re.compile(r"(?:^|[,;/&\n]|\band)\s*$")
_ENDS: Final = re.compile(r"\s*(?:[,;/&\n]|and\b|[.!]?\s*$)")
_NUMBERS: Final = re.compile(r"(?<![\w.,-])\d+(?:[.,:]\d+)*(?![\w]|[-.,:]\d)")
_SMALL: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _counts(count: int, asked: Asked) -> Iterator[re.Pattern[str]]:
    names = [_SMALL[count - 2]] if count - 2 < len(_SMALL) else []
    names += [str(count)] if asked.kind.is_words else []
    if names:
        said = "|".join(names)
        yield re.compile(rf"\b(?:{said})\b(?=[^\n:]*:|\s\w+\sare\b)", re.IGNORECASE)


@lru_cache(maxsize=2048)
def _whole(phrase: str) -> re.Pattern[str]:
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){pattern}(?!\w)[?.!]*", re.IGNORECASE)


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
        pieces += [text[end : span.start], VALUE, SAID if span.has_unit else ""]
        end = span.end
    return re.sub(rf"{SAID}+", f" {SAID} ", "".join([*pieces, text[end:]]))


def _without_numbering(bare: str) -> str:
    """Return a list without the numbers of its items: 1, 2, 3, or first, second, third."""
    marks = list(_NUMBERING.finditer(bare))
    places = [int(one[1] or one[2] or _ORDINALS.index(one[3].casefold()) + 1) for one in marks]
    if places != list(range(1, len(marks) + 1)) or len(marks) < 2:  # noqa: PLR2004 - a list
        return bare
    letters = list(bare)
    for mark in marks:
        letters[mark.start() : mark.end()] = "•" + " " * (mark.end() - mark.start() - 1)
    return "".join(letters)


def _list_wrap(text: str, spans: Sequence[Span[Any]], asked: Asked) -> str | None:
    """Say which words of a list are neither separators nor explained."""
    masked = masked_text(text, spans)
    lead, *gaps, trail = masked.split(VALUE)
    for gap in gaps:
        if gap == "/" and not asked.kind.is_words:
            return "holds a fraction"
        ranges = "to" in asked.may_say and (
            "-" in gap or gap.count(SAID) > gap.startswith(f" {SAID}")
        )
        if _PARTING.search(gap) is None and not ranges:
            return f"says {shown(gap.strip())} between its values"
    for gap in gaps:
        apart = re.sub(r"[|/&•]|->|=>|→|\b(?:and|as well as|then)\b", ",", gap, flags=re.IGNORECASE)
        fault = surroundings_fault(f"{VALUE}{apart}{VALUE}", replace(asked.around, many=True))
        if fault is not None:
            return fault
    whole = f"{lead.rstrip('/&')}{VALUE}{trail}"
    if ":" in lead:
        whole = re.sub(r":\s*\n[\s*•-]*", ": ", whole)
    return surroundings_fault(whole, replace(asked.around, many=True))


def blanked(text: str, taken: Sequence[tuple[int, int]]) -> str:
    """Return a text whose pieces between these places are nothing that can be read."""
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "\ue002" * (end - start)
    return "".join(letters)
