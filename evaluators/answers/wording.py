"""Whether every word around a value is explained: an allow-list.

A word may come from the question, from what the check lets an answer say, from the type's own words
and from the frames of sentences that give an answer. Any other word, number or sign puts the value
in doubt. What turns a meaning (`not`, `more`, `second`) is allowed only where the question has it,
in the same place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.answers import words as words_of
from evaluators.answers.asides import Known, lead_in, without_asides
from evaluators.answers.question import NO_QUESTION, Question, turning_runs
from evaluators.answers.roles import is_agent
from evaluators.answers.statements import request_fault, statement_fault
from evaluators.answers.subjects import subject_fault
from evaluators.answers.synonyms import rephrased, reworded
from evaluators.answers.words import SAID, VALUE, tokens_of

SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_STOPS: Final = frozenset(".,!:;()[]{}\"'|*•·=") | {"'s", "->", "=>", "→"}
_REACH: Final = 12
_DAYS: Final = frozenset({"date", "day"})
_PER: Final = frozenset({"a", "an", "and", "to", "'s"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may stand around a value.

    Attributes:
        question: what it lets an answer say.
        own: the type's own words, in their normal form.
        before: prepositions that may stand right before a value of the type.
        is_words: whether values are words, that a capital beside them would make another name.
        is_name: whether they are names, that one of the question could be given instead.
        is_called: whether they are names of a type of their own.
        counts: the words that may stand right behind a number; None where any explained word may.
        may_estimate: whether `about` leaves a value as it is.
        many: whether several values may be joined in one sentence.
    """

    question: Question = NO_QUESTION
    own: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    is_words: bool = False
    is_name: bool = False
    is_called: bool = False
    counts: frozenset[str] | None = None
    may_estimate: bool = False
    many: bool = False


def surroundings_fault(masked: str, around: Surroundings) -> str | None:
    """Say which word around the masked values of a text is not explained; None where all are."""
    known = known_by(around)
    told = masked if "can" in around.own else rephrased(masked, around.question.stems)
    for statement in SENTENCE.split(told):
        if _asks_again(statement, around.question):
            continue
        told = reworded(without_asides(statement, known), around.question.instead)
        fault = _statement_fault(told, around)
        if fault is not None:
            return fault
    return None


def _asks_again(statement: str, question: Question) -> bool:
    """Say whether a sentence only asks the question again, in fewer of its words: `Which day?`."""
    if not statement.rstrip().endswith("?") or VALUE in statement:
        return False
    words = [one.casefold() for one in tokens_of(statement) if one[0].isalnum() or one == VALUE]
    asked = {one for pair in question.pairs for one in pair}
    bare = words_of.FUNCTION | {"will"}
    return (
        words[:1] != []
        and words[0] in asked & _ASKING
        and all(
            one in asked or one in bare or words_of.normal(one) in question.stems - _DOUBTFUL
            for one in words
        )
    )


_ASKING: Final = words_of.words("""
    what which who whose whom when where how is are was were does do did has have can
""")
_DOUBTFUL: Final = frozenset(map(words_of.normal, ("right", "correct", "sure")))


def without_lead_in(text: str, around: Surroundings) -> str:
    """Return a text without the clause ahead that says where the agent looked."""
    return text.removeprefix(lead_in(text, known_by(around))).lstrip()


def known_by(around: Surroundings) -> Known:
    """Return what explains the words of an agent's account of itself."""
    return Known(
        says=lambda word: _is_explained(word, around),
        turns=lambda tokens: _turning_fault(tokens, around) is None,
        is_source=lambda word: words_of.normal(word) in around.question.roles.beside,
    )


def doubtful_word(thought: str, answer: str) -> str | None:
    """Return a word of a thought that leaves its answer in doubt; None where none does.

    What it denies or weighs is its own matter, unless the answer is in it.
    """
    found = _UNSURE.search(thought)
    if found is not None or answer.strip(" .!\"'*").casefold() not in thought.casefold():
        return None if found is None else found.group()
    doubts = words_of.NEGATIONS | words_of.HEDGES | words_of.REVOCATIONS
    tokens = (token.casefold() for token in tokens_of(thought))
    return next((token for token in tokens if token in doubts or token in {"?", "~"}), None)


_UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|guess\w*|unsure|uncertain|unclear|unable"
    r"|assum\w+|not (?:sure|certain|found|find|known|see|there)|(?:don't|do not) know"
    r"|(?:can't|cannot|couldn't|could not|didn't|did not)"
    r" (?:find|see|tell|determine|load|read|open|access))\b|\?",
    re.IGNORECASE,
)


def _statement_fault(  # noqa: C901, PLR0911 - one branch a rule
    statement: str, around: Surroundings
) -> str | None:
    written = tokens_of(statement)
    tokens = [token.casefold() for token in written]
    if not tokens:
        return None
    gives = VALUE in tokens
    if around.counts is not None and f"!{VALUE}" in statement:
        return _unexplained("!")
    fault = _turning_fault(tokens, around) or request_fault(tokens, around.question)
    if fault is not None:
        return fault
    for at, token in enumerate(tokens):
        if not _is_explained(token, around) or _is_another_name(written[at], around.question):
            return _unexplained(written[at])
        if token in _DAYS and _is_another_day(tokens, at, around.question):
            return f"says '{written[at - 1]} {written[at]}'"
        if token in words_of.SOURCES and not _is_source(tokens, at, around):
            return _unexplained(written[at])
    fault = statement_fault(statement, tokens, around.question, is_name=around.is_name) or (
        _subject_fault(written, around) if gives else None
    )
    if fault is not None:
        return fault
    for at in (at for at, token in enumerate(tokens) if token == VALUE):
        ahead = slice(max(0, at - _REACH), at)
        behind = slice(at + 1, at + 1 + _REACH)
        has_unit = tokens[at + 1 : at + 2] != [] and tokens[at + 1][0] == SAID
        if _does_it(tokens, at, around):
            continue
        fault = _before_fault(
            tokens[ahead], written[ahead], around, has_unit=has_unit
        ) or _after_fault(tokens[behind], written[behind], around)
        if fault is not None:
            return fault
    return None


def _does_it(tokens: Sequence[str], at: int, around: Surroundings) -> bool:
    """Say whether things that are counted do what the question says: `accepted by 34 guests`."""
    behind = tokens[at + 1 : at + 2]
    verb = words_of.normal(tokens[at - 2]) if at > 1 and tokens[at - 1] == "by" else ""
    counted = words_of.normal(behind[0]) if behind else ""
    has_unit = behind != [] and behind[0][0] == SAID
    return verb in around.question.verbs and (has_unit or counted in around.question.counted)


def _subject_fault(written: Sequence[str], around: Surroundings) -> str | None:
    roles = around.question.roles
    return subject_fault(
        written, roles, around.own, is_words=around.is_words, is_name=around.is_called
    )


def _unexplained(word: str) -> str:
    if any(map(str.isdigit, word)):
        return f"has other digits beside it: '{word}'"
    folded = word.casefold()
    if folded in words_of.NEGATIONS or folded.endswith("n't"):
        return f"negates with '{word}'"
    if folded in words_of.HEDGES or word in {"?", "…", "~"}:
        return f"hedges with '{word}'"
    if folded in words_of.REVOCATIONS:
        return f"says otherwise with '{word}'"
    return f"says '{word}', which is of neither the question nor such a value"


def _turning_fault(tokens: Sequence[str], around: Surroundings) -> str | None:
    for found in turning_runs(tokens):
        run = found.words
        if around.may_estimate and all(one in _ESTIMATES for one in run):
            continue
        if all(one in around.own for one in run):
            continue
        if all(one in _FREE for one in run):
            continue
        more = found.ahead == VALUE and not around.is_words and run[0] in _COMPARING
        if more or not around.question.lets_turn(found):
            return _unexplained(run[0])
    return None


_ESTIMATES: Final = words_of.words("about around approximately nearly almost roughly")
_COMPARING: Final = words_of.words("more less fewer higher lower later earlier extra again")
_FREE: Final = words_of.words("only")


def _is_explained(token: str, around: Surroundings) -> bool:
    if token in {VALUE, "-"} or token[0] == SAID or token in _STOPS | around.own:
        return True
    if not token[0].isalnum():
        return token == "#" and not around.question.stems.isdisjoint({"id", "ids"})  # noqa: S105
    if any(map(str.isdigit, token)):
        return token in around.question.numbers or words_of.normal(token) in around.question.stems
    if words_of.is_turning(token):
        return True  # each run was looked at
    if _is_known(token, around):
        return True
    parts = list(words_of.parts_of(token))
    frames = words_of.FRAME - around.question.stems  # `right-handed` says more than `right`
    return len(parts) > 1 and all(_is_known(one, around) and one not in frames for one in parts)


def _is_known(word: str, around: Surroundings) -> bool:
    if word in words_of.NEVER:
        return word == "should" and word in around.question.stems
    if word in words_of.FUNCTION or word in words_of.FRAME or word in words_of.SOURCES:
        return True
    if around.may_estimate and word in _ESTIMATES:
        return True
    if word == "user" and "person" in around.question.stems:
        return True
    bare = words_of.normal(word)
    if is_agent(word) and words_of.normal(re.sub(r"[eo]rs?$", "", word)) in around.question.verbs:
        return True
    known = around.own | around.question.stems
    return bare in known or not words_of.derived(word).isdisjoint(around.question.derived)


def _is_another_name(written: str, question: Question) -> bool:
    """Say whether a name only looks like one of the question: `Blume` where it says `Blum`."""
    name = written.casefold().removesuffix("'s").rstrip("'")
    names = {one.removesuffix("'s").rstrip("'") for one in question.names}
    if not written[:1].isupper() or name in names:
        return False
    alike = (one for one in names if words_of.normal(one) == words_of.normal(name))
    titles = {last for first, last in question.pairs if first in question.names - _ASKING}
    return any(one.removesuffix("s") != name.removesuffix("s") or one in titles for one in alike)


def _is_another_day(tokens: Sequence[str], at: int, question: Question) -> bool:
    """Say whether a day is called by what the question asks no day of: `order date`."""
    before = words_of.normal(tokens[at - 1]) if at else ""
    if tuple(tokens[max(0, at - 1) : at + 1]) in question.pairs:
        return False
    if at and tokens[at - 1].endswith("'s") and tokens[at - 1].removesuffix("'s") in question.names:
        return False
    if before == _ORDER and _PLACED in question.verbs:
        return False
    return (
        before != ""
        and before in question.stems - question.verbs
        and before not in question.kinds
        and not (words_of.is_turning(tokens[at - 1]) or tokens[at - 1] in words_of.FUNCTION)
    )


_DATED: Final = words_of.normal("dates")
_ORDER: Final = words_of.normal("order")
_PLACED: Final = words_of.normal("placed")


def _is_source(tokens: Sequence[str], at: int, around: Surroundings) -> bool:
    """Say whether a word names where the value was found, and not what it is."""
    if words_of.normal(tokens[at]) in around.question.stems:
        return True
    ahead = tokens[at - 1] if at > 0 else "."
    behind = tokens[at + 1] if at + 1 < len(tokens) else "."
    is_first = at == 0 or (at == 1 and ahead in words_of.DETERMINERS)
    is_subject = is_first and behind in _COPULAS  # `the table is 47`, `the table is the year 47`
    is_what_it_is = is_subject or ahead in _COPULAS or behind in {VALUE, ":", "=", "-", "->"}
    return ahead[0].isalpha() and not is_what_it_is


_COPULAS: Final = words_of.words("is are was were be been")


def _before_fault(  # noqa: C901, PLR0911, PLR0912 - one return a rule
    tokens: Sequence[str], written: Sequence[str], around: Surroundings, *, has_unit: bool
) -> str | None:
    """Say what right before a value makes it another one; None where nothing does."""
    kept = [token for token in tokens if token not in {'"', "'", "*"}]
    last = kept[-1] if kept else ""
    if last in _NUMBERING and kept[-2:-1] and kept[-2] in _COPULAS and around.counts is not None:
        return f"says '{kept[-2]} {last}'"
    if last == "-" and len(kept) > 1 and kept[-2] in {"-", "<", "="}:
        return _unexplained(last)
    if around.is_words and written and len(written) > 1:
        is_name = written[-1][:1].isupper() and written[-1].casefold() not in words_of.TITLES
        is_name &= words_of.normal(written[-1]) not in around.question.kinds
        is_name &= not _is_of_version(written[-1], around.question)
        if is_name and written[-1][:1].isalpha() and written[-2][:1].isalnum():
            return f"says '{written[-1]}' right before it"
    roles = around.question.roles
    words = [token for token in kept if token not in words_of.DETERMINERS - {"of"}]
    last = words[-1] if words else ""
    if kept and kept[-1] in around.question.counted and around.counts is not None:
        return f"says '{kept[-1]}' right before it"
    if (
        len(kept) > 1
        and last in _NUMBERING
        and words_of.normal(kept[-2]) in around.question.counted
    ):
        return f"says '{kept[-2]} {last}'"
    is_label = len(kept) > 1 and kept[-1] in {":", "=", "->"}
    hangs = is_label and kept[-2] in words_of.PREPOSITIONS - around.question.open_prepositions
    if hangs and around.counts is not None:
        return f"says '{kept[-2]}' and not what"  # `goals for: 23`
    counts_asked = words_of.normal(kept[0]) in around.question.counted if kept else False
    if is_label and not has_unit and not counts_asked and _counts_another(kept[-2], around):
        return f"says '{kept[-2]}' right before it"
    gives = _GIVING.intersection(map(words_of.normal, kept)) & around.question.stems
    if not gives and _is_apposed(kept[-1] if kept else "", around):
        return f"says '{kept[-1]}' right before it"
    if last not in words_of.PREPOSITIONS or last in around.before:
        return None
    if last in around.question.open_prepositions:
        return None
    previous = words_of.normal(words[-2]) if len(words) > 1 else ""
    if last == "of" and previous[:1] == SAID and kept[-1] == "of":
        before = next((one for one in reversed(kept[:-1]) if one[0] != SAID), "")
        if before in words_of.DETERMINERS:
            return None  # `an average rating of`, as the check lets an answer say
    wholes = (
        _NORMAL_WHOLES | around.own | (frozenset() if around.is_words else around.question.stems)
    )
    if last == "of" and previous in wholes - words_of.PARTICLES:
        return None
    if last == "to" and previous in _NORMAL_LINKS:
        return None
    if last == "from" and (previous == _DATED or (previous == "come" and roles.deeds)):
        return None
    if around.many and last != "from":
        return None
    if last == "for" and previous in _SCHEDULED & around.question.stems:
        return None
    if last in _BY_MEANS and previous in around.question.stems and _MEANS & around.question.kinds:
        return None  # `was shipped with`
    return f"says '{last}' right before it"


_SCHEDULED: Final = frozenset(map(words_of.normal, ("scheduled", "planned", "booked", "set")))
_BY_MEANS: Final = words_of.words("with by via through")
_MEANS: Final = frozenset(map(words_of.normal, ("method", "carrier", "courier", "service")))
_NUMBERING: Final = words_of.words("number no id code #")
_NORMAL_LINKS: Final = frozenset(map(words_of.normal, words_of.LINKS_TO))
_NORMAL_WHOLES: Final = frozenset(map(words_of.normal, words_of.WHOLES))


def _is_verb(word: str, around: Surroundings) -> bool:
    if words_of.is_turning(word) or word in words_of.PARTICLES or words_of.looks_like_verb(word):
        return True
    return words_of.normal(word) in around.question.verbs | around.own


# `gave the hostel 4 stars`
_GIVING: Final = frozenset(map(words_of.normal, ("give", "award", "pay", "send", "charge", "cost")))


def _is_apposed(word: str, around: Surroundings) -> bool:
    """Say whether a noun of the question makes the value another thing: `station Saltby`."""
    if around.many or not word[:1].isalpha() or words_of.is_turning(word):
        return False
    if _is_of_version(word, around.question):
        return False
    known = words_of.FUNCTION | words_of.FRAME | words_of.SOURCES | words_of.TITLES
    known |= words_of.PARTICLES
    if word in known or _is_verb(word, around):
        return False
    kinds = around.question.kinds | around.question.counted
    if word in _WHO and any("who" in pair for pair in around.question.pairs):
        return False  # `the user mossy_pete`
    return words_of.normal(word) not in kinds


_WHO: Final = words_of.words("user member")


def _is_of_version(word: str, question: Question) -> bool:
    """Say whether a word is the name of what the question asks a version of: `Lantern 3.8`."""
    known = question.names | {"version"}
    return not _VERSIONS.isdisjoint(question.stems) and word.casefold() in known


_VERSIONS: Final = frozenset(map(words_of.normal, ("version", "release", "edition")))


def _counts_another(label: str, around: Surroundings) -> bool:
    """Say whether a label in the plural counts other things than were asked for."""
    if (
        around.counts is None
        or not label.endswith("s")
        or not label.isalpha()
        or words_of.normal(label) == label
    ):
        return False
    known = (around.counts or frozenset()) | around.question.counted | around.own
    asked = around.question
    return words_of.normal(label) in asked.stems - known and label not in asked.names


def _after_fault(tokens: Sequence[str], written: Sequence[str], around: Surroundings) -> str | None:  # noqa: PLR0911 - one return a rule
    """Say what right behind a value makes it another one; None where nothing does."""
    first = tokens[0] if tokens else ""
    if not first or first == VALUE:
        return None
    if first in _PER and not around.many and tuple(tokens[:2]) not in around.question.pairs:
        return f"says '{written[0]}' right behind it"
    if first == "=":
        return f"says '{written[0]}' right behind it"
    is_kind = words_of.normal(written[0]) in around.question.kinds  # `the Dordogne River`
    if around.is_words and written[0][:1].isupper() and not is_kind:
        return f"says '{written[0]}' right behind it"
    if first in words_of.PARTICLES:
        return None
    frames = words_of.FUNCTION if around.is_words else words_of.FUNCTION | words_of.FRAME
    is_content = first[0].isalpha() and first not in frames
    if (
        is_content
        and first in words_of.FRAME
        and words_of.normal(first) not in (around.question.stems)
    ):
        return f"says '{written[0]}' right behind it"
    late = next((n for n in range(2, len(tokens)) if _is_only_own(tokens, n, around)), None)
    if late is not None and not around.many:
        return f"says '{written[late]}' behind it"
    if (
        around.counts is None
        and is_content
        and not around.many
        and not (_is_verb(first, around) or written[0].isupper())
        and words_of.normal(first) not in around.question.kinds | around.question.counted
    ):
        return f"says '{written[0]}' right behind it"
    if around.counts is not None and is_content and not _counts_as_asked(tokens, around):
        return f"says '{written[0]}' right behind it"
    return None


_SAYING_SO: Final = _COPULAS | words_of.words(
    "status state severity priority label type size level"
)


def _counts_as_asked(tokens: Sequence[str], around: Surroundings) -> bool:
    """Say whether what is counted is what was asked for: `orders`, or `pending orders`."""
    pairs = around.question.pairs
    fits = around.counts or around.question.counted
    next_one = "".join(tokens[1:2])
    ends = not next_one.isalpha() or next_one in words_of.FUNCTION
    ends |= words_of.looks_like_verb(next_one)
    if ends and words_of.normal(tokens[0]) in around.question.stems & around.own:
        return "per" not in around.own  # `residents`, of `inhabitants`
    for at, token in enumerate(tokens):
        if words_of.normal(token) in fits and (at or around.counts):
            return True
        if token in {"customer", "total"}:
            continue  # `38 customer reviews`
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if (token, behind) not in pairs and not any((be, token) in pairs for be in _SAYING_SO):
            return False
    return False


def _is_only_own(tokens: Sequence[str], at: int, around: Surroundings) -> bool:
    """Say whether nothing but the type explains a word behind a preposition: `at the time`."""
    token = tokens[at]
    before = [one for one in tokens[:at] if one not in words_of.DETERMINERS - {"of"}]
    if (
        not before
        or before[-1] not in words_of.PREPOSITIONS
        or token in words_of.FUNCTION | words_of.FRAME
        or not token[0].isalpha()
    ):
        return False
    bare = words_of.normal(token)
    return bare in around.own and bare not in around.question.stems
