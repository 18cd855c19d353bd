"""A product's picture shows what it is: its kind, its colour, its brand."""

from __future__ import annotations

import colorsys
import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import combinations
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

HUES = {
    "Red": (335, 25),
    "Orange": (15, 40),
    "Yellow": (40, 60),
    "Green": (85, 170),
    "Blue": (185, 235),
}


def pictures() -> Any:
    return import_module("shopseed.pictures")


@cache
def tops() -> list[Any]:
    plan, vocabulary = import_module("shopseed.plan"), import_module("shopseed.vocabulary")
    return list(plan.catalogue(vocabulary.load()))


def drawn(count: int) -> list[Any]:
    """Return products that have a picture of their own, drawn by a seed."""
    goods = [one for top in tops() for one in (top.children or [top])]
    return Random("pictures").sample(goods, count)


def colours(finish: str) -> list[str]:
    """Return the colours of a finish, its main one first."""
    found = pictures().colours()["finishes"][finish]
    return [found] if isinstance(found, str) else list(found)


def body(finish: str) -> str:
    return colours(finish)[0]


def rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def test_two_colours_of_a_product_are_two_pictures_each_in_its_own_colour() -> None:
    families = [top for top in tops() if len({one.finish for one in top.children}) > 1]
    assert len(families) > 100
    for top in Random("families").sample(families, 30):
        shown = {one.finish: pictures().draw(one) for one in top.children}
        assert len(set(shown.values())) == len(shown)
        for finish, picture in shown.items():
            others = set(shown) - {finish}
            assert body(finish) in picture
            assert not any(body(other) in picture for other in others), (top.title, finish)


def test_the_colour_of_each_picture_is_that_of_the_products_finish() -> None:
    for one in drawn(300):
        picture = pictures().draw(one)
        assert all(colour in picture for colour in colours(one.finish)), one.title


def test_the_colours_are_what_their_names_say() -> None:
    named = 0
    for finish in pictures().colours()["finishes"]:
        hue, light, vivid = colorsys.rgb_to_hls(*rgb(body(finish)))
        *_, noun = re.sub(r" (Grip|Handle|Shaft|Oxide|Edition)$", "", finish).split()
        if noun == "Black" or finish.startswith(("Black", "Charcoal")):
            assert light < 0.35, finish
        elif noun == "White":
            assert light > 0.9, finish
        elif noun in HUES:
            low, high = HUES[noun]
            degrees = hue * 360
            inside = low <= degrees <= high if low < high else degrees >= low or degrees <= high
            assert inside, (finish, degrees)
            assert vivid > 0.1, finish
            named += 1
    assert named > 20


def test_finishes_of_a_category_can_be_told_apart() -> None:
    categories = {top.words.name: top.words for top in tops()}
    for words in categories.values():
        for one, other in combinations(words.finishes, 2):
            pairs = zip(rgb(body(one)), rgb(body(other)), strict=True)
            is_far = sum(abs(a - b) for a, b in pairs) > 0.15
            assert is_far or colours(one)[1:] != colours(other)[1:], (words.name, one, other)


def test_each_kind_of_a_category_has_a_form_of_its_own() -> None:
    categories = {top.words.name: top.words for top in tops()}
    for words in categories.values():
        forms = {tuple(pictures().shapes(words.name, kind.name)) for kind in words.kinds}
        assert len(forms) == len(words.kinds), words.name


def test_two_models_of_one_kind_differ_in_mark_and_trim() -> None:
    """A kind's models are those of its brands: a mark alone is small in a list."""
    for one in drawn(60):
        others = [replace(one, model=replace(one.model, brand=brand)) for brand in one.words.brands]
        shown = [pictures().draw(other) for other in others]
        marks = {picture.rsplit("<g ", 1)[1] for picture in shown}
        grounds = {picture.split("<ellipse", 1)[0] for picture in shown}
        assert len(marks) == len(grounds) == len(others), one.title


def test_a_larger_size_is_drawn_larger() -> None:
    one = drawn(1)[0]
    scales = []
    for size in one.words.sizes:
        found = re.search(r"scale\([\d.]+ ([\d.]+)\)", pictures().draw(replace(one, size=size)))
        assert found
        scales.append(float(found[1]))
    assert scales == sorted(set(scales))


def test_pictures_are_whole_drawings_that_ask_for_nothing_else() -> None:
    for one in drawn(200):
        root = ET.fromstring(pictures().draw(one))  # noqa: S314  our own
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert not any("href" in name for node in root.iter() for name in node.attrib)


def test_the_words_below_a_picture_say_kind_and_colour() -> None:
    for one in drawn(50):
        assert pictures().caption(one) == f"{one.model.kind.name} {one.words.noun}, {one.finish}"
    family = next(top for top in tops() if top.children)
    assert pictures().caption(family) == pictures().caption(family.children[0])
    assert pictures().picture_name(family) == pictures().picture_name(family.children[0])


def test_what_is_no_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="not a shape"):
        pictures()._shape("what", {})
