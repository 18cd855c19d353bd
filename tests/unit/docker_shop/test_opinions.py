"""What customers and the shop say of a product fits it, and hardly anybody says the same."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from random import Random
from typing import Any

import pytest

WHERE = re.compile(r"(?<=[.!?]) ")


def opinions() -> Any:
    return import_module("shopseed.opinions")


def goods() -> list[Any]:
    plan, vocabulary = import_module("shopseed.plan"), import_module("shopseed.vocabulary")
    tops = list(plan.catalogue(vocabulary.load()))
    return [one for top in tops for one in (top.children or [top])]


def drawn(count: int, **fixed: Any) -> list[tuple[Any, str, str]]:
    """Return reviews of products drawn by a seed: what it is of, its title, its text."""
    rng = Random("drawn")
    found = []
    for item in rng.sample(goods(), count):
        values = {
            "stars": rng.randint(1, 5),
            "days": int(10 ** rng.uniform(0.7, 2.9)),
            "part": rng.choice(("own", "own", "received", "given")),
            **fixed,
        }
        case = opinions().Case(item=item, who=rng.randint(3, 501), month="March", **values)
        found.append((case, *opinions().compose(rng, case)))
    return found


def masked(text: str) -> str:
    """Return a sentence without its numbers and names."""
    bare = re.sub(r"£?\d[\d.,]*", "#", text)
    return re.sub(r"(?<=[^.!?:] )[A-Z][\w'&]+(?: [A-Z][\w'&]+)*", "@", bare).lower()


def share(texts: list[str]) -> float:
    sentences = [masked(sentence) for text in texts for sentence in WHERE.split(text)]
    return len(set(sentences)) / len(sentences)


def test_hardly_anybody_says_what_another_has_said() -> None:
    reviews = drawn(700)

    assert share([text for _, _, text in reviews]) > 0.4
    assert len({title for _, title, _ in reviews}) > 550
    assert share([opinions().describe(item) for item in goods()[::6]]) > 0.49


def test_the_reviews_of_one_product_do_not_share_a_frame() -> None:
    held = {one.text for table in opinions().frames().values() for one in phrases_of(table)}
    rng = Random("page")
    for item in rng.sample(goods(), 40):
        heard: Counter[str] = Counter()
        for who in range(3, 9):
            case = opinions().Case(item=item, who=who, stars=5, days=100, month="March")
            opinions().compose(rng, case, heard)
        assert max(heard[text] for text in held) == 1, item.title


def phrases_of(table: Any) -> list[Any]:
    return [one for texts in table.values() for one in texts] if isinstance(table, dict) else []


def test_a_text_speaks_of_what_a_given_title_names() -> None:
    radio = next(one for one in goods() if one.words.name == "Radios")
    case = opinions().Case(
        item=radio, who=7, stars=2, days=100, month="March", title="Trouble with the aerial"
    )
    assert "aerial" in opinions().compose(Random("title"), case)[1]


def test_every_sentence_is_whole() -> None:
    for case, title, text in drawn(700):
        assert title
        assert text
        for words in (title, text, opinions().describe(case.item)):
            assert not re.search(r"[{}\[\]~]|  |\.\.|None", words), words
        assert text[0].isupper()


def test_every_category_has_points_to_praise_and_to_blame_each_about_something() -> None:
    shelves = opinions().shelves()

    assert set(shelves) == {item.words.name for item in goods()}
    for name, shelf in shelves.items():
        for key in opinions().CLAUSES:
            assert all(opinions().part_of(one.text) for one in shelf.lists[key]), (name, key)


@pytest.mark.parametrize("stars", [1, 2])
def test_who_gives_few_stars_is_not_pleased(stars: int) -> None:
    for _, title, text in drawn(300, stars=stars):
        pleased = (
            r"[Pp]erfect|[Rr]ecommended (?!it|them)|look no further|buy (it|them) again|delight"
        )
        assert not re.search(pleased, f"{title} {text}"), text


@pytest.mark.parametrize("stars", [4, 5])
def test_who_gives_many_stars_has_no_serious_complaint(stars: int) -> None:
    for case, _, text in drawn(300, stars=stars):
        for one in opinions().shelves()[case.item.words.name].lists["serious"]:
            assert opinions().PART.sub(r"\1", one.text) not in text


def test_nobody_has_had_a_thing_for_longer_than_since_it_came() -> None:
    worn = re.compile(r"(two|three|four|five|\w+) (weeks|months)|a year|years on")

    assert opinions().age(6) == "a few days"
    assert opinions().age(29) == "four weeks"
    assert opinions().age(364) == "ten months"
    assert opinions().age(366) == "a year"
    for _, title, text in drawn(300, days=5):
        assert not re.search(rf"(After|for|on) ({worn.pattern}) (I|now)", f"{title} {text}")


def test_only_things_that_came_back_are_said_to_have_been_returned() -> None:
    back = re.compile(
        r"went back|sent it back|sent them back|[Rr]eturned|Refund|return was easy|Back"
    )

    kept = drawn(300, stars=1, days=60)
    returned = drawn(100, stars=1, days=10, part="own", is_returned=True)

    assert not [text for _, title, text in kept if back.search(f"{title} {text}")]
    assert all(back.search(text) for _, _, text in returned)


def test_what_is_said_of_one_kind_is_not_said_of_another() -> None:
    for case, title, text in drawn(700):
        words = f"{title} {text}"
        if case.item.words.name == "Kettles" and case.item.model.kind.name != "Whistling":
            assert "whistle" not in words.lower()
        if case.item.words.name == "Bicycle Lights" and case.item.model.kind.name != "Dynamo":
            assert not re.search(r"dynamo (?!that)", text.replace("rattling dynamo", ""))


def test_the_facts_of_a_product_stand_in_its_text() -> None:
    for item in goods()[::3]:
        text = opinions().describe(item)
        assert item.model.place in text
        assert item.model.extra.rstrip(".")[1:] in text
        assert item.model.kind.clause in text
        if "{weight}" in item.words.lead:
            assert item.weight in text
