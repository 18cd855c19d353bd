"""256 patterns for people without a picture: five by five fields, left and right the same."""

from __future__ import annotations

import colorsys
from pathlib import Path
from random import Random


def draw_all(folder: Path) -> None:
    """Write 00.svg to ff.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(256):
        (folder / f"{number:02x}.svg").write_text(_pattern(number), encoding="utf-8")


def _pattern(number: int) -> str:
    rng = Random(f"avatar/{number}")
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(rng.random(), 0.48, 0.45))
    chosen = set(rng.sample(range(15), rng.randrange(7, 11)))
    fields = "".join(
        f"M{x + 1} {y + 1}h1v1h-1z"
        for y in range(5)
        for column in range(3)
        if 3 * y + column in chosen
        for x in sorted({column, 4 - column})
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7">'
        '<path fill="#f1efe9" d="M0 0h7v7H0z"/>'
        f'<path fill="#{red:02x}{green:02x}{blue:02x}" d="{fields}"/></svg>\n'
    )
