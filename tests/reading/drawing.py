"""Draws of pages, plain texts of them, and the share of sentences that are said once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape
from random import Random
from typing import Final

_TAG: Final = re.compile(r"<[^>]+>")
_LINK: Final = re.compile(r'href="(/wiki/A?/?[^":?#]+)"')
_TARGET: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_QUOTED: Final = re.compile(r"(?m)^>.*$")
_BETWEEN: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER: Final = re.compile(r"£?\d[\d.,]*")
_NAME: Final = re.compile(r"@\w+|(?<=[^.!?:] )[A-Z][\w'&]+(?: [A-Z][\w'&]+)*")


def drawn(kind: str, ids: Iterable[str], number: int, seed: int) -> Sequence[str]:
    """Return so many ids of a kind, the same for a seed however the database orders them."""
    return Random(f"{seed}/{kind}").sample(sorted(set(ids)), number)


def links(page: str) -> Sequence[str]:
    """Return the articles that a page of the encyclopedia's search lists."""
    return list(dict.fromkeys(_LINK.findall(page)))


def plain(text: str) -> str:
    """Return a text without its markup and without empty lines."""
    lines = unescape(_TAG.sub("\n", text)).replace("\r", "").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def share(texts: Iterable[str]) -> tuple[int, int]:
    """Return how many sentences of two words and more there are, and how many of them differ.

    Names and numbers are masked; quoted lines and the targets of links are left out.
    """
    sentences = [
        _masked(sentence.strip())
        for text in texts
        for sentence in _BETWEEN.split(_TARGET.sub(r"\1", _QUOTED.sub("", plain(text))))
        if len(sentence.split()) > 1
    ]
    return len(sentences), len(set(sentences))


def _masked(sentence: str) -> str:
    return _NAME.sub("@", _NUMBER.sub("#", sentence)).lower()
