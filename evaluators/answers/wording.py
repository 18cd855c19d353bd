"""Whether the words around a value leave it as it stands.

A closed grammar of English lead-ins and endings, over the words of `vocabulary`. Words that negate,
hedge, compare, offer another value or take the value back are never allowed; where it is in doubt,
the words are refused.
"""

from __future__ import annotations

import re
from typing import Final

from evaluators.answers import vocabulary as words_of

# Stands for a value in a text whose values are masked.
VALUE: Final = "\ue000"
# Stands for words that the check allows.
SAID: Final = "\ue001"

_LONGEST_LEAD: Final = 30
_LONGEST_LABEL: Final = 14
_LONGEST_TRAIL: Final = 20
_LONGEST_PLACE: Final = 4
_PLACES: Final = frozenset({"in", "at", "on"})
_LONGEST_REMARK: Final = 60
_MOST_COMMAS: Final = 3
_REACH: Final = 60
_FREE_TRAIL: Final = re.compile(r"[\s.!'\")\]}:*]*")
_WORDS: Final = re.compile(rf"[^\s,;:()\[\]\"{VALUE}]+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_DANGERS: Final = (
    (words_of.NEGATIONS, "negates"),
    (words_of.HEDGES, "hedges"),
    (words_of.REVOCATIONS, "says otherwise"),
)


def statements(masked: str) -> list[str]:
    """Return the sentences of a masked text that are more than politeness."""
    whole = words_of.ABBREVIATIONS.sub(r"\1", words_of.NUMEROS.sub("number", masked))
    parts = (words_of.CLOSINGS.sub("", part.strip()) for part in _SENTENCE.split(whole))
    return [part for part in parts if part and not _is_filler(part)]


def wrap_fault(
    statement: str, *, is_words: bool, may_estimate: bool, is_moment: bool
) -> str | None:
    """Say which words around the values of a statement say otherwise; None where none do.

    Args:
        statement: one sentence whose values are masked.
        is_words: whether values are words among words: less may stand around them.
        may_estimate: whether `about` leaves the value as it is.
        is_moment: whether values are times or dates: `from` leaves them so, `by` does not.
    """
    if (found := danger(statement.casefold())) is not None:
        return found
    lead, *gaps, trail = _without_opening(statement).split(VALUE)
    for before in (lead, *gaps):
        fault = _bound_fault(before.casefold(), may_estimate=may_estimate, is_moment=is_moment)
        if fault is not None:
            return fault
    for after in (*gaps, trail):
        fault = _after_fault(after.casefold(), may_estimate=may_estimate)
        if fault is not None:
            return fault
    if may_estimate:
        lead = re.sub(words_of.ESTIMATES.pattern, "", lead, flags=re.IGNORECASE)
    fault = _lead_fault(lead, is_words=is_words) or _trail_fault(trail, is_words=is_words)
    if fault is not None:
        return fault
    between = next((gap for gap in gaps if not _is_plain(gap)), None)
    return None if between is None else f"says '{_short(between.strip())}' between"


def record_fault(masked: str) -> str | None:
    """Say which words between and around the values of one row say otherwise."""
    for statement in statements(masked):
        fault = _row_fault(statement)
        if fault is not None:
            return fault
    return None


def boolean_fault(masked: str, *, is_yes: bool) -> str | None:
    """Say which words around a yes or no say otherwise; None where none do."""
    parts = (part.strip() for part in _SENTENCE.split(masked))
    kept = [part for part in parts if part and (VALUE in part or not _is_filler(part))]
    folded = " ".join(kept).casefold()
    lead, *_, trail = folded.split(VALUE)
    for pattern, what in _DANGERS:
        if what == "negates" and not is_yes:
            continue
        if (found := pattern.search(folded.replace(VALUE, " "))) is not None:
            return f"{what} with '{found.group()}'"
    if lead.strip(" \"'*([-:"):
        words = _WORDS.findall(lead)
        if len(words) > _LONGEST_LEAD or words[-1] not in words_of.LINKS:
            return f"says '{_short(lead.strip())}' before it"
    follows = re.match(r"\s+([a-z']+)", trail)
    if follows is not None and follows[1] not in words_of.CLAUSES:
        return f"says '{_short(trail.strip())}' after it"
    return None if len(_WORDS.findall(trail)) <= _LONGEST_REMARK else "says too much"


def danger(folded: str) -> str | None:
    """Say which words of a case-folded text negate, hedge or take back; None where none do."""
    for pattern, what in _DANGERS:
        if (found := pattern.search(folded)) is not None:
            return f"{what} with '{found.group()}'"
    if re.search(r"\d", folded) is not None:
        return "has other digits beside it"
    return None


def _row_fault(statement: str) -> str | None:
    if VALUE not in statement:
        return f"also says '{_short(statement)}'"
    fault = danger(statement.casefold())
    if fault is not None:
        return fault
    lead, *gaps, trail = _without_opening(statement).split(VALUE)
    for gap in gaps:
        fault = _bound_fault(gap.casefold(), may_estimate=False, is_moment=False)
        if fault is not None:
            return fault
        words = _WORDS.findall(gap)
        has_name = any(word[:1].isupper() and word != SAID for word in words)
        if has_name or len(words) > _LONGEST_TRAIL:
            return f"says '{_short(gap.strip())}' between"
    is_label = lead.strip().endswith(":")
    return _trail_fault(trail, is_words=False) or (
        None if is_label else _lead_fault(lead, is_words=False)
    )


def _is_filler(part: str) -> bool:
    bare = _without_opening(part).casefold().strip(" .!:")
    if not bare.strip("-*• "):
        return True
    return VALUE not in bare and words_of.FILLERS.fullmatch(bare) is not None


def _without_opening(text: str) -> str:
    """Return a sentence without `Sure,` and its like at its beginning."""
    rest = text.strip()
    for _ in range(4):
        folded = rest.casefold()
        found = words_of.OPENINGS.match(folded)
        if found is None or len(folded) != len(rest):
            return rest
        rest = rest[found.end() :]
    return rest


def _bound_fault(before: str, *, may_estimate: bool, is_moment: bool) -> str | None:
    tail = before[-_REACH:].rstrip(" \"'([{")
    if (found := words_of.ESTIMATES.search(tail)) is not None and not may_estimate:
        return f"only estimates with '{found.group().strip()}'"
    found = words_of.BOUNDS.search(tail)
    if found is not None and words_of.EQUATIONS.search(f"{tail} ") is None:
        return f"compares with '{found.group().strip()}'"
    if (found := words_of.MODALS.search(tail)) is not None:
        return f"hedges with '{found.group().strip()}'"
    if (found := words_of.STARTS.search(tail)) is not None and not is_moment:
        return f"compares with '{found.group().strip()}'"
    if is_moment and words_of.DEADLINES.search(tail) is not None:
        return "compares with 'by'"
    return None


def _after_fault(after: str, *, may_estimate: bool) -> str | None:
    if (found := words_of.BOUNDS_AFTER.search(after[:_REACH])) is not None:
        return f"compares with '{found.group().strip()}'"
    if (found := words_of.ESTIMATES_AFTER.search(after)) is not None and not may_estimate:
        return f"only estimates with '{found.group().strip()}'"
    return None


def _lead_fault(lead: str, *, is_words: bool) -> str | None:
    bare = lead.strip().strip("\"'([{*•#").strip()
    if not bare or bare in {"-", "="} or bare.endswith(SAID):
        return None
    said = f"says '{_short(bare)}' before it"
    words = _WORDS.findall(bare)
    if len(words) > _LONGEST_LEAD or ";" in bare or bare.count(":") > 1:
        return said
    if bare.endswith((":", "=", " -")):
        is_label = len(words) <= _LONGEST_LABEL and bare.count(",") <= 1
        return None if is_label and words_of.REPLIES.search(bare.casefold()) is None else said
    links = words_of.WORD_LINKS if is_words else words_of.LINKS
    last = words[-1].casefold() if words else ""
    is_sentence = not is_words and words[0].casefold() in words_of.SUBJECTS and last.islower()
    if bare.endswith(",") or bare.count(",") > _MOST_COMMAS:
        return said
    is_whole = last == "of" and words[-2:-1] and words[-2].casefold() in words_of.WHOLES
    if (
        last not in links
        and not is_whole
        and not (is_sentence and "," not in bare and words[-1].islower())
    ):
        return said
    copulas = len(words_of.COPULAS.findall(bare.casefold()))
    return said if copulas > (1 if is_words else 2) else None


def _trail_fault(trail: str, *, is_words: bool) -> str | None:
    if _FREE_TRAIL.fullmatch(trail):
        return None
    bare = trail.strip().rstrip(".!\"'")
    words = _WORDS.findall(bare)
    if not is_words and (found := words_of.LIMITS_AFTER.search(bare.casefold())) is not None:
        return f"limits it with '{found.group()}'"
    is_short = len(words) <= _LONGEST_TRAIL and not re.search(r"[;:/|&\n]", bare)
    if is_short and (_is_word_trail(bare, words) if is_words else _is_number_trail(bare)):
        return None
    return f"says '{_short(bare)}' after it"


def _is_word_trail(bare: str, words: list[str]) -> bool:
    if all(word == SAID for word in words):
        return True
    first = words[0].casefold()
    second = words[1].casefold() if len(words) > 1 else ""
    is_place = first in _PLACES and 1 < len(words) <= _LONGEST_PLACE
    if is_place and "," not in bare:
        return True  # "Acadia National Park in Maine"
    if "," in bare or any(word[:1].isupper() for word in words if word != "I"):
        return False
    if first in {"is", "was", "are", "were"}:
        return second in words_of.DETERMINERS or second == SAID or _is_verb(second)
    if first == "last":
        return _is_verb(second)
    return _is_verb(first) or first in words_of.PREPOSITIONS - words_of.NAME_EXTENSIONS


def _is_verb(word: str) -> bool:
    return word in words_of.VERBS or (word.endswith("ed") and len(word) > len("used"))


def _is_number_trail(bare: str) -> bool:
    head, *rest = re.split(r"\s*,\s*", bare)
    firsts = [part.split(" ", 1)[0].casefold() for part in rest]
    if any(first not in words_of.PREPOSITIONS and first != SAID for first in firsts):
        return False
    is_open = False  # whether a name may come: after a preposition
    for word in _WORDS.findall(head):
        folded = word.casefold()
        if folded == "and":
            return False
        if folded in words_of.PREPOSITIONS | words_of.DETERMINERS | words_of.VERBS:
            is_open = True
        elif word[:1].isupper() and word != SAID and not is_open:
            return False
    return True


def _is_plain(gap: str) -> bool:
    """Whether words between two mentions of one value are a lead-in or an ending."""
    return len(_WORDS.findall(gap)) <= _LONGEST_TRAIL and ";" not in gap


def _short(text: str) -> str:
    return text if len(text) <= _REACH else text[: _REACH - 1] + "…"
