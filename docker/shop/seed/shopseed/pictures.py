"""Pictures: one small card per category and tint, a drawn pictogram on a soft ground."""

from __future__ import annotations

from pathlib import Path

from django.utils.text import slugify
from PIL import Image, ImageDraw, ImageFont

from shopseed.vocabulary import Department

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
GLYPH = 109  # the only size that the font's bitmaps have
SIDE = 320
TINTS = ("#dfe8e4", "#f3e3d3", "#dde6f0", "#ece4f0", "#f1ebd4")
PAPER = "#ffffff"


def picture_name(category: str, tint: int) -> str:
    """Return the file name of a category's picture in one of the tints."""
    return f"{slugify(category)}-{tint + 1}.png"


def _draw(emoji: str, tint: str) -> Image.Image:
    card = Image.new("RGB", (SIDE, SIDE), PAPER)
    canvas = ImageDraw.Draw(card)
    canvas.rounded_rectangle((6, 6, SIDE - 7, SIDE - 7), radius=34, fill=tint)
    canvas.ellipse((92, 236, SIDE - 92, 262), fill=_darker(tint))
    glyph = Image.new("RGBA", (136, 128))
    font = ImageFont.truetype(FONT, GLYPH)
    ImageDraw.Draw(glyph).text((0, 0), emoji, font=font, embedded_color=True)
    if glyph.getbbox() is None:
        message = f"the font has no picture of {emoji!r}"
        raise ValueError(message)
    glyph = glyph.resize((180, 170), Image.Resampling.LANCZOS)
    card.paste(glyph, ((SIDE - 180) // 2, 74), glyph)
    return card


def _darker(tint: str) -> tuple[int, int, int]:
    red, green, blue = (int(tint[start : start + 2], 16) for start in (1, 3, 5))
    return red * 9 // 10, green * 9 // 10, blue * 9 // 10


def draw_all(departments: list[Department], media: Path) -> None:
    """Draw the pictures of all categories into `media`/products."""
    folder = media / "products"
    folder.mkdir(parents=True, exist_ok=True)
    for department in departments:
        for words in department.categories:
            for number, tint in enumerate(TINTS):
                picture = _draw(words.emoji, tint).quantize(64)
                picture.save(folder / picture_name(words.name, number), optimize=True)
