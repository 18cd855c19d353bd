"""A browser that is there when it is needed."""

from __future__ import annotations

from contextlib import AsyncExitStack

from orchestrator.browser.launch import Browser, BrowserOptions, launch


class BrowserKeeper:
    """Keeps one browser running; a crashed one is replaced before the next episode."""

    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._browser: Browser | None = None
        self._running = AsyncExitStack()

    async def browser(self) -> Browser:
        """Return a browser that answers."""
        if self._browser is None or not self._browser.is_alive:
            await self.close()
            self._browser = await self._running.enter_async_context(launch(self._options))
        return self._browser

    async def close(self) -> None:
        """End the browser; safe to repeat."""
        self._browser = None
        await self._running.aclose()
