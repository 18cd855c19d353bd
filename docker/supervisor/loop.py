"""One thread that waits for signals, children and sockets at the same time."""

from __future__ import annotations

import selectors
import signal
import socket
import time
from collections.abc import Callable

from failure import Stop

HANDLED = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


class Loop:
    """Waits for events; what was asked for by signals is kept until somebody looks.

    Attributes:
        rewind_asked: USR1 came.
    """

    def __init__(self) -> None:
        self.rewind_asked = False
        self._stop_asked = False
        self._stoppable = True
        self._selector = selectors.DefaultSelector()
        self._on_child: Callable[[], None] = lambda: None
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)
        self._writer = writer
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in HANDLED:
            # Without SA_RESTART nothing is gained here: each call that may block is repeated.
            signal.signal(number, lambda *_: None)
        self.watch(reader, lambda: self._signals(reader))

    def on_child(self, call: Callable[[], None]) -> None:
        """Call this when a child has ended or stopped."""
        self._on_child = call

    def watch(self, source: socket.socket, on_readable: Callable[[], None]) -> None:
        """Call this when the socket has something to read."""
        self._selector.register(source, selectors.EVENT_READ, (on_readable, None))

    def watch_both(
        self,
        source: socket.socket,
        on_readable: Callable[[], None],
        on_writable: Callable[[], None],
    ) -> None:
        """Call the one when there is something to read, the other when there is room to write."""
        events = selectors.EVENT_READ | selectors.EVENT_WRITE
        self._selector.modify(source, events, (on_readable, on_writable))

    def watch_reads_only(self, source: socket.socket, on_readable: Callable[[], None]) -> None:
        """Stop waiting for room to write."""
        self._selector.modify(source, selectors.EVENT_READ, (on_readable, None))

    def forget(self, source: socket.socket) -> None:
        """Stop watching a socket."""
        self._selector.unregister(source)

    def until(self, done: Callable[[], bool], deadline_s: float | None = None) -> bool:
        """Handle events until something is so; say no where the deadline passes before.

        Raises:
            Stop: TERM or INT came, once, until then or now.
        """
        end = None if deadline_s is None else time.monotonic() + deadline_s
        while True:
            if self._stop_asked and self._stoppable:
                self._stoppable = False
                raise Stop
            if done():
                return True
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            for key, events in self._selector.select(left):
                on_readable, on_writable = key.data
                if events & selectors.EVENT_WRITE and on_writable:
                    on_writable()
                if events & selectors.EVENT_READ:
                    on_readable()

    def finish(self) -> None:
        """From now on TERM changes nothing: everything is being stopped."""
        self._stoppable = False

    def _signals(self, reader: socket.socket) -> None:
        numbers = set(reader.recv(4096))
        if signal.SIGUSR1 in numbers:
            self.rewind_asked = True
        if numbers & {signal.SIGTERM, signal.SIGINT}:
            self._stop_asked = True
        if signal.SIGCHLD in numbers:
            self._on_child()
