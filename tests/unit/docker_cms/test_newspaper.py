"""The newspaper that is baked has the size, the variety and the order that its site promises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

from quick_cases import SLOW

pytestmark = SLOW

clock = import_module("gazette.clock")
sources = import_module("gazette.sources")
talk = import_module("gazette.talk")


def test_it_has_what_its_manifest_says(edition: SimpleNamespace) -> None:
    assert len(edition.published) == 1500
    assert len(edition.comments) == 8000
    assert len(edition.people) == 200
    assert len(edition.pages) == 60
    assert len(edition.library) == 300


def test_it_is_the_same_whenever_it_is_printed(
    edition: SimpleNamespace, print_edition: Callable[[], SimpleNamespace]
) -> None:
    again = print_edition()
    assert [(one.title, one.date, one.blocks) for one in again.stories] == [
        (one.title, one.date, one.blocks) for one in edition.stories
    ]
    assert [(one.text, one.date, one.name) for one in again.comments] == [
        (one.text, one.date, one.name) for one in edition.comments
    ]


def test_nothing_is_written_after_the_day_at_which_the_clock_stands(
    edition: SimpleNamespace,
) -> None:
    assert max(one.date for one in edition.stories) <= clock.NOW
    assert max(one.date for one in edition.comments) <= clock.NOW


def test_no_gap_is_left_open_and_no_two_articles_share_title_or_address(
    edition: SimpleNamespace,
) -> None:
    texts = [one.title + " ".join(one.blocks) for one in edition.stories]
    texts += [one.text for one in edition.comments]
    texts += [one.title + " ".join(one.blocks) for one in edition.pages]
    without_settings = (re.sub(r"<!-- wp:\S+ \{.*?\} -->", "", one) for one in texts)
    assert [one for one in without_settings if re.search(r"\{[a-z]+\d?\^?\}", one)] == []
    for many in ([one.title for one in edition.stories], [one.slug for one in edition.stories]):
        assert [name for name, count in Counter(many).items() if count > 1] == []


def test_an_answer_stands_below_a_comment_of_the_same_article_and_after_it(
    edition: SimpleNamespace,
) -> None:
    answers = [one for one in edition.comments if one.parent]
    assert len(answers) > 1000
    for one in answers:
        assert one.parent.story is one.story
        assert one.parent.date < one.date
        assert one.parent.approved == "1"
        assert one.depth <= talk.DEEPEST


def test_what_waits_and_what_is_spam_is_not_counted(edition: SimpleNamespace) -> None:
    states = Counter(one.approved for one in edition.comments)
    assert states == {"1": 8000 - 190 - 140, "0": 140, "spam": 190}
    assert sum(one.comments for one in edition.published) == states["1"]


def test_products_that_it_links_to_are_those_of_the_shop(edition: SimpleNamespace) -> None:
    known = {sources.product_url(one) for one in edition.world.products}
    text = " ".join(block for one in edition.stories for block in one.blocks)
    linked = set(re.findall(r"http://shop\.arena\.test/catalogue/[^\"]+", text))
    assert len(linked) > 400
    assert linked <= known


def test_pages_stand_below_pages_that_come_before_them(edition: SimpleNamespace) -> None:
    below = [one for one in edition.pages if one.parent]
    assert len(below) > 30
    assert all(one.parent.order < one.order for one in below)


def test_a_recipe_speaks_of_its_dish_and_shows_what_goes_with_it(
    edition: SimpleNamespace,
) -> None:
    foreign = {
        "ussels in cider": r"oven|yesterday's bread|pastry|crumb|dressed crab",
        "lum crumble": r"fish|onion|quay|mussels",
        "hubarb fool": r"oven|crab|fish|bread and butter",
        "arley soup": r"oven|flour|crab",
    }
    told = [one for one in edition.published if "Recipes" in one.tags]
    assert len(told) > 50
    for dish, words in foreign.items():
        mine = [one for one in told if dish in one.title]
        assert mine
        for one in mine:
            text = " ".join(block for block in one.blocks if block != one.refers).lower()
            assert not re.search(rf"\b({words})\b", text), one.title


def test_a_picture_stands_beside_the_dish_that_it_shows(edition: SimpleNamespace) -> None:
    drawn = {one.id: one.picture.title for one in edition.library}
    plates = [one for one in edition.published if one.category == "Food & Drink"]
    crabs = [one for one in plates if drawn.get(one.picture) == "Dressed crab"]
    assert crabs
    assert all("crab" in one.filler.peek("dish") for one in crabs)


HOUR = r"noon|\d{1,2}(?:\.\d\d)? [ap]m"


def since_midnight(told: str) -> float:
    """Return an hour as the newspaper tells it as a number."""
    if told == "noon":
        return 12
    number, half = told.split()
    hour, _, minutes = number.partition(".")
    return int(hour) % 12 + int(minutes or 0) / 60 + (12 if half == "pm" else 0)


def test_what_closes_was_open_before_and_nothing_opens_in_the_evening(
    edition: SimpleNamespace,
) -> None:
    text = "\n".join(block for one in (*edition.stories, *edition.pages) for block in one.blocks)
    spans = re.findall(rf"\b({HOUR}) to ({HOUR})", text)
    assert len(spans) > 8
    assert [span for span in spans if since_midnight(span[0]) + 3 > since_midnight(span[1])] == []
    opens = re.findall(rf"(?:Open daily|Open \w+ to Saturday|answers on \w+) from ({HOUR})", text)
    assert len(opens) > 3
    assert max(since_midnight(hour) for hour in opens) <= 14
    last = re.findall(rf"every hour until ({HOUR})", text)
    assert last
    assert min(since_midnight(hour) for hour in last) >= 18
    assert not re.search(r"\b(\w+day) to \1\b|Sunday to Saturday", text)
