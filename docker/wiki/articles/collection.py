"""The whole encyclopedia, every article linked and sorted by title, and what is staged of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cities import CityWriter
from countries import CountryWriter, continents, rankings
from draft import Draft
from excerpt import staged_titles, within
from front import about, main_page, topic_lists
from gazetteer import Gazetteer
from handwritten import HERE, ArticleError, entries, things
from linking import Linker
from model import Article
from region.articles import county

MAIN_PAGE = "Main Page"


def articles() -> tuple[Article, ...]:
    """Return all articles in title order; the same at every call.

    Raises ArticleError where two sources write the same title, UnknownTitleError where a link
    leads nowhere.
    """
    drafts = _drafts()
    linker = Linker(drafts)
    return tuple(linker.article(draft) for draft in sorted(drafts, key=lambda one: one.title))


def staged() -> tuple[Article, ...]:
    """Return the part of the encyclopedia that the staged live wiki holds, in title order."""
    kept = staged_titles(_drafts())
    return tuple(within(one, kept) for one in articles() if one.title in kept)


def _drafts() -> Sequence[Draft]:
    gazetteer = Gazetteer()
    cities = CityWriter(gazetteer, [city for path in _notes("cities") for city in entries(path)])
    countries = {note.name: note for path in _notes("countries") for note in entries(path)}
    continental = {note.name: note for note in entries(HERE / "places" / "continents.yaml")}
    drafts = [
        *things(),
        *CountryWriter(gazetteer, countries, cities.homes).drafts(),
        *continents(gazetteer, continental, cities.homes),
        *rankings(gazetteer),
        *cities.drafts(),
        cities.ranking(),
    ]
    drafts += topic_lists(drafts)
    drafts += county()
    drafts.append(about(len(drafts) + 2))
    drafts.append(main_page(MAIN_PAGE, drafts))
    twice = [title for title, count in Counter(one.title for one in drafts).items() if count > 1]
    if twice:
        message = f"written twice: {', '.join(sorted(twice))}"
        raise ArticleError(message)
    return drafts


def _notes(kind: str) -> list[Path]:
    return sorted((HERE / "places").glob(f"{kind}-*.yaml"))
