"""The county's articles as a reader sees them, and what was grown for them."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import import_module
from typing import Any


@cache
def world() -> Any:
    return import_module("region.world").grow()


@cache
def drafts() -> tuple[Any, ...]:
    return tuple(import_module("region.articles").county(world()))


@cache
def handwritten_titles() -> frozenset[str]:
    """Titles outside the county that need none of the gazetteer's packages."""
    written = import_module("handwritten")
    files = (written.HERE / "places").glob("cities-*.yaml")
    cities = {entry.name for path in files for entry in written.entries(path)}
    return frozenset(cities | {one.title for one in written.things()})


@cache
def articles() -> dict[str, Any]:
    """Return the county's articles by title, linked among themselves and to real cities."""
    draft = import_module("draft")
    stubs = [
        draft.Draft(title=title, lead=("A stub.",), sections=(), topic="elsewhere")
        for title in handwritten_titles()
    ]
    linker = import_module("linking").Linker([*drafts(), *stubs])
    return {one.title: linker.article(one) for one in drafts()}


def words(line: Any) -> str:
    return "".join(getattr(span, "label", None) or span.words for span in line)


def lines(article: Any) -> list[Any]:
    """Return all lines of an article below its box, in reading order."""
    model = import_module("model")
    found: list[Any] = []
    for block in [*article.lead, *(block for one in article.sections for block in one.blocks)]:
        if isinstance(block, model.Paragraph):
            found.append(block.line)
        elif isinstance(block, model.Bullets):
            found += block.items
        else:
            found += [cell for row in block.rows for cell in row]
    return found


def links(article: Any) -> set[str]:
    """Return the titles that an article links anywhere."""
    model = import_module("model")
    everywhere = [*(fact.value for fact in article.facts), *lines(article)]
    spans = [span for line in everywhere for span in line if isinstance(span, model.Link)]
    return {span.title for span in spans} | set(article.see_also)


def facts(title: str) -> dict[str, str]:
    """Return the box of an article."""
    return {fact.label: words(fact.value) for fact in articles()[title].facts}


def table(title: str, heading: str) -> list[dict[str, str]]:
    """Return the rows of the table under a heading, by column; "title" is the row's own link."""
    model = import_module("model")
    section = next(one for one in articles()[title].sections if one.heading == heading)
    found = next(block for block in section.blocks if isinstance(block, model.Table))
    rows = []
    for row in found.rows:
        cells = dict(zip(found.header, map(words, row), strict=True))
        own = next(span for cell in row for span in cell if isinstance(span, model.Link))
        rows.append({**cells, "title": own.title})
    return rows


def text(article: Any) -> str:
    """Return all words of an article below its box, a line each."""
    return "\n".join(words(line) for line in lines(article))


def doubles(titles: list[str]) -> list[str]:
    return sorted(title for title, count in Counter(titles).items() if count > 1)
