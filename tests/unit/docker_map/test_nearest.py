"""Words that ask for the nearest of a kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

import pytest

nearest_of = cast("Callable[[str], str | None]", import_module("mapsite.nearest").nearest_of)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("nearest pharmacy", "pharmacy"),
        ("Nearest  post office", "post office"),
        ("the closest pub", "pub"),
        ("Where is the nearest cash machine?", "cash machine"),
        ("nearby cafés", "cafés"),
        ("pubs near me", "pubs"),
        ("supermarket nearby", "supermarket"),
    ],
)
def test_the_kind_of_place_is_distinguished_from_the_question(words: str, kind: str) -> None:
    assert nearest_of(words) == kind


@pytest.mark.parametrize(
    "words", ["pharmacy", "cafe near Harbour Street", "Nearest", "12 Nearby Lane", "near me", ""]
)
def test_other_words_ask_for_what_they_say(words: str) -> None:
    assert nearest_of(words) is None
