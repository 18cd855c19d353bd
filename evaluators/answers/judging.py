"""Whether an answer says an expected value, one value, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluators.answers.asides import without_asides, without_politeness
from evaluators.answers.asked import Asked, Wanted, found_in, prepared
from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import LONGEST, plain
from evaluators.answers.days import DateKind
from evaluators.answers.json_values import (
    Leaf,
    json_leaves,
    key_fault,
    names_the_thing,
    with_its_key,
    without_lead,
)
from evaluators.answers.places import CoordinatesKind
from evaluators.answers.question import Question
from evaluators.answers.texts import CodeKind
from evaluators.answers.truth import NEGATED, BooleanKind, boolean_fault, restated
from evaluators.answers.wording import (
    SENTENCE,
    Surroundings,
    doubtful_word,
    known_by,
    surroundings_fault,
)
from evaluators.answers.words import SAID, VALUE, is_turning, normal, tokens_of
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
        again = _restated(bare, asked)
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
        told = _without_kindness(masked, asked.around)
        fault = boolean_fault(told, bare, spans, asked.question.stems)
    return fault or surroundings_fault(masked, _around(asked, spans[0].value))


def _restated(bare: str, asked: Asked) -> bool | None:
    """Return what the one statement says that only says the question again."""
    bare = without_politeness(bare)
    told = {
        (statement, again)
        for statement, alone in _statements_alone(bare, asked.around)
        if (again := restated(alone, asked.question)) is not None
    }
    if len(told) != 1:
        return None
    [(statement, again)] = told
    masked = bare.replace(statement, f"{VALUE}.", 1)
    return again if surroundings_fault(masked, _around(asked, again)) is None else None


def _without_kindness(masked: str, around: Surroundings) -> str:
    """Return an answer without its statements that say nothing of what was asked."""
    known = known_by(around)
    said = (one for one in SENTENCE.split(masked) if VALUE in one or without_asides(one, known))
    return " ".join(said)


def _statements_alone(text: str, around: Surroundings) -> Iterator[tuple[str, str]]:
    """Yield each statement of a text, and it without clauses that say where the agent looked.

    It may stand in several ways, as any of its verbs may begin what it says.
    """
    known = known_by(around)
    for statement in SENTENCE.split(text):
        said = _ANNOUNCED.sub("", statement.strip(" ,:"))
        yield said, said
        for verb in _FINITE.finditer(said):
            masked = f"{said[: verb.start()]}{VALUE}{said[verb.end() :]}"
            yield said, without_asides(masked, known).replace(VALUE, verb.group()).strip()


_ANNOUNCED: Final = re.compile(
    r"^(?:(?:the|my|here is the|here's the)\s)?(?:final\s)?(?:answer|result|findings?|response)\b"
    r"[\w\s]{0,30}:\s*",
    re.IGNORECASE,
)
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|can|does|do|did|has|have|had|will)(?:n't)?\b|\bcan't\b|\bcannot\b",
    re.IGNORECASE,
)


def _said_as_text(text: str, asked: Asked) -> tuple[str, str | None]:
    """Return an answer as text, its JSON as lines of keys and values; and why it is in doubt."""
    if len(text) > LONGEST:
        return "", "is too long to be one answer"
    said, fault = said_at_last(text, asked.question)
    lead, rest = without_lead(said)
    leaves = json_leaves(rest)
    if leaves is None or fault is not None:
        return with_its_headings(said, asked.question), fault
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


_RULE: Final = re.compile(r"[\s|:-]*--[\s|:-]*")


def with_its_headings(text: str, question: Question) -> str:
    """Return a text with a table of one row as lines: each cell with its heading.

    A cell that only names what the question asks about is left out, whatever it stands under.
    """
    lines = text.strip().split("\n")
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line) and "|" in line]
    if len(rules) != 1 or rules[0] == 0 or len(lines) < rules[0] + 2:
        return text
    at = rules[0]
    heading, row = (
        [one.strip() for one in lines[n].strip().strip("|").split("|")] for n in (at - 1, at + 1)
    )
    behind = lines[at + 2 :]
    if len(heading) != len(row) or any("|" in line for line in behind):
        return text
    cells = [
        f"{label}: {cell}"
        for label, cell in zip(heading, row, strict=True)
        if not (re.fullmatch(r"[A-Z]?[a-z]{2,}", label) and _only_names(cell, question))
    ]
    return "\n".join([*lines[: at - 1], *cells, *behind])


def _only_names(cell: str, question: Question) -> bool:
    """Say whether a cell holds nothing but words of the question that turn no meaning."""
    words = [one.casefold() for one in tokens_of(plain(cell)) if one[0].isalnum()]
    known = question.names | {word for pair in question.pairs for word in pair}
    return words != [] and known.issuperset(words) and not any(map(is_turning, words))


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
