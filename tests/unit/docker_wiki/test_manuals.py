"""The handbooks are pages that lead to each other, with steps in order and lists without."""

from __future__ import annotations

from importlib import import_module

from support.sites.encyclopedia import links, words


def test_every_page_of_a_handbook_is_in_the_contents_and_no_link_leads_out_of_the_book() -> None:
    pages = {one.title: one for one in import_module("manuals").handbooks()}
    assert 25 <= len(pages) <= 45
    assert links(pages["Handbooks"]) == set(pages) - {"Handbooks"}
    assert {link for one in pages.values() for link in links(one)} <= set(pages)


def test_steps_are_numbered_and_choices_are_not() -> None:
    model = import_module("model")
    page = next(
        one for one in import_module("manuals").handbooks() if one.title == "Shop handbook: Returns"
    )
    lists = {
        section.heading: block
        for section in page.sections
        for block in section.blocks
        if isinstance(block, model.Bullets)
    }
    assert lists["Asking for a return"].numbered
    assert not lists["Reasons"].numbered
    assert [words(item) for item in lists["Reasons"].items][-1] == "Changed my mind"


def test_the_handbook_knows_the_statuses_that_the_shop_has() -> None:
    """Read from the shop's sources, so that a new status there is missed here."""
    manuals = import_module("manuals")
    shop = manuals.HERE.parents[1] / "shop" / "app" / "harbour"
    told = next(
        one for one in manuals.handbooks() if one.title == "Shop handbook: Handling returns"
    )
    said = " ".join(words(fact.value) for fact in told.facts)
    pipeline = (shop / "returns" / "models.py").read_text(encoding="utf-8")
    statuses = pipeline.split("PIPELINE", 1)[1].split("RETURNABLE")[0].count("    Status.")
    assert f"{statuses}" in said.split()


def test_a_page_of_the_handbooks_says_which_book_it_is_of() -> None:
    book, html = import_module("book"), import_module("render_html")
    page = html.page(import_module("manuals").handbooks()[0], book.MANUALS)
    assert "From the users&#x27; handbooks" in page or "From the users' handbooks" in page
    assert 'href="./Handbooks"' in page
    assert "Wikipedia" not in page
