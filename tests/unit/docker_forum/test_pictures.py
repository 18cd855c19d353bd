"""Which files are images, and what the pictures of seeded threads show and say."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG + b"rest", ".png"),
        (b"\xff\xd8\xff\xe0rest", ".jpg"),
        (b"GIF89arest", ".gif"),
        (b"RIFF1234WEBPrest", ".webp"),
    ],
)
def test_an_image_is_called_by_what_it_holds(content: bytes, kind: str) -> None:
    name_of = import_module("waypost.pictures").name_of

    assert name_of(content).endswith(kind)
    assert name_of(content) != name_of(content + b".")


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"GIF", b"RIFF1234WAVE", b" " + PNG])
def test_what_is_no_image_has_no_name(content: bytes) -> None:
    assert import_module("waypost.pictures").name_of(content) is None


def drawn(number: int, title: str, place: str = "") -> tuple[bytes, str]:
    pytest.importorskip("PIL")
    context = SimpleNamespace(said={"place": place} if place else {})
    draft = SimpleNamespace(id=number, title=title, context=context)
    found: tuple[bytes, str] = import_module("forumseed.pictures").picture(draft)
    return found


@pytest.mark.parametrize(
    ("title", "place", "words"),
    [
        ("The harbour at dusk, May 2025", "harbour", ("by the harbour", "at dusk")),
        ("The record shop at noon, May 2025", "record shop", ("the record shop", "at noon")),
        ("York in fog, seen from the cinema", "cinema", ("roofs", "in fog")),
        ("My favourite bench in York", "", ("bench", "tree")),
        ("I drew the cinema every day for 4 weeks", "cinema", ("drawing", "the cinema")),
    ],
)
def test_a_picture_shows_what_its_title_names_and_says_so(
    title: str, place: str, words: tuple[str, ...]
) -> None:
    picture, said = drawn(1, title, place)

    assert picture.startswith(PNG)
    assert len(picture) < 6_000
    assert all(word.lower() in said.lower() for word in words), said
    assert drawn(1, title, place) == (picture, said)
    assert drawn(2, title, place)[0] != picture


def test_descriptions_count_in_whole_words_and_leave_nothing_out() -> None:
    for number in range(40):
        for title, place in (
            ("The record shop at noon", "record shop"),
            ("My favourite corner in York", ""),
        ):
            said = drawn(number, title, place)[1]
            assert "  " not in said
            assert ("one thing " in said) != ("things " in said), said
