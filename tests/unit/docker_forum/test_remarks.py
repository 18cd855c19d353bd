"""Members speak of what a thread is on, with the words that it gave, and hardly repeat anybody."""

from __future__ import annotations

import re
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

PRODUCTS = [
    SimpleNamespace(brand=brand, model=model, kind=kind, material="steel", finish="black")
    for brand, model, kind in (
        ("Ostermann", "Stoker", "Gooseneck"),
        ("Northmark", "Torrent", "Electric"),
        ("Kodama", "Passage", "Whistling"),
    )
]
SAID = {"noun": "kettle", "nouns": "kettles", "here": "Bergen"}


def remarks() -> Any:
    return import_module("forumseed.remarks")


def draft(number: int, kind: str, intent: str, **more: Any) -> Any:
    said = SAID | more.pop("said", {})
    context = SimpleNamespace(
        said=said,
        product=PRODUCTS[0],
        other=PRODUCTS[1],
        category=SimpleNamespace(name="Kettles", products=PRODUCTS),
        article=None,
    )
    values = {"title": "", "body": "", "is_pinned": False, **more}
    place = SimpleNamespace(kind=kind, pack=values.pop("pack", ""))
    return SimpleNamespace(id=number, place=place, intent=intent, context=context, **values)


def thread(item: Any, count: int) -> list[str]:
    """Write a thread in which every second one answers somebody."""
    rng = Random(f"thread/{item.id}")
    told = remarks().talk(item, count)
    said: list[tuple[str, Any]] = []
    for number in range(count):
        name = f"@Member{number}"
        if number % 2:
            said.append(told.reply(name, rng.choice(said)[1]))
        else:
            said.append(told.open(name, count=rng.randint(1, 3)))
    return [text for text, _ in said]


def packs() -> list[str]:
    return [name for name in remarks().bank() if name not in {"gear", "city", "learned", "made"}]


def test_hardly_anybody_says_what_another_has_said() -> None:
    items = [
        draft(number, "gear", ("advice", "problem", "show")[number % 3]) for number in range(30)
    ]
    items += [draft(number + 30, "city", ("visit", "live")[number % 2]) for number in range(30)]
    items += [draft(60 + number, "talk", "ask", pack=pack) for number, pack in enumerate(packs())]
    sentences = [
        re.sub(r"@\w+|(?<=[^.!?:] )[A-Z]\w+(?: [A-Z]\w+)*", "@", one).lower()
        for item in items
        for text in thread(item, 12)
        for one in re.split(r"(?<=[.!?])\s+", text)
    ]

    assert len(sentences) > 1000
    assert len(set(sentences)) / len(sentences) > 0.8


@pytest.mark.parametrize(
    ("kind", "intents"),
    [
        ("gear", ["advice", "problem", "review", "show", "howto", "opinion", "deal", "weekly"]),
        ("city", ["visit", "live", "photo", "news"]),
        ("learned", ["title"]),
        ("made", ["title"]),
    ],
)
def test_every_kind_of_thread_has_something_to_say_in_whole_sentences(
    kind: str, intents: list[str]
) -> None:
    for intent in intents:
        for text in thread(draft(1, kind, intent), 40):
            assert not re.search(r"[{}\[\]|]|  |\.\.|None", text), text
            assert re.match(r"[A-Z@\"£]", text), text


def test_a_thread_on_one_product_is_about_it_and_others_are_named() -> None:
    named = " ".join(thread(draft(2, "gear", "review", said={"product": "Stoker"}), 14))
    open_to_all = " ".join(thread(draft(3, "gear", "advice"), 30))

    assert "whistle" not in named
    assert re.search(r"Ostermann Stoker|Northmark Torrent|Kodama Passage", open_to_all)


def test_what_a_thread_does_not_say_is_not_spoken_of() -> None:
    quiet = " ".join(thread(draft(4, "gear", "advice"), 40))
    loud = " ".join(thread(draft(4, "gear", "advice", said={"budget": "40"}), 40))

    assert "£" not in quiet
    assert "£40" in loud


def test_a_photograph_is_not_answered_with_the_sights_of_the_town() -> None:
    shown = draft(5, "city", "photo", title="The harbour at dawn")
    abouts = {one.about for one in remarks().talk(shown, 4)._bank}

    assert "the harbour" in abouts
    assert "the light there" in abouts
    assert "the cinema" not in abouts


def test_facts_of_the_encyclopedia_keep_their_words() -> None:
    item = draft(6, "learned", "title")
    fact = "The first kettles were cast in one piece and weighed as much as a child."
    item.context.article = SimpleNamespace(sentences=[("History", fact)])

    assert fact[1:-1] in " ".join(thread(item, 30))
