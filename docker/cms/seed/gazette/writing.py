"""Sentences with gaps, and the blocks that WordPress' editor keeps text in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from datetime import datetime
from random import Random

from gazette.fitted import followers
from gazette.sources import World

GAP = re.compile(r"(?:\b([Aa]) )?\{([a-z]+?)(\d?)(\^?)\}")
MARK = re.compile(r"\*\*|\[\[|\]\]")


class Filler:
    """Fills gaps with words; within one story the same gap gets the same word."""

    def __init__(
        self,
        rng: Random,
        world: World,
        town: Mapping[str, Sequence[str]],
        own: Mapping[str, Sequence[str]],
        date: datetime,
    ) -> None:
        self._rng = rng
        self._world = world
        self._lists = {**town, **own}
        self._followers = followers()
        self._words = {"month": date.strftime("%B"), "year": str(date.year)}
        self._said = set(self._words)

    def again(self, rng: Random, said: Iterable[str]) -> Filler:
        """Return one with the same words, of which its text has only those that are said."""
        other = copy(self)
        other.restart(rng, said)
        return other

    def restart(self, rng: Random, said: Iterable[str]) -> None:
        """Keep the words, and draw further ones from another stream of chance."""
        self._rng, self._words, self._said = rng, dict(self._words), {"month", "year", *said}

    @property
    def said(self) -> AbstractSet[str]:
        """Return the gaps that its text has filled."""
        return frozenset(self._said)

    def alter(self, name: str, word: str) -> None:
        """Say what a gap would hold, should the text have it."""
        self._words[name] = word

    def peek(self, name: str, otherwise: str = "") -> str:
        """Return a gap's word if it has one."""
        return self._words.get(name, otherwise)

    def say(self, text: str) -> str:
        """Return a text without gaps."""
        return GAP.sub(self._fill, text)

    def one_of(self, texts: Sequence[str]) -> str:
        """Return one of the texts, filled."""
        return self.say(self._rng.choice(texts))

    def known(self, text: str) -> str | None:
        """Return a text without gaps, or nothing where the story has not filled them all."""
        for _, name, number, _ in GAP.findall(text):
            source = self._followers.get(name, (name + number, {}))[0]
            if name + number not in self._said and source not in self._said:
                return None
        return self.say(text)

    def give(self, name: str, word: str) -> None:
        """Say what a gap is to hold."""
        self._words[name] = word
        self._said.add(name)

    def _fill(self, found: re.Match[str]) -> str:
        article, name, number, big = found.groups()
        word = self._word(name, name + number)
        self._said |= {name + number, self._followers.get(name, (name + number, {}))[0]}
        if big:
            word = word[0].upper() + word[1:]
        if article:
            return f"{article}{'n' if word[0].lower() in 'aeiou' else ''} {word}"
        return word

    def _word(self, name: str, key: str) -> str:
        if key not in self._words and name in self._followers:
            name, instead = self._followers[name]
            word = self._word(name, name)
            return instead.get(word, word)
        if key not in self._words:
            taken = set(self._words.values())
            word = self._draw(name)
            for _ in range(20):
                if word not in taken:
                    break
                word = self._draw(name)
            self._words[key] = word
        return self._words[key]

    def _draw(self, name: str) -> str:
        if name == "person":
            return f"{self._rng.choice(self._world.first)} {self._rng.choice(self._world.last)}"
        if name == "street":
            return self._rng.choice(self._world.streets)
        return self.say(self._rng.choice(self._lists[name]))


def plain(text: str) -> str:
    """Return the encyclopedia's prose without its marks (`**bold**`, `[[Title|label]]`)."""
    return MARK.sub("", re.sub(r"\[\[[^\]|]*\|", "[[", text))


def link(url: str, words: str) -> str:
    """Return words that lead somewhere, as HTML."""
    return f'<a href="{html.escape(url)}">{html.escape(words, quote=False)}</a>'


def text(words: str) -> str:
    """Return words as HTML."""
    return html.escape(words, quote=False)


def paragraph(markup: str) -> str:
    """Return a paragraph block."""
    return f"<!-- wp:paragraph -->\n<p>{markup}</p>\n<!-- /wp:paragraph -->"


def heading(words: str) -> str:
    """Return a heading block of the second level."""
    return f"<!-- wp:heading -->\n<h2>{text(words)}</h2>\n<!-- /wp:heading -->"


def quote(words: str, who: str) -> str:
    """Return a quotation block."""
    inner = paragraph(text(words))
    return (
        f'<!-- wp:quote -->\n<blockquote class="wp-block-quote">{inner}'
        f"<cite>{text(who)}</cite></blockquote>\n<!-- /wp:quote -->"
    )


def bullets(items: Sequence[str]) -> str:
    """Return a list block; the items are HTML."""
    inner = "\n\n".join(
        f"<!-- wp:list-item -->\n<li>{item}</li>\n<!-- /wp:list-item -->" for item in items
    )
    return f"<!-- wp:list -->\n<ul>{inner}</ul>\n<!-- /wp:list -->"


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    """Return a table block; the cells are HTML."""

    def row(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    top = f"<thead>{row(head, 'th')}</thead>" if head else ""
    body = "".join(row(cells, "td") for cells in rows)
    return (
        f'<!-- wp:table -->\n<figure class="wp-block-table"><table>{top}<tbody>{body}</tbody>'
        "</table></figure>\n<!-- /wp:table -->"
    )


def picture(number: int, url: str, alt: str, caption: str) -> str:
    """Return an image block of the size "large"."""
    return (
        f'<!-- wp:image {{"id":{number},"sizeSlug":"large","linkDestination":"none"}} -->\n'
        f'<figure class="wp-block-image size-large"><img src="{url}" alt="{html.escape(alt)}"'
        f' class="wp-image-{number}"/>'
        f'<figcaption class="wp-element-caption">{text(caption)}</figcaption></figure>\n'
        "<!-- /wp:image -->"
    )
