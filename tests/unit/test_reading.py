"""The reader's test: which pages are drawn, and which sentences count as the same."""

from __future__ import annotations

from reading.__main__ import ARTICLES
from reading.drawing import drawn, links, plain, share
from reading.kinds import CORPORA, KINDS

from orchestrator.sandbox.check_queries import require_one_reading
from sites.registry import load_registry

IDS = [str(number) for number in range(100)]


def test_a_seed_draws_the_same_pages_in_whichever_order_the_database_lists_them() -> None:
    assert drawn("thread", IDS, 5, 7) == drawn("thread", reversed(IDS), 5, 7)
    assert drawn("thread", IDS, 5, 7) != drawn("thread", IDS, 5, 8)
    assert drawn("thread", IDS, 5, 7) != drawn("issue", IDS, 5, 7)


def test_no_page_is_drawn_twice() -> None:
    assert len(set(drawn("thread", [*IDS, *IDS], 100, 7))) == 100


def test_sixty_pages_are_drawn_of_sites_that_have_a_database() -> None:
    sites = load_registry([]).sites

    assert sum(kind.pages for kind in KINDS) + ARTICLES == 60
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert all(sites[one.site].database for one in (*KINDS, *CORPORA))


def test_each_statement_only_reads() -> None:
    for kind in KINDS:
        require_one_reading(kind.ids)
        require_one_reading(kind.text.format(id="1"))
    for corpus in CORPORA:
        require_one_reading(corpus.texts)


def test_sentences_that_differ_in_names_and_numbers_alone_are_one() -> None:
    texts = ["It holds 1.2 L. I gave it to Emma Hartley.", "It holds 0.8 L.\nI gave it to Tom."]

    assert share(texts) == (4, 2)
    assert share(["It holds water.", "It holds tea."]) == (2, 2)


def test_quotations_targets_of_links_and_single_words_are_no_sentences() -> None:
    assert share(["> It was said before.\nThank you.\nInes"]) == (1, 1)
    assert share(["See [that thread](/f/tea/1).", "See [that thread](/f/tea/2)."]) == (2, 1)


def test_a_page_is_read_without_its_markup() -> None:
    page = '<p>Fish &amp; chips</p>\r\n\n<p> <a href="/wiki/A/Kettle">Kettle</a></p>'

    assert plain(page) == "Fish & chips\nKettle"
    assert links(page + '<a href="/search?q=x">') == ["/wiki/A/Kettle"]
