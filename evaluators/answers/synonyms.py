"""Other words for those of a question: an answer is read with the question's own in their place.

So they are looked at as the question's are: who does what, and to what. A word that the question
itself has is left as it is, and so is one of which the question has two: it tells them apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from evaluators.answers.words import FUNCTION, PAST, SAID, SOURCES, TOKEN, VALUE, normal

_IS_LONG: Final = re.compile(
    rf"\b(route|way|trip|journey|walk|drive|ride|it)\b([^{VALUE},:;]*{VALUE}[{SAID} ]*) long\b",
    re.IGNORECASE,
)
# Phrasings, each with what says the same, and a word that the question must have for it.
_PHRASINGS: Final = (
    (_IS_LONG, r"\1\2", "distance"),
    (re.compile(r"\b(you|one) can\b(?! not|not)", re.IGNORECASE), r"\1", ""),
    (re.compile(r"\bcan be made(?= (?:at|on|by|via|through)\b)", re.IGNORECASE), "are", ""),
    (re.compile(r"\b(?:listed|filed|sold) under(?= )", re.IGNORECASE), "listed as", ""),
    (re.compile(r"\bis home to\b", re.IGNORECASE), "has", "reside"),
    (re.compile(r"\bwas home to\b", re.IGNORECASE), "had", "reside"),
    (re.compile(r"\bbecause of(?= )", re.IGNORECASE), "for", "reason"),
    (
        re.compile(r"\b(?:is|are|stays?|remains?) open (?:until|till)\b", re.IGNORECASE),
        "closes at",
        "close",
    ),
)


@cache
def _groups() -> tuple[tuple[Sequence[Phrase], Sequence[Phrase]], ...]:
    """Return what a question may say, and what an answer may for it: the lines of the table."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(_read(line for line in lines if not line.startswith("#")))


def _read(lines: Iterable[str]) -> Iterator[tuple[Sequence[Phrase], Sequence[Phrase]]]:
    for line in lines:
        asked, directs, said = line.partition(" > ")
        phrases = [tuple(one.split()) for one in (said or asked).strip().split(", ")]
        yield ([tuple(asked.split())] if directs else phrases), phrases


Phrase = tuple[str, ...]
_TABLE: Final = Path(__file__).with_suffix(".txt")
_NAME: Final = re.compile(r"[A-Z][a-z]")
_AGENT: Final = re.compile(r"[eo]rs?$")


def other_words(tokens: Sequence[str], known: frozenset[str]) -> Mapping[Phrase, str]:
    """Return what an answer may say instead of words of a question, each with the question's.

    Args:
        tokens: of the question, in lower case.
        known: the normal forms of words that it explains by itself.
    """
    instead: dict[Phrase, str] = {}
    there = frozenset(map(normal, tokens))
    for asked, group in _groups():
        near = (one for one in asked if there.issuperset(map(normal, one)))
        held = [found for one in near if (found := _held(one, tokens)) is not None]
        held = [
            one
            for one in held
            if any(one.endswith("ed") is said[-1].endswith("ed") for said in asked)
        ]
        if len({tuple(map(normal, one.split())) for one in held}) != 1:
            continue
        for one in group:
            if not known.issuperset(map(normal, one)):
                instead.setdefault(one, held[0])
    return instead


def _held(phrase: Sequence[str], tokens: Sequence[str]) -> str | None:
    """Return a phrase as it stands in a text; None where it does not."""
    for at in range(len(tokens) - len(phrase) + 1):
        piece = tokens[at : at + len(phrase)]
        if all(map(_is_same, phrase, piece)):
            return " ".join(piece)
    return None


def _is_same(word: str, said: str) -> bool:
    if normal(word) != normal(said):
        return False
    is_form = said == word if word in PAST else said.endswith("ed") or not word.endswith("ed")
    return is_form and bool(_AGENT.search(word)) is bool(_AGENT.search(said))


def rephrased(text: str, stems: frozenset[str]) -> str:
    """Return a text with phrasings that say no more than others in their place."""
    for pattern, instead, stem in _PHRASINGS:
        if stem == "" or stem in stems:
            text = pattern.sub(instead, text)
    return text


def reworded(text: str, instead: Mapping[Phrase, str]) -> str:
    """Return a text in the words of the question."""
    found = list(TOKEN.finditer(text))
    tokens = [one.group().casefold() for one in found]
    starting = _by_first(instead)
    pieces, end, at = list[str](), 0, 0
    while at < len(tokens):
        # `longest page` is the question's `longest article`; `the page says` is where it was read.
        is_source = tokens[at] in SOURCES and (
            at == 0 or tokens[at - 1] in FUNCTION or not tokens[at - 1].isalpha()
        )
        is_name = at > 0 and _NAME.match(found[at].group()) and tokens[at - 1][0].isalnum()
        if is_source or is_name:
            at += 1
            continue
        for phrase in starting.get(normal(tokens[at]), ()):
            if _held(phrase, tokens[at : at + len(phrase)]) is not None:
                last = found[at + len(phrase) - 1].end()
                owner = "'s" if tokens[at + len(phrase) - 1].endswith("'s") else ""
                pieces += text[end : found[at].start()], instead[phrase], owner
                end, at = last, at + len(phrase) - 1
                break
        at += 1
    return "".join((*pieces, text[end:]))


def _by_first(
    instead: Mapping[Phrase, str],
) -> Mapping[str, Sequence[Phrase]]:
    starting: dict[str, list[Phrase]] = defaultdict(list)
    for phrase in sorted(instead, key=len, reverse=True):
        starting[normal(phrase[0])].append(phrase)
    return starting
