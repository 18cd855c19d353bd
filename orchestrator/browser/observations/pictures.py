"""What the viewport shows as a picture, plain or with numbered boxes."""

from __future__ import annotations

import asyncio
from io import BytesIO
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageDraw, ImageFont

from arena_core.task_group import task_group
from orchestrator.browser.observation import Mark, MarkedPicture, Picture
from orchestrator.browser.observations.forms import ObservationForm, ObservedPage, PageNode
from orchestrator.browser.observations.layout import Layers, tree_with_layout, walk

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw as Pen
    from PIL.ImageFont import FreeTypeFont
    from PIL.ImageFont import ImageFont as BitmapFont

# Colours that stand out from each other and carry white figures.
_COLOURS: Final = ("#b00020", "#0b5fa5", "#1b7f3b", "#7a3e9d", "#b35900", "#00707a", "#8a1c5b")
_FONT_SIZE: Final = 12
_NAME_LENGTH: Final = 80
_QUICK: Final = 1  # zlib's level: a quarter of the time, half as large again


class ScreenshotForm:
    """The viewport as it is drawn; a picture of the whole page would resize the page."""

    async def observe(self, page: ObservedPage) -> Picture:
        return await page.picture()

    observe_viewport = observe


class SetOfMarksForm:
    """The viewport with a numbered box on each visible element that can be acted on."""

    async def observe(self, page: ObservedPage) -> MarkedPicture:
        async with task_group() as group:
            marking = group.create_task(_marks(page))
            taking = group.create_task(page.picture())
        marks = marking.result()
        return MarkedPicture(await asyncio.to_thread(paint_marks, taking.result(), marks), marks)

    observe_viewport = observe


SCREENSHOT_FORM: Final[ObservationForm] = ScreenshotForm()
SOM_FORM: Final[ObservationForm] = SetOfMarksForm()


async def _marks(page: ObservedPage) -> tuple[Mark, ...]:
    """Return the visible elements that can be acted on, named as in the accessibility tree."""
    tree, snapshot = await tree_with_layout(page)
    layers = Layers.of(snapshot)
    said = {node.id: node for node in tree.nodes}
    marks: list[Mark] = []
    for node in walk(snapshot.root):
        box = layers.box(node) if node.id is not None else None
        if node.id is None or box is None or not box.visible:
            continue
        known = said.get(node.id)
        role = known.role if known else node.attributes.get("role") or "generic"
        name = known.name if known and known.name else _words(node)
        marks.append(Mark(node.id, role, name, box))
    return tuple(marks)


def _words(node: PageNode) -> str:
    """Return an element's text, for one without a name in the accessibility tree."""
    words = " ".join(one.text for one in walk(node) if one.text.strip())
    return " ".join(words.split())[:_NAME_LENGTH]


def paint_marks(picture: Picture, marks: tuple[Mark, ...]) -> Picture:
    """Return a picture with a box around each mark and its id in a corner."""
    with Image.open(BytesIO(picture.data)) as opened:
        image = opened.convert("RGB")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(_FONT_SIZE)
    for mark in marks:
        _paint(pen, font, mark, (image.width, image.height))
    written = BytesIO()
    image.save(written, "PNG", compress_level=_QUICK)
    return Picture(written.getvalue(), image.width, image.height)


def _paint(pen: Pen, font: FreeTypeFont | BitmapFont, mark: Mark, size: tuple[int, int]) -> None:
    box, colour = mark.box, _COLOURS[mark.id % len(_COLOURS)]
    left, top = max(0.0, box.x), max(0.0, box.y)
    right, bottom = min(size[0] - 1.0, box.x + box.width), min(size[1] - 1.0, box.y + box.height)
    pen.rectangle((left, top, max(left, right), max(top, bottom)), outline=colour, width=2)
    text = str(mark.id)
    _, _, width, height = pen.textbbox((0, 0), text, font=font)
    at_x = min(left, size[0] - width - 4.0)
    at_y = top - height - 2 if top >= height + 2 else top
    pen.rectangle((at_x, at_y, at_x + width + 3, at_y + height + 2), fill=colour)
    pen.text((at_x + 2, at_y + 1), text, fill="white", font=font)
