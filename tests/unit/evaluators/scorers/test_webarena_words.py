"""NLTK's words, restated: held against NLTK itself, with its own English model."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable

import pytest
from quick_cases import SLOW, quick_first

from evaluators.scorers.webarena.words import sentences, words

# NLTK 3.10 reads `\\w` and `\\s` with the library `regex`, the releases before it with `re`, as
# here: they differ in digits such as the lowered 2, in combining marks and in U+001C to U+001F.
_PIECES = (
    "0 2 12 3.5 1,234 $5 cannot it's 'tis d'ye gonna wanna n't don't é 中 ” “ ’ « » … ... .... --"
    " ? ! ?! \" '' `` ( ) [ ] { } < > : ; , * # & @ % - . ' ß ٣ \U0001d400 z-holiday administrators"
)
SEPARATORS = [*[" "] * 6, "", "", ". ", ".", "! ", "? ", ", ", ".\n", "\n", "\t", '." ', ".) "]
NOISE = "ab. 0?!'\"(),\n-x:;”’`…é*"


@pytest.fixture(scope="module")
def of_nltk() -> Callable[[str], list[str]]:
    """`nltk.word_tokenize` with the model that it would download."""
    punkt = pytest.importorskip("nltk.tokenize.punkt")
    destructive = pytest.importorskip("nltk.tokenize.destructive")
    english = pytest.importorskip("punkt.data.english")
    model = punkt.PunktParameters()
    model.abbrev_types = set(english.ABBREV_TYPES)
    model.collocations = set(english.COLLOCATIONS)
    model.sent_starters = set(english.SENT_STARTERS)
    model.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
    splitter, tokenizer = punkt.PunktSentenceTokenizer(model), destructive.NLTKWordTokenizer()
    return lambda text: [
        word for one in splitter.tokenize(text) for word in tokenizer.tokenize(one)
    ]


@SLOW
@pytest.mark.parametrize("texts", quick_first([150, 3000]))
def test_words_are_those_of_nltk(of_nltk: Callable[[str], list[str]], texts: int) -> None:
    english = pytest.importorskip("punkt.data.english")
    pieces = [
        *_PIECES.split(),
        *sorted(english.ABBREV_TYPES),
        *sorted({word for pair in english.COLLOCATIONS for word in pair}),
        *sorted(english.SENT_STARTERS),
        *sorted(english.ORTHO_CONTEXT)[::40],
    ]
    draw = random.Random(13)
    for _ in range(texts):
        text = "".join(
            draw.choice(pieces) + draw.choice(SEPARATORS) for _ in range(draw.randint(1, 14))
        ).lower()
        assert words(text) == of_nltk(text), repr(text)
        noise = "".join(draw.choice(NOISE) for _ in range(draw.randint(1, 25)))
        assert words(noise) == of_nltk(noise), repr(noise)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it is 0. nothing more", ["it", "is", "0.", "nothing", "more"]),  # no sentence ends there
        ("it is 0. b-week", ["it", "is", "0", ".", "b-week"]),  # of 20,366 words one of four
        ("see dr. who", ["see", "dr.", "who"]),
        ("0! and 2?", ["0", "!", "and", "2", "?"]),
        ('he said "0." then', ["he", "said", "``", "0", ".", "''", "then"]),
    ],
)
def test_where_a_sentence_ends_decides_what_a_word_is(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_nothing_has_no_words() -> None:
    assert words("") == [] == sentences("")
    assert words(" \n ") == []
