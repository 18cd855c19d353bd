"""A browser that is there when it is needed."""

from __future__ import annotations

from contextlib import AsyncExitStack

from orchestrator.browser.launch import Browser, BrowserOptions, launch
from orchestrator.runner.events import OnEvent, ProgressNote

_NOT_ISOLATED = "the browser has no network namespace: flags keep it behind the gateway"


class BrowserKeeper:
    """Keeps one browser running; a crashed one is replaced before the next episode."""

    def __init__(self, options: BrowserOptions, on_event: OnEvent) -> None:
        self._options = options
        self._on_event = on_event
        self._noted: set[str] = set()
        self._browser: Browser | None = None
        self._running = AsyncExitStack()

    @property
    def isolated(self) -> bool:
        """Whether the browser that runs has a network of its own, which does not change."""
        return self._browser is not None and not self._browser.not_isolated

    async def browser(self) -> Browser:
        """Return a browser that answers."""
        if self._browser is None or not self._browser.is_alive:
            await self.close()
            self._browser = await self._running.enter_async_context(launch(self._options))
            if (why := self._browser.not_isolated) and why not in self._noted:
                self._noted.add(why)
                self._on_event(ProgressNote(f"{_NOT_ISOLATED} ({why}); see arena doctor"))
        return self._browser

    async def close(self) -> None:
        """End the browser; safe to repeat."""
        self._browser = None
        await self._running.aclose()
