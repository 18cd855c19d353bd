"""The port that tells the generation and answers questions: lines of JSON over TCP.

Whoever can reach it hears the generation; only a connection that has shown the token may ask. A
site that an agent talks into reaching its own supervisor neither learns nor changes anything.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Protocol

from failure import Failure
from loop import Loop

_LONGEST_QUESTION = 1 << 20
_LONGEST_STATE = 1 << 26
_MOST_UNREAD = 1 << 27
# What is sealed is read and has no token: it would become part of the image.
_READING = frozenset({"stamp", "files", "scratch"})

Line = dict[str, object]


class Answer(Protocol):
    """Answers a question of somebody who knows the token."""

    def __call__(self, asked: Line) -> Line: ...


class Port:
    """Everybody who listens, and what they are told."""

    def __init__(self, loop: Loop, number: int, answer: Answer, token: str | None = None) -> None:
        """Listen. Raises Failure where the port is taken."""
        self._loop = loop
        self._answer = answer
        self._token = token
        self._now: Line = {}
        self._listeners: set[_Listener] = set()
        try:
            self._socket = socket.create_server(("0.0.0.0", number))
        except OSError as cause:
            msg = f"port {number} cannot be listened on: {cause}"
            raise Failure(msg) from cause
        self._socket.setblocking(False)
        loop.watch(self._socket, self._accept)

    def tell(self, now: Line) -> None:
        """Tell everybody who listens, now, and whoever comes later."""
        self._now = now
        for listener in tuple(self._listeners):
            listener.send(now)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener = _Listener(
            self._loop, connection, self._answer, self._token, self._listeners.discard
        )
        self._listeners.add(listener)
        listener.send(self._now)


class _Listener:
    """One connection. Who does not read, or asks what is no question, is let go."""

    def __init__(
        self,
        loop: Loop,
        connection: socket.socket,
        answer: Answer,
        token: str | None,
        on_close: Callable[[_Listener], None],
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._answer = answer
        self._token = token
        self._trusted = False
        self._on_close = on_close
        self._asked = bytearray()
        self._unsent = b""
        self._open = True
        loop.watch(connection, self._readable)

    def send(self, line: Line) -> None:
        """Send one line, now or as soon as there is room."""
        waiting = bool(self._unsent)
        self._unsent += json.dumps(line).encode() + b"\n"
        if not waiting:
            self._writable()
            if self._unsent and self._open:
                self._loop.watch_both(self._connection, self._readable, self._writable)

    def _readable(self) -> None:
        try:
            received = self._connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        self._asked += received
        questions: list[bytearray] = []
        if b"\n" in received:
            *questions, self._asked = self._asked.split(b"\n")
        longest = _LONGEST_STATE if self._trusted else _LONGEST_QUESTION
        if not received or len(self._asked) > longest:
            self._close()
            return
        for question in questions:
            if self._open:
                self.send(self._answered(question))

    def _answered(self, question: bytearray) -> Line:
        try:
            asked = json.loads(question)
            if asked["ask"] == "trust":
                return {"ask": "trust", **self._trust(asked)}
            if not self._trusted and not (self._token is None and asked["ask"] in _READING):
                return {
                    "ask": asked["ask"],
                    "error": "only a connection that knows the token may ask",
                }
            return {"ask": asked["ask"], **self._answer(asked)}
        except (ValueError, TypeError, KeyError) as error:
            return {"ask": None, "error": f"no question: {error}"}

    def _trust(self, asked: Line) -> Line:
        import hmac  # noqa: PLC0415 - its hashes take a moment to load

        told = asked.get("token")
        if self._token is None or not isinstance(told, str):
            return {"error": "there is no token to know"}
        self._trusted = hmac.compare_digest(told.encode(), self._token.encode())
        return {"trusted": True} if self._trusted else {"error": "the token is another one"}

    def _writable(self) -> None:
        try:
            while self._unsent:
                sent = self._connection.send(self._unsent)
                self._unsent = self._unsent[sent:]
        except BlockingIOError:
            if len(self._unsent) > _MOST_UNREAD:
                self._close()
            return
        except OSError:
            self._close()
            return
        if self._open:
            self._loop.watch_reads_only(self._connection, self._readable)

    def _close(self) -> None:
        if self._open:
            self._open = False
            self._unsent = b""
            self._loop.forget(self._connection)
            self._connection.close()
            self._on_close(self)
