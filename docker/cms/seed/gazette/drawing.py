"""How a picture is drawn and saved in the sizes that WordPress keeps of it."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw, ImageFont

from gazette.pictures import Picture

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
GLYPH = 109  # the only size that the font's bitmaps have
WIDE, HIGH = 1200, 800
SIZES = {"medium": (360, 240), "large": (800, 533), "thumbnail": (150, 150)}
COLOURS = 64

SKIES = (
    ("#bfe3f2", "#eaf6f4"),
    ("#f6c89f", "#fbe8cf"),
    ("#9fb8d8", "#dfe6ee"),
    ("#f2b5a7", "#f9e2c8"),
    ("#8ca6b8", "#cfd8da"),
    ("#b7d9c8", "#eef5e6"),
    ("#5a6c96", "#b7a3c4"),
    ("#dcd3c4", "#f3eee4"),
)
WALLS = ("#c8553d", "#e0a458", "#f4e3c1", "#8fb8a8", "#dfe0dc", "#b0c4d9", "#d98e73", "#a9b388")
DARKS = ("#26374d", "#3b2f2f", "#2f4f4f", "#44355b", "#5b3a29")
GREENS = ("#7a9e6d", "#5e8a62", "#93ad6b", "#48745c")
SEAS = ("#3f7c94", "#2f6a86", "#5b93a3", "#4a7a8c")


class Canvas:
    """One picture in the making; measures are in pixels of the full size."""

    def __init__(self, seed: str) -> None:
        self.rng = Random(seed)
        self.image = Image.new("RGB", (WIDE, HIGH))
        self.draw = ImageDraw.Draw(self.image)

    def sky(self) -> None:
        """Fill everything with a sky in six bands, and a sun or moon."""
        top, low = (
            tuple(int(one[at : at + 2], 16) for at in (1, 3, 5)) for one in self.rng.choice(SKIES)
        )
        for band in range(6):
            tone = tuple(round(a + (b - a) * band / 5) for a, b in zip(top, low, strict=True))
            self.draw.rectangle((0, band * 90, WIDE, HIGH), fill=tone)
        x, y, r = (
            self.rng.randrange(120, 1080),
            self.rng.randrange(90, 220),
            self.rng.randrange(38, 70),
        )
        self.draw.ellipse(
            (x - r, y - r, x + r, y + r), fill=self.rng.choice(("#fff6d8", "#f7d98b", "#fdfdf5"))
        )

    def ridge(self, base: int, height: int, colour: str) -> None:
        """Draw rolling land from `base` down."""
        phase, wave = self.rng.random() * 6, self.rng.randrange(180, 420)
        points = [
            (x, base - height * (0.5 + 0.5 * math.sin(phase + x / wave)))
            for x in range(0, WIDE + 20, 20)
        ]
        self.draw.polygon([(0, HIGH), *points, (WIDE, HIGH)], fill=colour)

    def houses(self, base: int) -> None:
        """Draw a row of houses that stand on `base`."""
        x = -self.rng.randrange(60)
        while x < WIDE:
            wide, high = self.rng.randrange(110, 190), self.rng.randrange(150, 300)
            self._house(x, base, wide, high)
            x += wide

    def _house(self, x: int, base: int, wide: int, high: int) -> None:
        roof, dark = (
            self.rng.choice(("#7b4b3a", "#5c5f66", "#8a5a44", "#4f5b52")),
            self.rng.choice(DARKS),
        )
        self.draw.rectangle((x, base - high, x + wide, base), fill=self.rng.choice(WALLS))
        peak = self.rng.randrange(40, 90)
        self.draw.polygon(
            [(x - 6, base - high), (x + wide / 2, base - high - peak), (x + wide + 6, base - high)],
            fill=roof,
        )
        for row in range((high - 70) // 75):
            for column in range(2):
                left, top = x + wide * (0.18 + 0.42 * column), base - high + 28 + row * 75
                pane = self.rng.choice((dark, "#f7e6a6", "#dbe7ea"))
                self.draw.rectangle((left, top, left + wide * 0.2, top + 44), fill=pane)
        self.draw.rectangle((x + wide * 0.4, base - 62, x + wide * 0.6, base), fill=dark)

    def sea(self, top: int) -> None:
        """Draw water from `top` down, with lines of light."""
        self.draw.rectangle((0, top, WIDE, HIGH), fill=self.rng.choice(SEAS))
        for _ in range(26):
            x, y = self.rng.randrange(WIDE), self.rng.randrange(top + 12, HIGH)
            self.draw.line((x, y, x + self.rng.randrange(40, 150), y), fill="#cfe3e6", width=3)

    def boat(self, x: int, y: int, size: float) -> None:
        """Draw a small boat with a mast."""
        hull = [
            (x, y),
            (x + 190 * size, y),
            (x + 150 * size, y + 50 * size),
            (x + 34 * size, y + 50 * size),
        ]
        self.draw.polygon(hull, fill=self.rng.choice(DARKS + WALLS[:2]))
        self.draw.line(
            (x + 92 * size, y, x + 92 * size, y - 210 * size),
            fill="#3b2f2f",
            width=max(3, int(6 * size)),
        )
        sail = [
            (x + 98 * size, y - 200 * size),
            (x + 98 * size, y - 20 * size),
            (x + 178 * size, y - 20 * size),
        ]
        self.draw.polygon(sail, fill=self.rng.choice(("#f8f3e6", "#d98e73", "#f4e3c1")))

    def sign(self, emoji: str, x: int, y: int, side: int) -> None:
        """Put a pictogram on the picture, its centre at x, y."""
        if not emoji:
            return
        glyph = Image.new("RGBA", (136, 128))
        font = ImageFont.truetype(FONT, GLYPH)
        ImageDraw.Draw(glyph).text((0, 0), emoji, font=font, embedded_color=True)
        glyph = glyph.resize((side, side * 128 // 136), Image.Resampling.LANCZOS)
        self.image.paste(glyph, (x - side // 2, y - side // 2), glyph)


def town(c: Canvas, emoji: str) -> None:
    """Draw the scene `town`."""
    c.sky()
    c.ridge(470, 90, c.rng.choice(GREENS))
    c.houses(610)
    c.draw.rectangle((0, 610, WIDE, HIGH), fill="#c9bfae")
    c.draw.line((0, 700, WIDE, 700), fill="#b3a792", width=6)
    c.sign(emoji, c.rng.randrange(350, 850), 650, 250)


def harbour(c: Canvas, emoji: str) -> None:
    """Draw the scene `harbour`."""
    c.sky()
    c.ridge(360, 70, c.rng.choice(GREENS))
    c.houses(455)
    c.draw.rectangle((0, 455, WIDE, 490), fill="#8d8577")
    c.sea(490)
    for _ in range(3):
        c.boat(c.rng.randrange(0, 950), c.rng.randrange(560, 690), c.rng.uniform(0.7, 1.2))
    c.sign(emoji, c.rng.randrange(300, 900), 650, 210)


def road(c: Canvas, emoji: str) -> None:
    """Draw the scene `road`."""
    c.sky()
    c.houses(520)
    c.draw.rectangle((0, 520, WIDE, HIGH), fill=c.rng.choice(GREENS))
    c.draw.polygon([(470, 520), (730, 520), (1120, HIGH), (80, HIGH)], fill="#5f6269")
    for step in range(4):
        c.draw.polygon(
            [
                (592, 540 + step * 70),
                (608, 540 + step * 70),
                (614, 580 + step * 70),
                (586, 580 + step * 70),
            ],
            fill="#f4f0e0",
        )
    c.sign(emoji, 600, 610, 300)


def table(c: Canvas, emoji: str) -> None:
    """Draw the scene `table`."""
    wall, board = (
        c.rng.choice(WALLS[2:]),
        c.rng.choice(("#a9744f", "#8a5a3c", "#c49a6c", "#6e4b37")),
    )
    c.draw.rectangle((0, 0, WIDE, HIGH), fill=wall)
    x = c.rng.randrange(80, 760)
    c.draw.rectangle((x, 70, x + 330, 400), fill="#f7f4ea")
    c.draw.rectangle((x + 16, 86, x + 314, 384), fill=c.rng.choice([sky[0] for sky in SKIES]))
    c.draw.rectangle((x + 159, 86, x + 171, 384), fill="#f7f4ea")
    c.draw.rectangle((x + 16, 229, x + 314, 241), fill="#f7f4ea")
    c.draw.rectangle((0, 560, WIDE, HIGH), fill=board)
    for line in range(3):
        c.draw.line((0, 620 + line * 62, WIDE, 616 + line * 62), fill="#5d3f2c", width=3)
    at = c.rng.randrange(420, 780)
    c.draw.ellipse((at - 210, 590, at + 210, 668), fill="#4d3425")
    c.sign(emoji, at, 470, 380)


def garden(c: Canvas, emoji: str) -> None:
    """Draw the scene `garden`."""
    c.sky()
    c.ridge(400, 110, c.rng.choice(GREENS))
    for post in range(0, WIDE, 60):
        c.draw.rectangle((post + 8, 360, post + 40, 500), fill="#e9e2d0")
    c.draw.rectangle((0, 400, WIDE, 418), fill="#d7cdb6")
    c.draw.rectangle((0, 490, WIDE, HIGH), fill="#6f9460")
    for bed in range(4):
        c.draw.rectangle((40 + bed * 290, 560, 280 + bed * 290, 760), fill="#5b4030")
        for plant in range(12):
            x, y = 62 + bed * 290 + plant % 4 * 62, 590 + plant // 4 * 60
            c.draw.ellipse(
                (x - 20, y - 20, x + 20, y + 20), fill=c.rng.choice((*GREENS, "#c8553d", "#e0a458"))
            )
    c.sign(emoji, c.rng.randrange(250, 950), 470, 280)


def hills(c: Canvas, emoji: str) -> None:
    """Draw the scene `hills`."""
    c.sky()
    c.sea(330)
    for base, colour in zip((470, 580, 700), c.rng.sample(GREENS, 3), strict=True):
        c.ridge(base, 140, colour)
    c.draw.line(
        [(420, HIGH), (520, 720), (470, 640), (580, 560), (560, 520)],
        fill="#e6d9b8",
        width=16,
        joint="curve",
    )
    c.sign(emoji, c.rng.choice((260, 880)), 520, 260)


def beach(c: Canvas, emoji: str) -> None:
    """Draw the scene `beach`."""
    c.sky()
    c.sea(360)
    c.draw.polygon([(0, 600), (420, 560), (WIDE, 640), (WIDE, HIGH), (0, HIGH)], fill="#e8d3a4")
    c.draw.line([(0, 600), (420, 560), (WIDE, 640)], fill="#fbf7ea", width=12)
    c.sign(emoji, c.rng.randrange(300, 900), 610, 260)


def museum(c: Canvas, emoji: str) -> None:
    """Draw the scene `museum`."""
    c.sky()
    c.draw.rectangle((0, 640, WIDE, HIGH), fill="#c9bfae")
    stone = c.rng.choice(("#e9e0cd", "#d9d3c7", "#efe6d8", "#cfc4b2"))
    c.draw.rectangle((180, 280, 1020, 640), fill=stone)
    c.draw.polygon([(150, 280), (600, 120), (1050, 280)], fill=stone, outline="#8d8577")
    for column in range(6):
        c.draw.rectangle((215 + column * 150, 300, 265 + column * 150, 620), fill="#b8ab95")
    c.draw.rectangle((140, 620, 1060, 660), fill="#a89b86")
    c.sign(emoji, 600, 500, 290)


def stage(c: Canvas, emoji: str) -> None:
    """Draw the scene `stage`."""
    cloth = c.rng.choice(("#7d2b35", "#2f4a6d", "#4b2e5a", "#2f5d50"))
    c.draw.rectangle((0, 0, WIDE, HIGH), fill="#1d1a24")
    c.draw.polygon([(380, 0), (820, 0), (1060, 640), (140, 640)], fill="#4a4355")
    for side in (0, 1):
        for fold in range(4):
            x = fold * 62 if side == 0 else WIDE - 62 - fold * 62
            c.draw.rectangle((x, 0, x + 50, 660), fill=cloth)
    c.draw.rectangle((0, 640, WIDE, HIGH), fill="#8a5a3c")
    for lamp in range(5):
        c.draw.ellipse((170 + lamp * 210, 730, 230 + lamp * 210, 790), fill="#f7d98b")
    c.sign(emoji, 600, 470, 340)


def pitch(c: Canvas, emoji: str) -> None:
    """Draw the scene `pitch`."""
    c.sky()
    c.draw.rectangle((0, 300, WIDE, 430), fill="#6b7280")
    for row in range(3):
        for seat in range(60):
            c.draw.ellipse(
                (seat * 20, 312 + row * 36, seat * 20 + 14, 330 + row * 36),
                fill=c.rng.choice(WALLS),
            )
    for stripe in range(6):
        c.draw.rectangle(
            (0, 430 + stripe * 62, WIDE, 492 + stripe * 62), fill=("#5f9155", "#6ba05f")[stripe % 2]
        )
    c.draw.rectangle((430, 360, 770, 520), outline="#ffffff", width=9)
    c.draw.line((0, 640, WIDE, 640), fill="#ffffff", width=7)
    c.sign(emoji, c.rng.randrange(380, 820), 640, 240)


def skyline(c: Canvas, emoji: str) -> None:
    """Draw the scene `skyline`."""
    c.sky()
    c.ridge(480, 120, c.rng.choice(GREENS))
    for _ in range(c.rng.randrange(2, 5)):
        x, wide, high = (
            c.rng.randrange(80, 1050),
            c.rng.randrange(40, 80),
            c.rng.randrange(300, 480),
        )
        c.draw.rectangle((x, 620 - high, x + wide, 620), fill=c.rng.choice(WALLS))
        c.draw.polygon(
            [(x - 8, 620 - high), (x + wide / 2, 520 - high), (x + wide + 8, 620 - high)],
            fill=c.rng.choice(DARKS),
        )
    c.houses(620)
    if c.rng.random() < 0.6:
        c.sea(620)
    else:
        c.draw.rectangle((0, 620, WIDE, HIGH), fill=c.rng.choice(GREENS))
    c.sign(emoji, 600, 600, 200)


DRAW = {
    "town": town,
    "harbour": harbour,
    "road": road,
    "table": table,
    "garden": garden,
    "hills": hills,
    "beach": beach,
    "museum": museum,
    "stage": stage,
    "pitch": pitch,
    "skyline": skyline,
}


def save(picture: Picture, folder: Path) -> dict[str, tuple[str, int, int, int]]:
    """Draw a picture into `folder` in all sizes; return file name, width, height and bytes by size ("full" too)."""
    canvas = Canvas(f"picture/{picture.slug}")
    DRAW[picture.scene](canvas, picture.emoji)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"full": (f"{picture.slug}.png", canvas.image)}
    for size, (wide, high) in SIZES.items():
        box = (200, 0, 1000, 800) if size == "thumbnail" else None
        small = canvas.image.resize((wide, high), Image.Resampling.BOX, box=box)
        files[size] = (f"{picture.slug}-{wide}x{high}.png", small)
    saved = {}
    for size, (name, image) in files.items():
        path = folder / name
        few = image.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(path, optimize=size != "full")
        saved[size] = (name, *image.size, path.stat().st_size)
    return saved
