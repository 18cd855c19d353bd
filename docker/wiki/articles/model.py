"""The neutral article: what both renderers (HTML for the ZIM, wikitext for MediaWiki) draw."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words."""

    words: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words in bold, as an article's own name in its lead."""

    words: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the article with that title, shown as label."""

    title: str
    label: str


Span = Text | Strong | Link
Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list with one line per item; numbered where the order matters."""

    items: tuple[Line, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption and a header row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Block = Paragraph | Bullets | Table


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of the box beside the lead."""

    label: str
    value: Line


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        """Return the fragment that both worlds give this heading."""
        return self.heading.replace(" ", "_")


class Layout(StrEnum):
    """How the sections are laid out: one below the other, or as the boxes of a portal."""

    ARTICLE = "article"
    PORTAL = "portal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One page of the encyclopedia."""

    title: str
    lead: tuple[Block, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    see_also: tuple[str, ...]
    layout: Layout = Layout.ARTICLE

    @property
    def path(self) -> str:
        """Return the title as Wikipedia's paths spell it: underscores for spaces."""
        return self.title.replace(" ", "_")
