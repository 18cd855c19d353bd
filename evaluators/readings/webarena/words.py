"""The words that NLTK sees in a lower-cased English text: `nltk.word_tokenize`, restated.

NLTK itself would fetch a model from the web at its first use, which WebArena's setup asks for by
hand: an installation without it crashes exactly on the tasks with a one-character answer.
"""

from __future__ import annotations

import re
from typing import Final

from evaluators.readings.webarena.sentences import sentences

_BEFORE: Final = (
    (re.compile(r"([«“\u2018„]|[`]+)"), r" \1 "),
    (re.compile(r"^\""), r"``"),
    (re.compile(r"(``)"), r" \1 "),
    (re.compile(r"([ \(\[{<])(\"|\'{2})"), r"\1 `` "),
    (re.compile(r"(?i)(?<!\w)(\')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)"), r"\1 "),
    (re.compile(r"([^\.])(\.)([\]\)}>\"'»”’ ]*+)\s*$"), r"\1 \2 \3 "),
    (re.compile(r"([:,])([^\d])"), r" \1 \2"),
    (re.compile(r"([:,])$"), r" \1 "),
    (re.compile(r"\.{2,}"), r" \g<0> "),
    (re.compile(r"[;@#$%&]"), r" \g<0> "),
    (re.compile(r"[\u2012-\u2015]"), r" \g<0> "),
    (re.compile(r"([^\.])(\.)([\]\)}>\"']*)\s*$"), r"\1 \2\3 "),
    (re.compile(r"[?!]"), r" \g<0> "),
    (re.compile(r"([^'])' "), r"\1 ' "),
    (re.compile(r"[*]"), r" \g<0> "),
    (re.compile(r"[\]\[\(\)\{\}\<\>]"), r" \g<0> "),
    (re.compile(r"--"), r" -- "),
)
_AFTER: Final = (
    (re.compile(r"([»”’])"), r" \1 "),
    (re.compile(r"''"), " '' "),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^' ])('[sS]|'[mM]|'[dD]|') "), r"\1 \2 "),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
    (re.compile(r"(?i)\b(can)(not)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(d)('ye)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gim)(me)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gon)(na)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(got)(ta)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(lem)(me)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(more)('n)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(wan)(na)(?=\s)"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(is)\b"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(was)\b"), r" \1 \2 "),
)


def words(text: str) -> list[str]:
    """Return the tokens of a text that `str.lower` has been over."""
    return [word for sentence in sentences(text) for word in _words_of(sentence)]


def _words_of(sentence: str) -> list[str]:
    for pattern, by in _BEFORE:
        sentence = pattern.sub(by, sentence)
    sentence = f" {sentence} "
    for pattern, by in _AFTER:
        sentence = pattern.sub(by, sentence)
    return sentence.split()
