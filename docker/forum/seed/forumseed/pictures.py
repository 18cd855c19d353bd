"""Draws the pictures of threads that show one: what the title names, in the light that it names."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw
from waypost import pictures

if TYPE_CHECKING:
    from forumseed.threads import Draft

WIDE, HIGH, GROUND = 480, 320, 220
COLOURS = 24
MOMENT = re.compile(r"\b(dawn|dusk|noon|midnight|fog|snow|spring|the rain)\b")
THING = re.compile(r"My favourite (bench|window|corner|bridge)")
COUNTS = ("no", "one", "two", "three", "four", "five")
# The sky's colours above and below, the ground's, and what a description says of the light.
LIGHTS = {
    "dawn": ("#e8a27c", "#fbe6cc", "#6f7a63", "at dawn, the sky pale orange"),
    "dusk": ("#474876", "#e8946d", "#4f4a52", "at dusk, the sky red above the ground"),
    "noon": ("#86c1e8", "#e2f2f9", "#93a878", "at noon, the sun high in a blue sky"),
    "midnight": ("#0e1730", "#27375e", "#1d2438", "at midnight, under a moon and stars"),
    "fog": ("#bfc6ca", "#e3e6e6", "#a9afab", "in fog, the far side hardly to be seen"),
    "snow": ("#aebccb", "#e7edf2", "#f4f7f9", "in falling snow, the ground white"),
    "spring": ("#9fd2ee", "#eff8ea", "#8fbf6a", "in spring, with trees in blossom"),
    "the rain": ("#75838f", "#b2bcc2", "#6d7672", "in the rain, under a grey sky"),
    "": ("#a7c9dd", "#eef3ee", "#9aa583", "on a mild day"),
}
WALLS = ("#c8553d", "#e0a458", "#f1e1c2", "#8fb8a8", "#dcdad3", "#b0c4d9", "#a9b388")
DARK, WATER, WOOD, PAPER = "#2c3440", "#4d7f93", "#7a5a3c", "#f4eedd"


class Scene:
    """One picture in the making."""

    def __init__(self, seed: str, moment: str) -> None:
        self.rng, self.moment = Random(seed), moment
        self.image = Image.new("RGB", (WIDE, HIGH))
        self.draw = ImageDraw.Draw(self.image)
        above, below, self.ground, self.light = LIGHTS[moment]
        self.glass = "#f6d77a" if moment in {"midnight", "dusk"} else "#cfe0e6"
        for band in range(5):
            tone = Image.blend(
                Image.new("RGB", (1, 1), above), Image.new("RGB", (1, 1), below), band / 4
            ).getpixel((0, 0))
            self.draw.rectangle((0, band * GROUND // 5, WIDE, HIGH), fill=tone)
        self._lights()
        self.draw.rectangle((0, GROUND, WIDE, HIGH), fill=self.ground)

    def _lights(self) -> None:
        x = self.rng.randrange(60, WIDE - 60)
        y = {"noon": 45, "midnight": 60, "dawn": GROUND - 22, "dusk": GROUND - 14}.get(self.moment)
        if y:
            self.draw.ellipse((x - 22, y - 22, x + 22, y + 22), fill="#fff3cf")
        if self.moment == "midnight":
            for _ in range(30):
                at = self.rng.randrange(WIDE), self.rng.randrange(GROUND - 60)
                self.draw.point(at, fill="#ffffff")

    def house(self, x: int, wide: int, high: int) -> None:
        """Draw a house that stands on the ground."""
        top = GROUND - high
        self.draw.rectangle((x, top, x + wide, GROUND), fill=self.rng.choice(WALLS))
        self.draw.polygon(
            ((x - 4, top), (x + wide // 2, top - wide // 3), (x + wide + 4, top)), fill=DARK
        )
        for row in range(top + 14, GROUND - 24, 30):
            for column in range(x + 10, x + wide - 14, 24):
                self.draw.rectangle((column, row, column + 11, row + 15), fill=self.glass)

    def tree(self, x: int) -> None:
        """Draw a tree."""
        leaf = {"spring": "#f0c3cf", "snow": "#dfe7ea"}.get(self.moment, "#4f7a52")
        high = self.rng.randrange(60, 110)
        self.draw.rectangle((x - 4, GROUND - high // 2, x + 4, GROUND + 12), fill=WOOD)
        self.draw.ellipse((x - 30, GROUND - high - 20, x + 30, GROUND - high // 3), fill=leaf)

    def weather(self) -> None:
        """Put spring's trees in front, or lay fog, snow or rain over everything."""
        if self.moment == "spring":
            self.tree(70)
            self.tree(WIDE - 90)
        if self.moment == "fog":
            veil = Image.new("RGB", (WIDE, HIGH), "#d9dcdc")
            self.image.paste(Image.blend(self.image, veil, 0.55))
        for _ in range({"snow": 160, "the rain": 110}.get(self.moment, 0)):
            x, y = self.rng.randrange(WIDE), self.rng.randrange(HIGH)
            if self.moment == "snow":
                self.draw.ellipse((x, y, x + 3, y + 3), fill="#ffffff")
            else:
                self.draw.line((x, y, x - 4, y + 14), fill="#d3dbe0")

    def file(self) -> bytes:
        """Return the picture as PNG."""
        held = io.BytesIO()
        self.image.quantize(COLOURS, dither=Image.Dither.NONE).save(held, "PNG", optimize=True)
        return held.getvalue()


def _spread(count: int) -> range:
    return range(WIDE // (2 * count), WIDE, WIDE // count)


def _many(count: int, noun: str) -> str:
    return f"{COUNTS[count]} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"


def _boats(scene: Scene, count: int, place: str) -> str:
    scene.draw.rectangle((0, GROUND, WIDE, HIGH), fill=WATER)
    for x in _spread(count):
        y, draw = GROUND + scene.rng.randrange(20, 60), scene.draw
        draw.polygon(((x - 34, y), (x + 34, y), (x + 22, y + 18), (x - 24, y + 18)), fill=DARK)
        draw.line((x, y, x, y - 70), fill=WOOD, width=3)
        draw.polygon(((x + 3, y - 66), (x + 34, y - 14), (x + 3, y - 14)), fill=PAPER)
    return f"{_many(count, 'boat')} by the {place}"


def _bridge(scene: Scene, count: int, place: str) -> str:
    scene.draw.rectangle((0, GROUND + 20, WIDE, HIGH), fill=WATER)
    scene.draw.rectangle((20, GROUND - 30, WIDE - 20, GROUND - 8), fill="#8d8378")
    wide = (WIDE - 40) // count
    for x in range(20, WIDE - 20 - wide // 2, wide):
        scene.draw.rectangle((x, GROUND - 10, x + wide, GROUND + 40), fill="#8d8378")
        arch = (x + 10, GROUND, x + wide - 10, GROUND + 90)
        scene.draw.pieslice(arch, 180, 360, fill=WATER)
    return f"the {place}, of stone, with {_many(count, 'arch')} over the water"


def _tram(scene: Scene, count: int, place: str) -> str:
    for x in _spread(count):
        half, draw = WIDE // (2 * count) - 14, scene.draw
        draw.rounded_rectangle((x - half, 150, x + half, 232), 10, fill="#b5382f")
        draw.rectangle((x - half + 8, 164, x + half - 8, 192), fill=scene.glass)
        draw.line((x, 150, x + 14, 118), fill=DARK, width=3)
    scene.draw.line((0, 118, WIDE, 118), fill=DARK, width=2)
    return f"{_many(count, 'red tram')} at the {place}"


def _trees(scene: Scene, count: int, place: str) -> str:
    scene.draw.pieslice((-60, GROUND - 70, WIDE + 60, HIGH + 200), 180, 360, fill=scene.ground)
    for x in _spread(count):
        scene.tree(x)
    return f"{_many(count, 'tree')} at the {place}"


def _hall(scene: Scene, count: int, place: str) -> str:
    draw, wall = scene.draw, scene.rng.choice(WALLS[2:])
    draw.rectangle((90, 120, 390, GROUND), fill=wall)
    draw.polygon(((75, 120), (240, 60), (405, 120)), fill=DARK)
    for number in range(count + 1):
        x = 110 + number * 250 // count
        draw.rectangle((x, 125, x + 12, GROUND), fill="#8b8f96")
    draw.rectangle((225, 165, 255, GROUND), fill=scene.glass)
    return f"the front of the {place}, a large building with {count + 1} columns"


def _stalls(scene: Scene, count: int, place: str) -> str:
    for x in _spread(count):
        half, draw = WIDE // (2 * count) - 8, scene.draw
        draw.rectangle((x - half + 6, 170, x + half - 6, GROUND + 14), fill=WOOD)
        for number in range(6):
            left = x - half + number * half // 3
            tone = scene.rng.choice(WALLS) if number % 2 else PAPER
            draw.rectangle((left, 138, left + half // 3, 170), fill=tone)
    return f"{_many(count, 'stall')} with striped awnings at the {place}"


def _shop(scene: Scene, count: int, place: str) -> str:
    for x in range(-10, WIDE, 170):
        scene.house(x, 150, scene.rng.randrange(110, 170))
    scene.draw.rectangle((160, 150, 310, GROUND), fill=PAPER)
    scene.draw.rectangle((172, 170, 250, 210), fill=scene.glass)
    scene.draw.rectangle((264, 168, 296, GROUND), fill=WOOD)
    for number in range(count):
        scene.draw.ellipse((178 + number * 14, 192, 188 + number * 14, 206), fill=WALLS[number])
    return f"the {place} between two houses, {_many(count, 'thing')} in its window"


def _roofs(scene: Scene, count: int, _: str) -> str:
    for x in range(-20, WIDE, 80):
        scene.house(x, 74, scene.rng.randrange(50, 120))
    for x in _spread(count):
        scene.draw.rectangle((x - 10, 70, x + 10, GROUND), fill=DARK)
        scene.draw.polygon(((x - 14, 70), (x, 30), (x + 14, 70)), fill=DARK)
    return f"the roofs of the town and {_many(count, 'tower')}"


def _bench(scene: Scene, count: int, _: str) -> str:
    said = _trees(scene, count, "park").removesuffix(" at the park")
    for y in (204, 216, 236):
        scene.draw.rectangle((170, y, 310, y + 7), fill=WOOD)
    for x in (180, 296):
        scene.draw.rectangle((x, 204, x + 6, 262), fill=DARK)
    return f"an empty wooden bench in front of {said}"


def _window(scene: Scene, count: int, place: str) -> str:
    _roofs(scene, 1, place)
    for box in ((0, 0, 70, HIGH), (WIDE - 70, 0, WIDE, HIGH), (0, 250, WIDE, HIGH)):
        scene.draw.rectangle(box, fill=WOOD)
    scene.draw.line((WIDE // 2, 0, WIDE // 2, 250), fill=WOOD, width=10)
    for number in range(count):
        x = 100 + number * 60
        scene.draw.rectangle((x, 228, x + 26, 254), fill="#c8553d")
        scene.draw.ellipse((x - 6, 196, x + 32, 232), fill="#4f7a52")
    return f"a window with {_many(count, 'pot plant')} on the sill, and roofs behind it"


def _corner(scene: Scene, count: int, _: str) -> str:
    said = _shop(scene, count, "shop on the corner")
    scene.draw.line((400, 90, 400, 250), fill=DARK, width=5)
    scene.draw.ellipse((386, 74, 414, 102), fill="#fff3cf")
    return f"{said}, a street lamp to the right"


Drawer = Callable[[Scene, int, str], str]
BY_PLACE: dict[str, Drawer] = {
    **dict.fromkeys(("harbour", "café by the water", "ferry landing", "fish stalls"), _boats),
    **dict.fromkeys(("canal bridge",), _bridge),
    **dict.fromkeys(("central station", "tram depot"), _tram),
    **dict.fromkeys(("botanical garden", "allotments", "hill with the view", "river path"), _trees),
    **dict.fromkeys(("old market", "covered market", "flea market", "cathedral square"), _stalls),
    **dict.fromkeys(
        ("town library", "museum of crafts", "swimming baths", "town hall", "cinema", "theatre"),
        _hall,
    ),
}  # fmt: skip
BY_THING: dict[str, Drawer] = {
    "bench": _bench, "window": _window, "corner": _corner, "bridge": _bridge,
}  # fmt: skip


def draw(drafts: list[Draft]) -> None:
    """Give every thread that shows a picture its file and a description of what is on it."""
    for draft in drafts:
        if draft.intent == "photo" and not draft.is_pinned:
            content, draft.image_alt = picture(draft)
            draft.image = pictures.keep(pictures.name_of(content) or "", content)


def picture(draft: Draft) -> tuple[bytes, str]:
    """Return a thread's picture and what is to be seen on it."""
    title = draft.title
    found, thing = MOMENT.search(title), THING.search(title)
    place = draft.context.said.get("place", "") if draft.context else ""
    drawer = BY_THING[thing[1]] if thing else BY_PLACE.get(place, _shop)
    if "seen from" in title:
        drawer = _roofs
    scene = Scene(f"forum/picture/{draft.id}", found[1] if found else "")
    said = drawer(scene, scene.rng.randint(1, 4), place or (thing[1] if thing else ""))
    if title.startswith("I drew"):
        return scene.file(), f"A coloured drawing: {said}"
    scene.weather()
    return scene.file(), f"{said[0].upper()}{said[1:]}, {scene.light}"
