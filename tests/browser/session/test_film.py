"""What a person who looks sees of a page while it changes, and what that asks of the browser."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import aclosing
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from arena_core.actions import Click, NewTab

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

COLOURED = """<!doctype html><body style="margin:0;background:#ff0000">
<button onclick="document.body.style.background = '#0000ff'">blue</button>"""
RESTLESS = """<!doctype html><body style="margin:0"><script>
let at = 0;
const turn = () => {
  document.body.style.background = `hsl(${at++ * 7} 90% 50%)`;
  requestAnimationFrame(turn);
};
turn();
</script>"""
Colour = tuple[int, int, int]


def corner(picture: str) -> Colour:
    """Return the colour of a picture's lower right corner, roughly."""
    with Image.open(BytesIO(base64.b64decode(picture))) as image:
        assert image.format == "JPEG"
        assert max(image.size) <= 640
        found = image.convert("RGB").getpixel((image.width - 2, image.height - 2))
    assert isinstance(found, tuple)
    red, green, blue = (round(one / 255) for one in found)
    return red, green, blue


async def until(film: AsyncIterator[str], colour: Colour) -> None:
    async with asyncio.timeout(20):
        async for picture in film:
            if corner(picture) == colour:
                return


async def test_a_film_shows_the_page_as_it_is_then_as_it_changes_and_the_tab_in_front(
    drive: Drive,
) -> None:
    await drive.open(COLOURED)
    async with aclosing(drive.session.film()) as film:
        await until(film, (1, 0, 0))
        assert await drive.do(Click(element=drive.id("button", "blue"))) is None
        await until(film, (0, 0, 1))
        assert await drive.do(NewTab()) is None
        await until(film, (1, 1, 1))


async def test_a_page_that_never_rests_is_taken_four_times_a_second_and_the_slow_miss_some(
    drive: Drive,
) -> None:
    await drive.open(RESTLESS)
    taken, now = 0, asyncio.get_running_loop().time
    async with aclosing(drive.session.film()) as film:
        until = now() + 4
        async for _ in film:
            taken += 1
            if now() > until:
                break
    assert 3 <= taken <= 4 * 4 + 8  # those of the first second come at once
    async with aclosing(drive.session.film()) as film:
        await anext(film)
        await asyncio.sleep(1)  # a slow reader
        async with asyncio.timeout(5):
            first, second = await anext(film), await anext(film)
        assert first != second
