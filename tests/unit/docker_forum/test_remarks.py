"""Members speak of what a thread is on, and every comment fits the one that it answers."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

SHOP = Path(__file__).parents[3] / "docker" / "shop" / "seed" / "vocabulary"
PRODUCTS = [
    SimpleNamespace(
        brand=brand, model=model, kind=kind, material="steel", finish="black", price=price,
        extra="The lid is wide.", clause="boils fast",
    )
    for brand, model, kind, price in (
        ("Ostermann", "Stoker", "Gooseneck", "60.00"),
        ("Northmark", "Torrent", "Electric", "35.00"),
        ("Kodama", "Passage", "Whistling", "90.00"),
    )
]  # fmt: skip
CITIES, PLACES = ["Bergen", "Porto", "York"], ["harbour", "cinema", "old market"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
WORDS = {"noun": "kettle", "nouns": "kettles"}


class Context:
    """What the title of a thread has drawn."""

    def __init__(self, said: dict[str, str], sentences: list[tuple[str, str]]) -> None:
        self.said = WORDS | said
        self.product = PRODUCTS[0]
        self.category = SimpleNamespace(name="Kettles", products=PRODUCTS)
        self.article = SimpleNamespace(title="Kettle", sentences=sentences) if sentences else None
        self.setting = SimpleNamespace(
            here="Bergen", cities=CITIES, places=PLACES, pack={}, slots={"month": MONTHS}
        )

    def __call__(self, name: str) -> str:
        return WORDS[name]


def draft(number: int, kind: str, intent: str, form: str = "", **said: str) -> Any:
    return SimpleNamespace(
        id=number, title=form, form=form, body="", intent=intent, is_pinned=False, url="",
        visibility="visible", created=datetime(2026, 5, 3, tzinfo=UTC),
        place=SimpleNamespace(kind=kind, pack=said.pop("pack", ""), name="x", description="d"),
        context=Context(said, [("History", FACT)] if kind == "learned" else []),
    )  # fmt: skip


FACT = "The first kettles were cast in one piece by J. S. Bach of Eisenach and his brother."


def thread(item: Any, count: int) -> list[tuple[Any, str]]:
    """Write a thread in which every second one answers the one before."""
    discussion = import_module("forumseed.discussion")
    matter = import_module("forumseed.matter").Matter(item, "comments")
    found = import_module("forumseed.remarks").topics(item, matter, count)
    talk = discussion.Discussion(matter, found, item.place.kind)
    told: list[tuple[Any, str]] = []
    for number in range(count):
        above = told[-1][0] if number % 2 else None
        turn = discussion.Turn(
            who=f"Member{number}", is_author=False, above=above,
            answered_by_author=False, answered_by_others=not number % 2,
        )  # fmt: skip
        text, said = talk.comment(turn)
        told.append((said, text))
    return told


def texts(item: Any, count: int = 12) -> str:
    return "\n".join(text for _, text in thread(item, count))


def subjects() -> Any:
    return import_module("forumseed.subjects")


@pytest.mark.parametrize(
    ("kind", "intents"),
    [
        ("gear", ["advice", "problem", "review", "show", "howto", "opinion", "deal", "weekly"]),
        ("city", ["visit", "live", "photo", "news"]),
        ("learned", ["title"]),
    ],
)
def test_every_kind_of_thread_has_something_to_say_in_whole_sentences(
    kind: str, intents: list[str]
) -> None:
    form = "The {place} [closes|moves] at [dawn|dusk]"
    for number, intent in enumerate(intents):
        for _, text in thread(draft(number, kind, intent, form, place="harbour"), 40):
            assert not re.search(r"[{}\[\]|]|  |\.\.|None\b(?!,| that)|\(\)", text), text
            assert re.match(r"[A-Z@\"£]", text), text
            assert text.endswith((".", "!", "?")), text


def test_every_fault_that_a_title_may_name_has_cures_of_its_own() -> None:
    issues = [
        issue
        for source in SHOP.glob("[0-9]*.toml")
        for category in tomllib.loads(source.read_text(encoding="utf-8"))["category"]
        for issue in category["gripe"]
    ]

    assert len(issues) > 200
    assert [one for one in issues if not subjects().remedy(one.rstrip(".")).good] == []


def test_every_subject_of_a_pack_is_known() -> None:
    packs = import_module("forumseed.vocabulary").load("talk")
    unknown = [
        (pack, name)
        for pack, table in packs.items()
        for name in table["subject"]
        if not (subjects().subject(pack, name).good and subjects().subject(pack, name).me)
    ]

    assert set(packs) == set(subjects().PACKS)
    assert unknown == []


def test_a_short_thread_on_a_fault_speaks_of_that_fault_only() -> None:
    item = draft(2, "gear", "problem", issue="The lid is stiff and you need two hands for it.")
    told = {said.topic.about for said, _ in thread(item, 6)}

    assert told == {"that fault"}


def test_what_is_recommended_is_within_the_budget() -> None:
    poor = texts(draft(3, "gear", "advice", budget="40"), 30)
    rich = texts(draft(3, "gear", "advice", budget="100"), 30)

    assert "Northmark Torrent" in poor
    assert not re.search("Ostermann Stoker|Kodama Passage", poor)
    assert re.search("Ostermann Stoker|Kodama Passage", rich)


def test_who_answers_a_question_gives_an_answer_to_it() -> None:
    item = draft(4, "city", "visit", "First time in {here} in {month}: tips?", month="May")
    told = thread(item, 60)
    asked = [
        (above, answer)
        for (above, _), (answer, _) in zip(told[::2], told[1::2], strict=True)
        if above.kind.value == "ask"
    ]

    assert asked
    assert all(answer.kind.value in {"answer", "nod"} for _, answer in asked)
    assert all(answer.topic is above.topic for above, answer in asked)


def test_a_photograph_is_not_answered_with_the_sights_of_the_town() -> None:
    shown = draft(5, "city", "photo", "The {place} at [dawn|dusk]", place="harbour")
    spoken_of = {said.topic.about for said, _ in thread(shown, 6)}

    assert spoken_of
    assert not spoken_of & {"the cinema", "the old market"}


def test_facts_of_the_encyclopedia_keep_their_words_to_the_end() -> None:
    first, second = FACT.split(" S. ")
    split = [("History", first), ("History", f"S. {second}")]  # as sentences are told apart
    item = draft(6, "learned", "title")
    item.context.article.sentences = split

    told = texts(item, 30)

    assert FACT[1:-1] in told
    assert "by J." not in told.replace("by J. S. Bach", "")


def test_a_post_keeps_to_what_its_title_says() -> None:
    bodies = import_module("forumseed.bodies")
    form = "Which {noun} for {use}?"
    told = [
        bodies.body(draft(number, "gear", "advice", form, use="rough use"), bodies.Earlier())
        for number in range(60)
    ]

    assert any("rough use" in one for one in told)
    assert not any("£" in one for one in told)  # the title gave no budget
    assert len(set(told)) > 55
    assert not any(re.search(r"[{}|]|  |\.\.", one) for one in told)


def test_a_thread_names_only_those_that_are_on_the_same_thing() -> None:
    bodies = import_module("forumseed.bodies")
    earlier = bodies.Earlier()
    same, other = (draft(number, "talk", "ask", pack="books", subject=name) for number, name in
                   ((1, "Winter Wheat"), (2, "Tin Stars")))  # fmt: skip
    for one in (same, other):
        one.title, one.link = f"On {one.context.said['subject']}", f"link {one.id}"
        earlier.add(one)
    asked = draft(3, "talk", "ask", pack="books", subject="Winter Wheat")
    rng = import_module("random").Random(1)

    assert {earlier.link(asked, rng) for _ in range(20)} == {"link 1"}
    assert earlier.link(draft(3, "talk", "ask", pack="books", subject="Static"), rng) == ""
