"""The staged live wiki holds a part that is closed in itself and reads like the whole."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from support.sites.encyclopedia import articles, drafts, handwritten_titles, links, text, words


@pytest.mark.slow(minutes=1)
def test_no_staged_article_links_one_that_is_not_staged() -> None:
    excerpt = import_module("excerpt")
    kept = excerpt.staged_titles(drafts()) | handwritten_titles()
    county = [one for title, one in articles().items() if title in kept]
    assert 200 < len(county) < 400
    assert {link for one in county for link in links(excerpt.within(one, kept))} <= kept


@pytest.mark.slow(minutes=1)
def test_a_staged_article_says_the_same_words() -> None:
    excerpt = import_module("excerpt")
    kept = excerpt.staged_titles(drafts()) | handwritten_titles()
    whole = articles()["Kittiwake Stack Lighthouse"]
    part = excerpt.within(whole, kept)
    assert links(part) < links(whole)
    assert [words(fact.value) for fact in part.facts] == [words(fact.value) for fact in whole.facts]
    assert text(part) == text(whole)


@pytest.mark.slow(minutes=1)
def test_the_lists_that_tasks_start_from_are_staged_with_their_index() -> None:
    kept = import_module("excerpt").staged_titles(drafts())
    assert {"Lists of Merrowshire", "List of islands of Merrowshire by area"} <= kept
    assert "List of villages in Merrowshire by population" in kept
    assert "Villages of Merrowshire" not in kept


def excerpt_of(whole: int) -> list[Any]:
    """Return the pages that tell a number of articles, and one that tells a length."""
    draft, front = import_module("draft"), import_module("front")

    def page(title: str, lead: str) -> Any:
        return draft.Draft(title=title, lead=(lead,), sections=(), topic="front", autolink=False)

    written = [
        front.about(whole),
        page("Main Page", f"Welcome: {whole} articles on [[Merrowshire]]."),
        page("Merrowshire", "The coast is 5219 metres long."),
    ]
    linker = import_module("linking").Linker(written)
    return [linker.article(one) for one in written]


def test_the_pages_that_tell_how_many_articles_there_are_tell_what_is_staged() -> None:
    about, main, other = import_module("counted").counted(excerpt_of(5219))
    assert words(about.facts[0].value) == "3"
    assert "It holds 3 pages" in text(about)
    assert text(main) == "Welcome: 3 articles on Merrowshire."
    assert text(other) == "The coast is 5219 metres long."


def test_a_page_that_stops_telling_the_number_is_noticed() -> None:
    about, main, other = excerpt_of(5219)
    silent = replace(main, lead=other.lead[:0])
    with pytest.raises(ValueError, match="Main Page no longer says"):
        list(import_module("counted").counted([about, silent, other]))
