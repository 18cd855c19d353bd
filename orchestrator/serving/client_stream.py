"""Whether the MCP client that plays an episode is still there, by the stream that it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

COMES_BACK_S: Final = 5.0
GONE: Final = f"its MCP client is gone: the stream that it held ended {COMES_BACK_S:g} s ago"


class ClientStream:
    """Notices a client that has played, and whose stream ended.

    A client opens the stream once it is connected, and holds it as long as it lives. One that only
    looked at the tools may leave, as programs do that check what they are configured with. One that
    lost its connection has a moment to come back in.

    Args:
        when_gone: called once the moment is over.
    """

    def __init__(self, when_gone: Callable[[], None]) -> None:
        self._when_gone = when_gone
        self._held = 0
        self._has_played = False
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a client hold a stream for the time of the block."""
        self.forget()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if self._has_played and not self._held:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(COMES_BACK_S, self._when_gone)

    def is_asked(self) -> None:
        """Learn that a request came: whoever sent it is there."""
        self.forget()

    def is_played(self) -> None:
        """Learn that a tool was called."""
        self._has_played = True

    def forget(self) -> None:
        """Wait for nobody."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@dataclass(frozen=True, slots=True)
class AnsweringTools:
    """What answers the MCP requests of one episode, and the stream that its client holds."""

    manager: StreamableHTTPSessionManager
    stream: ClientStream
