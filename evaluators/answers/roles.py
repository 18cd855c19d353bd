"""What the words of a question are in it: what it asks for, of what, and what only says which."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evaluators.answers import words as words_of
from evaluators.answers.words import normal, tokens_of

# They make a noun belong to the one before it.
_TYING: Final = words_of.words("of in on at with by about within between near behind beside")
PREPOSITIONS: Final = _TYING | words_of.words("for from to under over into near behind through")
WAYS: Final = words_of.words("from to")
BE: Final = words_of.words("is are was were be been being 's it's that's")
AUXILIARIES: Final = BE | words_of.words("has have had do does did can will would should must")
ADVERBS: Final = words_of.words("already also first last ever just only have has had most")
ARTICLES: Final = words_of.DETERMINERS - words_of.words("of that these those")
_ASKING: Final = words_of.words("who whom whose which what when where how why")
_RELATIVE: Final = words_of.words("that who which whose where")
_SUBJECT: Final = words_of.words("who which what that")
_HAVE: Final = words_of.words("has have had")
_DO: Final = words_of.words("do does did")
_PREDICATES: Final = words_of.words("""
    open closed free available accessible due old long tall wide deep
""")
_TIMES: Final = frozenset(
    map(
        normal,
        words_of.words("""
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays january february march april may june july august september october
    november december weekday weekdays weekend weekends morning afternoon evening night today
    """),
    )
)
_SENTENCE: Final = re.compile(r"(?<=[.!?:])\s+|\n+")
_ASKS: Final = re.compile(
    r"\?|\b(?:who|whom|whose|which|what|when|where|how|why)\b|^(?:please )?(?:answer|look|open|take"
    r"|find|use|list|tell|show|go|read|give|say|report|return|count|name|get|work)\b",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"\"[^\"]*\"|“[^”]*”")
# `?` of a title is no end of a question.
_QUOTE_END: Final = re.compile(r"[?.!:](?=[\"”'])")
# Where the question takes its facts from.
SOURCE: Final = re.compile(
    r"(?:,\s*(?:by|as)|\baccording to|\bbased on|\b(?:going|judging) by|\bas per)\s[^,?.;:]*",
    re.IGNORECASE,
)
_HOW: Final = re.compile(r"\bhow (\w+)", re.IGNORECASE)
# `due` of `when is it due?`
_IS_SO: Final = re.compile(r"\b(?:when|where) (?:is|are|was|were)\b[^?]* ([a-z]+)\?")
# `does the train to Vienna depart?`
_ENDS_WITH_VERB: Final = re.compile(r"\b(?:do|does|did) .*\b(?!the )[a-z]+ [A-Z]\w* [a-z]+ \?$")
_COMPARED: Final = re.compile(
    r"\bhow (?:much|many) (\w+er)\b(?! (?!is\b|was\b|has\b|does\b)\w+s\b)"
)
_ANAPHOR: Final = re.compile(r"\b(?:it|its|he|him|his|she|her|they|them|their|there|one)\b")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun and what stands with it.

    Attributes:
        words: their normal forms.
        at, end: where in the tokens.
        preposition: right before it; empty without one.
        governor: the words of the phrase that it belongs to: `lighthouse` of `on Gull Holm`.
        is_named: whether a capital or a number is in it.
        is_owner: whether it ends with `'s`.
    """

    words: tuple[str, ...]
    at: int
    end: int
    preposition: str = ""
    governor: tuple[str, ...] = ()
    is_named: bool = False
    is_owner: bool = False


@dataclass(frozen=True, slots=True)
class Roles:
    """What the words of a question are in it, in their normal forms.

    Attributes:
        asked: what it asks for.
        core: its nouns and verbs that are neither of the following three.
        dependent: nouns that only say which one another noun means.
        background: words of sentences ahead of the question.
        beside: words of sentences behind it, and of what it names as its source.
        subjects: its nouns without a preposition, or of what it asks for.
        objects: dependent ones that a relative clause names without a preposition.
        loose: dependent ones that a label may name for the other: `Bruges` of `the carillon of`.
        modifiers: words that only say which kind another is: `customer` of `customer service`.
        governors: each dependent noun with the nouns that it belongs to.
        deeds: verbs of which the answer is the subject.
        counted_deeds: verbs of what it counts.
        others: verbs that have another subject.
        aside: verbs that only say which one a noun means: `the request that Ada opened`.
        bases: verbs that are written like nouns.
        passives: verbs that something suffers: `assigned` of `who is assigned to it?`.
        pairs: each noun that stands right before a name, with it.
        ways: the nouns behind `from` and `to`, each with that.
        agents: its nouns for one who does something.
        doers: the verbs behind `does`, each with the words of who does it.
    """

    asked: frozenset[str] = frozenset()
    core: frozenset[str] = frozenset()
    dependent: frozenset[str] = frozenset()
    background: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    modifiers: frozenset[str] = frozenset()
    governors: frozenset[tuple[str, str]] = frozenset()
    deeds: frozenset[str] = frozenset()
    counted_deeds: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    aside: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    passives: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    ways: frozenset[tuple[str, str]] = frozenset()
    agents: frozenset[str] = frozenset()
    doers: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_light(self) -> bool:
        """Whether its verbs say no more than its nouns do: `when did I place my order?`."""
        return (self.others | self.bases | self.deeds | self.counted_deeds | self.aside) <= _LIGHT

    @property
    def nouns(self) -> frozenset[str]:
        return self.core | self.dependent | self.background | self.beside | self.modifiers


_LIGHT: Final = frozenset(
    map(normal, ("place", "make", "have", "get", "receive", "write", "give", "leave", "submit"))
)
NO_ROLES: Final = Roles()


def read_roles(bare: str, asked: frozenset[str]) -> Roles:
    """Return what the words of a question are in it.

    Args:
        asked: the nouns behind `which`, `what` and `how many`.
    """
    bare = _QUOTE_END.sub("", bare)
    sentences = [one for one in _SENTENCE.split(bare) if one.strip()]
    asking = [one for one in sentences if _ASKS.search(one)] or sentences
    last = max(at for at, one in enumerate(sentences) if one in asking)
    ahead = [one for one in sentences[:last] if one not in asking]
    beside = [one for one in sentences[last:] if one not in asking]
    beside += [found.group() for one in asking for found in SOURCE.finditer(one)]
    asking = [SOURCE.sub(" ,", one) for one in asking]
    asked |= {normal(found[1]) for one in asking for found in _HOW.finditer(one)}
    words: Mapping[str, set[str]] = defaultdict(set)
    pairs: Mapping[str, set[tuple[str, str]]] = defaultdict(set)
    for sentence in asking:
        _read_sentence(sentence, asked, words, pairs)
    core = words["core"] | words["deeds"] | asked
    spoken = core | words["dependent"] | words["others"] | words["bases"] | words["aside"]
    is_meant = _ANAPHOR.search(" ".join(asking).casefold()) is not None
    return Roles(
        asked=asked,
        core=frozenset(words["core"] | words["deeds"] | words["others"] | words["bases"]),
        dependent=frozenset(words["dependent"] - core),
        background=frozenset({*_background(ahead, is_meant=is_meant)} - spoken),
        beside=frozenset({*_background(beside, is_meant=False)} - spoken),
        subjects=frozenset(words["subjects"] - asked - words["dependent"]),
        objects=frozenset(words["objects"]),
        loose=frozenset(words["loose"] - words["core"]),
        modifiers=frozenset(words["modifiers"] - words["heads"] - words["dependent"]),
        governors=frozenset(pairs["governors"]),
        deeds=frozenset(words["deeds"]),
        counted_deeds=frozenset(words["counted_deeds"]),
        others=frozenset(words["others"] - words["deeds"]),
        aside=frozenset(words["aside"] - words["deeds"] - words["others"] - words["main"]),
        bases=frozenset(words["bases"] - words["core"]),
        passives=frozenset(words["passives"]),
        pairs=frozenset(pairs["pairs"]),
        ways=frozenset(pairs["ways"]),
        doers=frozenset(pairs["doers"]),
        agents=frozenset(words["agents"]),
    )


def _read_sentence(  # noqa: C901 - one branch a role
    sentence: str,
    asked: frozenset[str],
    words: Mapping[str, set[str]],
    pairs: Mapping[str, set[tuple[str, str]]],
) -> None:
    """Add what the words of a sentence are to the sets of each role."""
    written = unquoted(tokens_of(sentence))
    tokens = [token.casefold() for token in written]
    bases = {*_base_verbs(unquoted(tokens_of(_TITLE.sub("It", sentence))))}
    bases |= {normal(found[1]) for found in _IS_SO.finditer(sentence.casefold())}
    words["bases"] |= bases
    words["passives"].update(_passives(tokens))
    asides = _relative_clauses(written, asked)
    does = next((at for at, one in enumerate(tokens) if one in _DO), len(tokens))
    is_asked = tokens[:1] != [] and tokens[0] in _SUBJECT and {*_DO, *BE}.isdisjoint(tokens)
    subject: Phrase | None = None
    for phrase in phrases(written, asked, bases):
        if phrase.at > does and (subject is None or subject.is_owner):
            subject = phrase
        words["heads"].add(phrase.words[-1])
        pairs["ways"] |= {(one, way) for one in phrase.words for way in WAYS & {phrase.preposition}}
        if not phrase.is_named:
            words["modifiers"].update(phrase.words[:-1])
        antecedent = asides.get(phrase.at, ())
        governor = phrase.governor or (antecedent if phrase.preposition != "for" else ())
        if antecedent and phrase.preposition == "":
            words["objects"].update(phrase.words)
        if governor and not _TIMES.issuperset(phrase.words):
            words["dependent"].update(phrase.words)
            pairs["governors"].update((one, of) for one in phrase.words for of in governor)
            if phrase.preposition in {"of", "with"} and phrase.is_named:
                words["loose"].update(phrase.words)
            continue
        words["core"].update(phrase.words)
        is_first = phrase.preposition == "" and not is_asked and asked.isdisjoint(phrase.words)
        if phrase.at not in asides and (phrase.preposition in {"of", "for"} or is_first):
            words["subjects"].add(phrase.words[-1])
            is_asked |= is_first
    for at, role in _verbs(written, asked, asides):
        words[role].add(normal(tokens[at]))
        if role == "deeds" and tokens[:2] == ["how", "many"]:
            words["counted_deeds"].add(normal(tokens[at]))
        if subject is not None and at > subject.at and role == "others":
            pairs["doers"].update((normal(tokens[at]), one) for one in subject.words)
    if subject is not None:
        pairs["doers"].update((verb, one) for verb in bases for one in subject.words)
    if tokens[does + 1 : does + 2] != [] and tokens[does + 1].endswith(
        "ing"
    ):  # `does driving save`
        pairs["doers"].update((verb, normal(tokens[does + 1])) for verb in bases)
    words["counted_deeds"] |= {normal(one) for one in _COMPARED.findall(sentence.casefold())}
    pairs["pairs"].update(named(written))
    words["agents"].update(one.removesuffix("s") for one in tokens if is_agent(one))


def _passives(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the participles behind a form of `be`, unless who does it is named or asked for."""
    start = next((at for at, one in enumerate(tokens) if one in BE), len(tokens))
    for at in range(start + 1, len(tokens)):
        between = tokens[start + 1 : at]
        if tokens[at] in _RELATIVE or "by" in tokens:
            return
        if tokens[at].endswith("ed") and tokens[at - 1] not in ARTICLES and between[-1:] != [","]:
            yield normal(tokens[at])


def unquoted(written: Sequence[str]) -> list[str]:
    """Return tokens without quotes, and without the slashes of paths."""
    return [token for token in written if token not in {'"', "'", "/", "#"}]


def is_agent(word: str) -> bool:
    """Say whether a word is written as one who does something: `reviewer`."""
    return len(word) > 4 and word.endswith(("er", "or", "ers", "ors"))  # noqa: PLR2004 - `her`


def _background(sentences: Sequence[str], *, is_meant: bool) -> Iterator[str]:
    """Yield the words of sentences that do not ask; not those that `it` or `she` may mean."""
    for sentence in sentences:
        written = tokens_of(sentence)
        found = list(phrases(written))
        meant = {word for one in (*found[:1], *found[-1:]) for word in one.words}
        for token in written:
            is_word = token[:1].isalpha() and token.casefold() not in words_of.FUNCTION
            named = token[:1].isupper() or normal(token) in meant
            if is_word and not (is_meant and named):
                yield normal(token)


def _relative_clauses(
    written: Sequence[str], asked: frozenset[str]
) -> Mapping[int, tuple[str, ...]]:
    """Return where relative clauses stand that are not of what is asked for, with their noun.

    Each reaches to the verb behind its own.
    """
    tokens = [token.casefold() for token in written]
    heads = list(phrases(written))
    inside: dict[int, tuple[str, ...]] = {}
    at = 1
    while at < len(tokens):
        ahead = [one for one in heads if one.end <= at]
        follows = ahead != [] and ahead[-1].end >= at - 1
        if tokens[at] in _RELATIVE and follows and tokens[at - 1] != ",":
            is_name = tokens[ahead[-1].at - 1] not in ARTICLES
            tied = ahead[-2:-1] if ahead[-1].preposition in _TYING and is_name else []
            is_asked = any(asked & set(one.words) for one in (ahead[-1], *tied))
            verbs = 0
            while at < len(tokens) and tokens[at] not in {",", ";", "?", ".", "and"}:
                previous = tokens[at - 1] in AUXILIARIES or tokens[at - 1] in ADVERBS
                verbs += is_verb(written, at) and not previous
                if verbs > 1:
                    break
                if not is_asked:
                    inside[at] = ahead[-1].words
                at += 1
        at += 1
    return inside


def _verbs(
    written: Sequence[str], asked: frozenset[str], asides: Collection[int]
) -> Iterator[tuple[int, str]]:
    """Yield where verbs stand, each with whose it is: the answer's or another's."""
    tokens = [token.casefold() for token in written]
    is_subject = tokens[:1] != [] and tokens[0] in _SUBJECT
    is_first = (is_subject or tokens[:2] == ["how", "many"]) and _DO.isdisjoint(tokens)
    for at, token in enumerate(tokens):
        if not is_verb(written, at) or token in AUXILIARIES:
            continue
        before = at - 1
        while before >= 0 and tokens[before] in ADVERBS:
            before -= 1
        word = tokens[before] if before >= 0 else ""
        is_passive = word in BE or not _DO.isdisjoint(tokens[:before])
        helped = BE | (_HAVE if tokens[0] == "how" else frozenset())
        first, is_first = is_first and helped.isdisjoint(tokens[:at]), False
        if at in asides:
            yield at, "aside"
        elif token.endswith("ing") and word not in BE and not _DO.isdisjoint(tokens):
            continue  # `did I order a standing desk`
        elif (normal(token) in asked and not first) or word in BE or word == "":
            yield at, "main"
        elif not is_passive and (first or word in _RELATIVE | _ASKING or normal(word) in asked):
            yield at, "deeds"
        elif word not in PREPOSITIONS | words_of.DETERMINERS | {"and", ",", "or"}:
            yield at, "others"


def _base_verbs(written: Sequence[str]) -> Iterator[str]:
    """Yield the verb behind `does` where it is written like a noun: `does the soup cook?`."""
    tokens = [token.casefold() for token in written]
    if _ENDS_WITH_VERB.search(" ".join(written)) and _is_noun(written, len(written) - 2):
        yield normal(tokens[-2])
        return
    start = next((at for at, one in enumerate(tokens) if one in _DO), None)
    if start is None:
        return
    start += tokens[start + 1 : start + 2] != [] and tokens[start + 1].endswith("ing")
    if any(words_of.looks_like_verb(one) or one in {"have", "be"} for one in tokens[start + 1 :]):
        return
    for at in range(start + 1, len(tokens)):
        behind = tokens[at + 1] if at + 1 < len(tokens) else "?"
        ends = not behind[:1].isalnum() or behind in words_of.DETERMINERS | PREPOSITIONS - {"of"}
        does = _is_noun(written, at - 1) or tokens[at - 1].endswith("ing")
        if ends and does and _is_noun(written, at) and written[at] != "It":
            yield normal(tokens[at])
            return


def phrases(
    written: Sequence[str],
    asked: Collection[str] = frozenset(),
    verbs: Collection[str] = frozenset(),
) -> Iterator[Phrase]:
    """Yield the noun phrases of a sentence, each with what it belongs to.

    Args:
        written: the tokens of the sentence.
        asked: nouns that others do not belong to.
        verbs: that are written like nouns.
    """
    preposition = ""
    last: Phrase | None = None
    at = 0
    while at < len(written):
        token = written[at].casefold()
        if token == "to" and _is_infinitive(written[at + 1 :]):  # noqa: S105 - a word
            preposition, last = "", None
            at += 1
        elif token in PREPOSITIONS:
            preposition = "near" if written[at - 1] == "next" and at else token
        elif _is_noun(written, at, verbs):
            end = at + 1
            while (
                end < len(written)
                and not written[end - 1].casefold().endswith("'s")
                and _is_noun(written, end, verbs)
            ):
                end += 1
            is_named = any(not one[:1].islower() for one in written[at:end])
            last = Phrase(
                tuple(normal(one) for one in written[at:end]),
                at,
                end,
                preposition,
                _governor(last, preposition, asked, is_named=is_named),
                is_named,
                is_owner=written[end - 1].casefold().endswith("'s"),
            )
            yield last
            at, preposition = end, ""
            continue
        elif token == "and" and last is not None and last.preposition:  # noqa: S105 - a word
            preposition = last.preposition
        elif token not in words_of.DETERMINERS and not words_of.is_turning(token):
            preposition, last = "", None
        at += 1


def _governor(
    last: Phrase | None, preposition: str, asked: Collection[str], *, is_named: bool
) -> tuple[str, ...]:
    """Return the words that a noun belongs to behind another and a preposition."""
    goes = preposition in WAYS and last is not None and last.preposition == ""
    if (
        last is None
        or not (preposition in _TYING or goes)
        or (preposition == "by" and not is_named)
    ):
        return ()
    is_whole = preposition == "of" and not _WHOLES.isdisjoint(last.words)
    if is_whole or not words_of.FRAME.isdisjoint(last.words):
        return last.governor  # the island of Veyra is Veyra
    if preposition == last.preposition == "between":
        return last.governor
    return () if any(one in asked for one in last.words) else last.words


def _is_infinitive(behind: Sequence[str]) -> bool:
    follows = behind[1].casefold() if len(behind) > 1 else ""
    is_base = behind[:1] != [] and behind[0].islower()
    return is_base and (follows in ARTICLES or follows in PREPOSITIONS - {"of"})


_WHOLES: Final = words_of.WHOLES | {normal("role")}
_DATED: Final = words_of.words("time date day deadline hour hours")


def is_verb(tokens: Sequence[str], at: int) -> bool:
    """Say whether a word is a verb; behind a determiner none is, nor is a name."""
    if tokens[at].casefold() in AUXILIARIES:
        return True
    if tokens[at].endswith("ing") and tokens[at + 1 : at + 2] and tokens[at + 1] in _DATED:
        return False  # `the closing time`
    if at == 0 and tokens[1:2] and tokens[1] in AUXILIARIES:
        return False
    is_named = at > 0 and (tokens[at - 1].casefold() in ARTICLES or tokens[at][:1].isupper())
    return tokens[at][:1].isalpha() and not is_named and words_of.looks_like_verb(tokens[at])


def _is_noun(written: Sequence[str], at: int, verbs: Collection[str] = frozenset()) -> bool:
    token = written[at].casefold()
    return (
        token[:1].isalpha()
        and not words_of.is_turning(token)
        and normal(token) not in verbs
        and written[at] not in _PREDICATES
        and token not in words_of.FUNCTION | PREPOSITIONS
        and not is_verb(written, at)
    )


def named(written: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each noun that stands right before a name: `forum Lantern`."""
    for at, (noun, name) in enumerate(pairwise(written)):
        if noun[:1].islower() and _is_noun(written, at) and name[:1].isupper():
            yield normal(noun), name.casefold()
