"""The words that NLTK sees in a lower-cased English text: `nltk.word_tokenize`, restated.

NLTK itself would fetch a model from the web at its first use, which WebArena's setup asks for by
hand: an installation without it crashes exactly on the tasks with a one-character answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_NUMBER: Final = "##number##"
_CLOSING: Final = r"\u2018\u2019\u201c\u201d\xab\xbb"
_NON_WORD: Final = rf"(?:[)\";}}\]\*:@\'\({{\[{_CLOSING}?!])"
_MULTI: Final = r"(?:\-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_WORDS: Final = re.compile(
    rf"""(
        {_MULTI}
        |
        (?=[^\(\"\`{{\[:;&\#\*@\)}}\]\-,])\S+?
        (?=\s|$|{_NON_WORD}|{_MULTI}|,(?=$|\s|{_NON_WORD}|{_MULTI}))
        |
        \S
    )""",
    re.VERBOSE,
)
_PERIOD: Final = re.compile(rf"[.?!](?=(?P<after>{_NON_WORD}|\s+(?P<next>\S+)))")
_REALIGNED: Final = re.compile(rf"[\"')\]}}{_CLOSING}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_ELLIPSIS: Final = re.compile(r"\.\.+$")
_NUMERIC: Final = re.compile(r"^-?[\.,]?\d[\d,\.-]*\.?$")
_INITIAL: Final = re.compile(r"[^\W\d]\.$")
_PUNCTUATION: Final = (";", ":", ",", ".", "!", "?")

_BEGIN_LOWER: Final = frozenset({"z-holiday", "administrators", "r-revised", "b-week"})
_ABBREVIATED: Final = (
    "a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v"
    " calif chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j"
    " feb fla fri ft g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan"
    " jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c"
    " n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa ph.d prof r r.a r.h r.i r.j"
    " r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t t.j tenn tues u.k u.n"
    " u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr"
)
_ABBREVIATIONS: Final = frozenset({*_ABBREVIATED.split(), ". . "})
_AFTER_NUMBER: Final = (
    "abreast aes business cbot colgate commodities cooper corrections credit dividend financing"
    " genentech henley insider international leisure letters notable pay-fone pegasus pepper review"
    " rj wedgestone who zimmer"
)
_COLLOCATIONS: Final = frozenset(
    {(_NUMBER, word) for word in _AFTER_NUMBER.split()}
    | {("b", name) for name in ("edelman", "levine", "smith", "stewart", "wigton")}
    | {("i", name) for name in ("magnin", "toussie")}
    | {("j", name) for name in ("aron", "fialka", "walter")}
    | {("o", "ludcke")}
)


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


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that `str.lower` has been over, in order.

    Some white space between them belongs to none.
    """
    return [text[one] for one in _realigned(text, list(_slices(text)))]


@dataclass(slots=True)
class _Token:
    text: str
    is_break: bool = False
    is_abbreviation: bool = False

    def __post_init__(self) -> None:
        if self.text in {".", "?", "!"}:
            self.is_break = True
        elif _ELLIPSIS.match(self.text):
            pass  # no sentence that is written in lower case begins after one
        elif self.text.endswith(".") and not self.text.endswith(".."):
            word = self.text[:-1].lower()
            self.is_abbreviation = not {word, word.split("-")[-1]}.isdisjoint(_ABBREVIATIONS)
            self.is_break = not self.is_abbreviation

    @property
    def type(self) -> str:
        return _NUMERIC.sub(_NUMBER, self.text.lower())

    @property
    def type_without_period(self) -> str:
        found = self.type
        return found[:-1] if len(found) > 1 and found.endswith(".") else found

    @property
    def type_without_end(self) -> str:
        return self.type_without_period if self.is_break else self.type


def _slices(text: str) -> Iterator[slice]:
    begin = 0
    for found, context in _contexts(text):
        if _holds_break(context):
            yield slice(begin, found.end())
            begin = found.start("next") if found.group("next") else found.end()
    yield slice(begin, len(text.rstrip()))


def _contexts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each mark that may end a sentence, with the word before it and what follows."""
    word = slice(0, 0)
    last: re.Match[str] | None = None
    for found in _PERIOD.finditer(text):
        space = _last_space(text[word.stop : found.start()])
        before = slice(space + word.stop + 1 if space else word.start, found.start())
        if last is not None and word.stop <= before.start:
            yield last, text[word] + last.group() + last.group("after")
        last, word = found, before
    if last is not None:
        yield last, text[word] + last.group() + last.group("after")


def _last_space(text: str) -> int:
    return max(0, *(text.rfind(one) for one in string.whitespace))


def _holds_break(context: str) -> bool:
    """Whether a sentence ends inside, before the last word."""
    tokens = [
        _Token(found)
        for line in context.split("\n")
        if line.strip()
        for found in _WORDS.findall(line)
    ]
    for one, following in pairwise(tokens):
        _reconsider(one, following)
    return any(one.is_break for one in tokens[:-1])


def _reconsider(token: _Token, following: _Token) -> None:
    if not token.text.endswith("."):
        return
    is_initial = _INITIAL.match(token.text) is not None
    kind = token.type_without_period
    if (kind, following.type_without_end) in _COLLOCATIONS:
        token.is_break = False
    elif is_initial or kind == _NUMBER:
        known = _begins_no_sentence(following)
        # No word that stays a capital in lower case is one of the model's.
        if known or (is_initial and following.text[0].isupper()):
            token.is_break = False


def _begins_no_sentence(token: _Token) -> bool:
    if token.text in _PUNCTUATION:
        return True
    return token.text[0].islower() and token.type_without_end not in _BEGIN_LOWER


def _realigned(text: str, found: list[slice]) -> Iterator[slice]:
    """Give closing quotes and brackets after an end to the sentence that they close."""
    moved = 0
    for one, following in pairwise([*found, None]):
        if one is None:
            return
        sentence = slice(one.start + moved, one.stop)
        closing = None if following is None else _REALIGNED.match(text[following])
        moved = 0
        if following is not None and closing is not None:
            yield slice(sentence.start, following.start + len(closing.group().rstrip()))
            moved = closing.end()
        elif text[sentence]:
            yield sentence


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
