"""The keyboard: keys and chords, keys that are held, and text for whatever has the focus."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from playwright.async_api import Error as PlaywrightError

from arena_core.actions import Modifier, playwright_keys
from orchestrator.browser.tabs.elements import NotDoneError
from orchestrator.browser.tabs.tab import OpenTab

_BY_KEYS: Final = 1_000  # characters; more are inserted at once, as by an input method


async def press(tab: OpenTab, keys: str) -> None:
    with _known(keys):
        await tab.page.keyboard.press(playwright_keys(keys))


async def hold(tab: OpenTab, key: str) -> None:
    """Press one key and keep it down in this tab; a key that is down already repeats."""
    name = playwright_keys(key)
    with _known(key):
        await tab.page.keyboard.down(name)
    tab.held_keys.add(name)


async def release(tab: OpenTab, key: str) -> None:
    name = playwright_keys(key)
    if name not in tab.held_keys:
        held = ", ".join(sorted(tab.held_keys)) or "none"
        raise NotDoneError(f"the key '{key}' is not held; held are: {held}")
    tab.held_keys.discard(name)
    await tab.page.keyboard.up(name)


@asynccontextmanager
async def holding(tab: OpenTab, modifiers: Sequence[Modifier]) -> AsyncIterator[None]:
    """Hold modifiers during the block; those that are down already stay down."""
    pressed = [key for key in dict.fromkeys(modifiers) if key not in tab.held_keys]
    down: list[Modifier] = []
    try:
        for key in pressed:
            await tab.page.keyboard.down(key)
            down.append(key)
        yield
    finally:
        for key in reversed(down):
            await tab.page.keyboard.up(key)


async def write(tab: OpenTab, text: str) -> None:
    """Type into what has the focus, key by key; characters without a key are inserted as text.

    Only the end of a very long text is typed by keys.
    """
    if at_once := text[:-_BY_KEYS]:
        await tab.page.keyboard.insert_text(at_once)
    await tab.page.keyboard.type(text[-_BY_KEYS:])


@contextmanager
def _known(keys: str) -> Iterator[None]:
    try:
        yield
    except PlaywrightError as error:
        if "Unknown key" not in str(error):
            raise
        raise NotDoneError(
            f"there is no key '{keys}'; keys are named like Enter, Tab, PageDown, Control+A"
        ) from error
