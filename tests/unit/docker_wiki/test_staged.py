"""The staged live wiki holds a part that is closed in itself and reads like the whole."""

from __future__ import annotations

from importlib import import_module

from encyclopedia import articles, drafts, handwritten_titles, links, text, words


def test_no_staged_article_links_one_that_is_not_staged() -> None:
    excerpt = import_module("excerpt")
    kept = excerpt.staged_titles(drafts()) | handwritten_titles()
    county = [one for title, one in articles().items() if title in kept]
    assert 200 < len(county) < 400
    assert {link for one in county for link in links(excerpt.within(one, kept))} <= kept


def test_a_staged_article_says_the_same_words() -> None:
    excerpt = import_module("excerpt")
    kept = excerpt.staged_titles(drafts()) | handwritten_titles()
    whole = articles()["Kittiwake Stack Lighthouse"]
    part = excerpt.within(whole, kept)
    assert links(part) < links(whole)
    assert [words(fact.value) for fact in part.facts] == [words(fact.value) for fact in whole.facts]
    assert text(part) == text(whole)


def test_the_lists_that_tasks_start_from_are_staged_with_their_index() -> None:
    kept = import_module("excerpt").staged_titles(drafts())
    assert {"Lists of Merrowshire", "List of islands of Merrowshire by area"} <= kept
    assert "List of villages in Merrowshire by population" in kept
    assert "Villages of Merrowshire" not in kept
