"""Drafts: articles whose text is still prose with light marks, before links are set.

Marks: ``**bold**``, ``[[Title]]`` and ``[[Title|label]]``. Everything else is plain text.
"""

from __future__ import annotations

from dataclasses import dataclass

from model import Layout


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table whose cells are marked prose."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class DraftBullets:
    """A list whose items are marked prose; numbered where the order matters."""

    items: tuple[str, ...]
    numbered: bool = False


DraftBlock = str | DraftBullets | DraftTable


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A heading with prose, lists and tables."""

    heading: str
    blocks: tuple[DraftBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One article as its source gives it.

    aliases are further names that other articles' prose uses for it; where autolink is false,
    only an explicit ``[[link]]`` points here (for titles that are ordinary words or surnames).
    A marked draft marks all its links itself: no mention in it becomes one.
    A marked draft names all its links itself: nothing else in it becomes one.
    """

    title: str
    lead: tuple[DraftBlock, ...]
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[DraftSection, ...]
    see_also: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    topic: str
    proper: bool = False
    autolink: bool = True
    marked: bool = False
    layout: Layout = Layout.ARTICLE
