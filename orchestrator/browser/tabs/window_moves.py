"""What the browser's own window did to a tab: back, forward, reload, an address in its bar.

The browser says of each navigation how it began, and of those that a page asked for, that one did.
Only of a history that a page itself goes through to another document it says nothing: that looks
like the window's own button.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Back, Forward, Goto
from orchestrator.browser.tabs.address_changes import MOVED
from orchestrator.browser.tabs.cdp_channel import CdpChannel, Reply

WindowMove = Back | Forward | Goto
_WITHIN: Final = frozenset({"sameDocument", "historySameDocument"})


@dataclass(slots=True)
class _Begun:
    kind: str
    by_page: bool

    @property
    def is_history(self) -> bool:
        return self.kind.startswith("history")


class WindowMoves:
    """Tells which navigations of a tab its window began.

    Args:
        channel: the tab's wire; `Page` and `Runtime` are enabled on it.
        is_main: whether a frame is the tab's own.
        is_arenas: whether a JavaScript context is the watcher's.
    """

    def __init__(
        self, channel: CdpChannel, is_main: Callable[[str], bool], is_arenas: Callable[[int], bool]
    ) -> None:
        self._is_main = is_main
        self._is_arenas = is_arenas
        self._is_asked = False
        self._begun: _Begun | None = None
        self._entries: list[str] = []
        self._at = -1
        channel.on("Page.frameRequestedNavigation", self._asked)
        channel.on("Page.frameStartedNavigating", self._started)
        channel.on("Runtime.consoleAPICalled", self._logged)

    def led_to(self, url: str, *, within: bool) -> WindowMove | None:
        """Return what led to an address that the tab just went to; None where a page did.

        What a new tab opens with is the doing of whoever opened it.
        """
        begun, self._begun = self._begun, None
        if begun is not None and within != (begun.kind in _WITHIN):
            begun = None  # one that led nowhere, such as to a download
        is_first = not self._entries
        by_step = self._stepped(url) if begun is not None and begun.is_history else None
        if by_step is None and (begun is None or not begun.kind.startswith("reload")):
            self._entries[self._at + 1 :] = [url]
            self._at += 1
        if is_first or begun is None or begun.by_page:
            return None
        return by_step or Goto(url=url)

    def _stepped(self, url: str) -> WindowMove | None:
        """Go through the history as far as it is known; None where it is not."""
        known = self._entries
        if self._at > 0 and known[self._at - 1] == url:
            self._at -= 1
            return Back()
        if self._at + 1 < len(known) and known[self._at + 1] == url:
            self._at += 1
            return Forward()
        return None

    def _asked(self, event: Reply) -> None:
        self._is_asked |= self._is_main(event["frameId"])

    def _started(self, event: Reply) -> None:
        if self._is_main(event["frameId"]):
            self._begun = _Begun(event["navigationType"], by_page=self._is_asked)
            self._is_asked = False

    def _logged(self, event: Reply) -> None:
        """Hear from the watcher who goes through the history of a document."""
        if self._begun is None or not self._is_arenas(event["executionContextId"]):
            return
        mark, *said = event["args"]
        if mark.get("value") == MOVED and self._begun.is_history:
            self._begun.by_page = not json.loads(said[0]["value"])["by_user"]
