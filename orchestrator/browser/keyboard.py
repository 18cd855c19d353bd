"""The keyboard: keys and chords, keys that are held, and text for whatever has the focus."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from playwright.async_api import Error as PlaywrightError

from arena_core.actions import Modifier
from evaluators.keys import playwright_keys
from orchestrator.browser.pointer import NotDoneError
from orchestrator.browser.tabs import OpenTab

_BY_KEYS: Final = 1_000  # characters: what is longer goes in as an input method puts it


async def press(tab: OpenTab, keys: str) -> None:
    """Press a key or a chord in Playwright's names.

    Raises:
        NotDoneError: no such key.
    """
    with _known(keys):
        await tab.page.keyboard.press(playwright_keys(keys))


async def hold(tab: OpenTab, key: str) -> None:
    """Press one key and keep it down in this tab; one that is down already repeats.

    Raises:
        NotDoneError: no such key.
    """
    name = playwright_keys(key)
    with _known(key):
        await tab.page.keyboard.down(name)
    tab.held_keys.add(name)


async def release(tab: OpenTab, key: str) -> None:
    """Let go of a key.

    Raises:
        NotDoneError: no such key, or it is not down in this tab.
    """
    name = playwright_keys(key)
    if name not in tab.held_keys:
        held = ", ".join(sorted(tab.held_keys)) or "none"
        message = f"the key '{key}' is not held; held are: {held}"
        raise NotDoneError(message)
    tab.held_keys.discard(name)
    await tab.page.keyboard.up(name)


@asynccontextmanager
async def holding(tab: OpenTab, modifiers: Sequence[Modifier]) -> AsyncIterator[None]:
    """Hold modifiers while the block runs; those that are down already stay so."""
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
    """Type a text into what has the focus, key by key; characters of no key go in as text.

    Of a very long text only the end comes by keys.
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
        message = f"there is no key '{keys}'; keys are named like Enter, Tab, PageDown, Control+A"
        raise NotDoneError(message) from error
