"""Pictures: each product drawn as an SVG, by its kind, colour, size and brand.

A drawing is text: shapes after one another, each a paint, a stroke's width if it is a line, and where it is:
`c R62 52 76 118 5` is a box in the finish's colour, `k2 L50 104 50 156` a thin black line. `*` stands for the shapes
that all kinds of a category have.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from shopseed.plan import Plan, catalogue
from shopseed.vocabulary import load

FOLDER = Path(__file__).resolve().parent.parent / "drawings"
SIDE, FLOOR = 200, 174
OUTLINE = "#3b3f44"
PAINTS = {
    "k": "#2e3236",
    "w": "#ffffff",
    "s": "#b9c2c8",
    "g": "#cfe4ec",
    "o": "#b98a56",
    "y": "#e8b83a",
    "r": "#c8402f",
    "n": "#5a8f4a",
    "b": "#3f6fae",
    "e": "#6b4a2f",
    "p": "#f6f0df",
    "i": "#d3e2ea",
}
GROUNDS = ("#e3eae6", "#f1e6d8", "#dfe7f1", "#ebe4f0", "#eeeedb")
TRIMS = ("#3d4247", "#a9713f", "#8c2f39", "#c49a3a", "#41698c")  # as many as a category has brands
BREADTHS = (1.0, 0.93, 1.05, 0.96, 1.02)
MARKS = (
    "O0 0 15",
    "R-14 -14 28 28 4",
    "P0 -18 18 0 0 18 -18 0",
    "P-16 -12 16 -12 0 18",
    "M-14 -15 L14 -15 L14 2 Q14 14 0 18 Q-14 14 -14 2 Z",
    "P-9 -16 9 -16 18 0 9 16 -9 16 -18 0",
    "P0 -18 16 12 -16 12",
    "O0 0 18 12",
)
INKS = [
    "#22305a",
    "#8c2f39",
    "#27584a",
    "#6a2c58",
    "#7a5a18",
    "#33383d",
    "#1f6f73",
    "#a34a1c",
    "#4a4a9a",
]
SHAPE = re.compile(r"([a-z])([\d.]*) (\S.*)")


@cache
def colours() -> dict[str, Any]:
    """Return the colours of finishes and materials."""
    return tomllib.loads((FOLDER / "colours.toml").read_text(encoding="utf-8"))


@cache
def drawings() -> dict[str, dict[str, str]]:
    """Return what is drawn for each category: the shapes of `all` its kinds, and of each kind."""
    files = sorted(FOLDER.glob("[0-9]*.toml"))
    parts = (tomllib.loads(file.read_text(encoding="utf-8")) for file in files)
    return {name: table for part in parts for name, table in part.items()}


@cache
def _brands() -> dict[str, int]:
    names = {brand for department in load() for brand in department.places}
    return {name: number for number, name in enumerate(sorted(names))}


def mixed(colour: str, other: str, share: float) -> str:
    """Return a colour with a `share` of another one in it."""
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(one + (two - one) * share):02x}" for one, two in pairs)


def _paints(item: Plan, brand: int) -> dict[str, str]:
    finish = colours()["finishes"][item.finish]
    body, trim = (finish, TRIMS[brand]) if isinstance(finish, str) else finish
    made_of = item.model.material.lower()
    known = colours()["materials"].items()
    return PAINTS | {
        "c": body,
        "d": mixed(body, "#000000", 0.22),
        "l": mixed(body, "#ffffff", 0.35),
        "v": body,
        "t": trim,
        "m": next((colour for word, colour in known if word in made_of), PAINTS["s"]),
    }


def _element(where: str) -> str:
    form, rest = where[0], where[1:]
    if form == "M":
        return f'<path d="{where}"'
    numbers = rest.split()
    if form == "R":
        x, y, width, height, *radius = numbers
        corner = f' rx="{radius[0]}"' if radius else ""
        return f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{corner}'
    if form == "O":
        x, y, *radii = numbers
        return f'<ellipse cx="{x}" cy="{y}" rx="{radii[0]}" ry="{radii[-1]}"'
    kind = {"P": "polygon", "L": "polyline"}[form]
    return f'<{kind} points="{" ".join(numbers)}"'


def _shape(text: str, paints: dict[str, str]) -> str:
    found = SHAPE.fullmatch(text)
    if found is None:
        message = f"not a shape: {text!r}"
        raise ValueError(message)
    letter, width, where = found.groups()
    element, paint = _element(where), paints[letter]
    if not width:
        thin = ' fill-opacity=".45"' if letter in "gv" else ""
        return f'{element} fill="{paint}"{thin}/>'
    line = f'{element} fill="none" stroke="{paint}" stroke-width="{width}"/>'
    if float(width) < 4:
        return line
    edge = (
        f'{element} fill="none" stroke-width="{float(width) + 2.4:g}"/>'  # in the outline's colour
    )
    return edge + line


def shapes(category: str, kind: str) -> list[str]:
    """Return the shapes of a kind, those that all kinds have at their place."""
    table = drawings()[category]
    own = [text.strip() for text in table[kind].split(";")]
    every = [text.strip() for text in table.get("all", "").split(";") if text.strip()]
    return [each for text in own for each in (every if text == "*" else [text])]


def _mark(brand: str) -> str:
    number = _brands()[brand]
    mark = _element(MARKS[number % len(MARKS)])
    ink = INKS[number % len(INKS)]
    return (
        f'<g transform="translate(23 23) scale(.85)"><{mark[1:]} fill="{ink}" stroke="none"/>'
        '<text y="5" font-family="Arial,Helvetica,sans-serif" font-size="15" font-weight="bold"'
        f' text-anchor="middle" fill="#fff" stroke="none">{brand[0]}</text></g>'
    )


def draw(item: Plan) -> str:
    """Return the picture of a product, which is as large on it as its size is among the sizes."""
    words = item.words
    brand = words.brands.index(item.model.brand)
    tall = 0.78 + 0.18 * words.sizes.index(item.size) / max(len(words.sizes) - 1, 1)
    wide = tall * BREADTHS[brand]
    ground = GROUNDS[brand]
    paints = _paints(item, brand)
    body = "".join(_shape(text, paints) for text in shapes(words.name, item.model.kind.name))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320" viewBox="0 0 {SIDE} {SIDE}">'
        f'<rect width="{SIDE}" height="{SIDE}" rx="18" fill="{ground}"/>'
        f'<ellipse cx="100" cy="{FLOOR}" rx="{74 * wide:.0f}" ry="8" fill="{mixed(ground, "#000000", 0.13)}"/>'
        f'<g stroke="{OUTLINE}" stroke-width="1.2" stroke-linejoin="round" stroke-linecap="round"'
        f' transform="translate({100 - 100 * wide:.1f} {FLOOR - FLOOR * tall:.1f})'
        f' scale({wide:.3f} {tall:.3f})">{body}</g>{_mark(item.model.brand)}</svg>\n'
    )


def shown(item: Plan) -> Plan:
    """Return what the picture of a product shows: of one with variants, the first of them."""
    return item.children[0] if item.children else item


def picture_name(item: Plan) -> str:
    """Return the file name of a product's picture."""
    return f"{shown(item).id}.svg"


def caption(item: Plan) -> str:
    """Return what a product's picture shows, in words: the kind and the colour."""
    one = shown(item)
    return f"{one.model.kind.name} {one.words.noun}, {one.finish}"


def everything() -> Iterator[Plan]:
    """Yield all that has a picture of its own."""
    for top in catalogue(load()):
        yield from top.children or [top]


def main() -> None:
    """Draw all pictures into the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for item in everything():
        (folder / picture_name(item)).write_text(draw(item), encoding="utf-8")


if __name__ == "__main__":
    main()
