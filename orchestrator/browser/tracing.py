"""Playwright's own traces of a session, one of each context: pictures, and a group for each step.

DOM snapshots are left out. They put a script of Playwright's into the page's own world, with a name
in `window` that the page can read and wrappers around what it may call: the page that is measured
would be another one. They also hold cookies and bodies in the clear. What is left is not in the
page, and its network part is empty.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

_LOG: Final = logging.getLogger(__name__)
_STOP_S: Final = 30.0
TRACE_FILE: Final = "trace.zip"


class Tracer:
    """Traces the contexts of one session.

    Args:
        contexts: by login; the session's own comes first.
    """

    def __init__(self, contexts: Mapping[str, BrowserContext]) -> None:
        self._contexts = tuple(contexts.values())
        self._is_running = False
        self._in_group = False

    async def start(self) -> None:
        """Begin, with the pages that are open."""
        for context in self._contexts:
            await context.tracing.start(screenshots=True, snapshots=False, sources=False)
        self._is_running = True

    async def begin(self, what: str) -> None:
        """Count what follows to a group of this title."""
        if not self._is_running:
            return
        for context in self._contexts:
            if self._in_group:
                await context.tracing.group_end()
            await context.tracing.group(what)
        self._in_group = True

    async def stop(self) -> Mapping[str, bytes]:
        """End, and return the traces by file name: `trace.zip`, of further contexts `trace-2.zip`.

        A trace that a browser took with it when it crashed is missing, and the log says so; what is
        returned is whole. A second call returns nothing.
        """
        if not self._is_running:
            return {}
        self._is_running = False
        found: dict[str, bytes] = {}
        with TemporaryDirectory(prefix="arena-trace-") as folder:
            for number, context in enumerate(self._contexts, start=1):
                path = Path(folder) / (TRACE_FILE if number == 1 else f"trace-{number}.zip")
                try:
                    async with asyncio.timeout(_STOP_S):
                        await context.tracing.stop(path=path)
                except (PlaywrightError, TimeoutError) as error:
                    why = str(error).partition("\n")[0] or f"no answer within {_STOP_S:g} s"
                    _LOG.warning("no %s: %s", path.name, why)
                    continue
                with suppress(FileNotFoundError):  # none of a browser that was gone before
                    found[path.name] = path.read_bytes()
        return found
