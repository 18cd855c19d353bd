"""Part of the encyclopedia on its own, for the staged live wiki."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from draft import Draft
from model import Article, Block, Bullets, Fact, Line, Link, Paragraph, Section, Table, Text

# The county's topics that tasks visit in both worlds.
STAGED = frozenset(
    {
        "Cities of Merrowshire",
        "Districts of Merrowshire",
        "Football in Merrowshire",
        "Islands of Merrowshire",
        "Lighthouses of Merrowshire",
        "Lists of Merrowshire",
        "Museums of Merrowshire",
        "Railways of Merrowshire",
        "Seasons of the Merrow League",
        "Towns of Merrowshire",
    }
)


def staged_titles(drafts: Iterable[Draft]) -> frozenset[str]:
    """Return what is staged: all but the county, and of the county STAGED with its indexes."""
    return frozenset(
        one.title for one in drafts if not one.marked or one.topic in STAGED or one.title in STAGED
    )


def within(article: Article, kept: AbstractSet[str]) -> Article:
    """Return the article as it reads where only the kept titles exist.

    A link that leads out becomes plain words, and a see-also entry that does is left out.
    """
    return replace(
        article,
        lead=tuple(_block(block, kept) for block in article.lead),
        facts=tuple(Fact(fact.label, _line(fact.value, kept)) for fact in article.facts),
        sections=tuple(
            Section(section.heading, tuple(_block(block, kept) for block in section.blocks))
            for section in article.sections
        ),
        see_also=tuple(title for title in article.see_also if title in kept),
    )


def _block(block: Block, kept: AbstractSet[str]) -> Block:
    match block:
        case Paragraph(line):
            return Paragraph(_line(line, kept))
        case Bullets(items, numbered):
            return Bullets(tuple(_line(item, kept) for item in items), numbered)
        case Table(caption, header, rows):
            cells = tuple(tuple(_line(cell, kept) for cell in row) for row in rows)
            return Table(caption, header, cells)


def _line(line: Line, kept: AbstractSet[str]) -> Line:
    return tuple(
        Text(span.label) if isinstance(span, Link) and span.title not in kept else span
        for span in line
    )
