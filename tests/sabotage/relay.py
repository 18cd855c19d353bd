"""A socket in front of another: it forwards, stops forwarding, refuses, and says what passes by.

Stands before the engine's socket, so that a test can pause "the engine" for one process only, and
before a replica's database, so that something can happen in the middle of a question.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from orchestrator.sandbox.engine.containers import LOOPBACK, Endpoint

_CHUNK: Final = 65536
_LIMIT_S: Final = 60.0
# The engine in use, as it was when the tests began; a remote one has no socket to stand before.
_ENGINE: Final = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix(
    "unix://"
)
_REFUSAL: Final = (
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
    b"Content-Length: 26\r\nConnection: close\r\n\r\n"
    b'{"message":"not just now"}'
)

Deed = Callable[[], object]


@dataclass(slots=True)
class _Rule:
    """What happens when something is asked; once or a few times."""

    pattern: re.Pattern[bytes]
    left: int
    before: Deed | None = None
    after: Deed | None = None
    refused: bool = False
    seen: threading.Event = field(default_factory=threading.Event)


class Relay:
    """Forwards between whoever connects and one upstream, until the end of the block."""

    def __init__(self, upstream: str | Endpoint = _ENGINE, *, at: Endpoint | None = None) -> None:
        """Listen: at a TCP port for a TCP upstream, at a path for a path."""
        self._upstream = upstream
        self._folder = Path(tempfile.mkdtemp(prefix="arena-relay-"))
        self._flowing = threading.Event()
        self._flowing.set()
        self._lock = threading.Lock()
        self._rules: list[_Rule] = []
        self._open: set[socket.socket] = set()
        self._failures: list[BaseException] = []
        if isinstance(upstream, Endpoint):
            self._listener = socket.create_server((LOOPBACK, at.port if at else 0))
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(self._folder / "s"))
            self._listener.listen(64)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.thaw()
        self._listener.close()
        self.cut()
        shutil.rmtree(self._folder)
        if error is None and self._failures:
            raise self._failures[0]

    @property
    def url(self) -> str:
        """What DOCKER_HOST is set to."""
        return f"unix://{self._folder}/s"

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens for TCP."""
        return Endpoint(LOOPBACK, self._listener.getsockname()[1])

    def freeze(self) -> None:
        """Forward nothing, in neither direction; connections stay open and new ones wait."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Forward again, what came meanwhile first."""
        self._flowing.set()

    def freeze_for(self, seconds: float) -> None:
        """Freeze, and thaw after a while."""
        self.freeze()
        timer = threading.Timer(seconds, self.thaw)
        timer.daemon = True
        timer.start()

    def cut(self) -> None:
        """Close every connection, as an engine that restarts does."""
        with self._lock:
            connections = tuple(self._open)
        for one in connections:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def on(
        self,
        asked: str,
        *,
        before: Deed | None = None,
        after: Deed | None = None,
        times: int = 1,
    ) -> threading.Event:
        """Do something when a request passes by that matches: before it, or after its answer.

        The request, or the answer's next part, waits until that is done. Returns what is set then.
        """
        return self._ruled(_Rule(re.compile(asked.encode()), times, before=before, after=after))

    def refuse(self, asked: str, *, times: int = 1) -> threading.Event:
        """Answer matching requests with an error of the server."""
        return self._ruled(_Rule(re.compile(asked.encode()), times, refused=True))

    def forget(self) -> None:
        """Do and refuse nothing more of what has not been asked yet."""
        with self._lock:
            self._rules.clear()

    def _ruled(self, rule: _Rule) -> threading.Event:
        with self._lock:
            self._rules.append(rule)
        return rule.seen

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        waiting: list[_Rule] = []
        with near, suppress(OSError), self._connected() as far:
            with self._lock:
                self._open |= {near, far}
            back = threading.Thread(target=self._answer, args=(far, near, waiting), daemon=True)
            back.start()
            with suppress(OSError):
                self._ask(near, far, waiting)
            with suppress(OSError):
                far.shutdown(socket.SHUT_WR)
            back.join()
            with self._lock:
                self._open -= {near, far}

    def _connected(self) -> socket.socket:
        if isinstance(self._upstream, Endpoint):
            return socket.create_connection((self._upstream.host, self._upstream.port))
        far = socket.socket(socket.AF_UNIX)
        far.connect(self._upstream)
        return far

    def _ask(self, near: socket.socket, far: socket.socket, waiting: list[_Rule]) -> None:
        while chunk := near.recv(_CHUNK):
            rule = self._matching(chunk)
            if rule is not None and rule.refused:
                rule.seen.set()
                near.sendall(_REFUSAL)
                near.shutdown(socket.SHUT_RDWR)
                return
            if rule is not None and rule.before is not None:
                self._do(rule.before)
            if rule is not None:
                waiting.append(rule)
                if rule.after is None:
                    rule.seen.set()
            self._flowing.wait(_LIMIT_S)
            far.sendall(chunk)

    def _answer(self, far: socket.socket, near: socket.socket, waiting: list[_Rule]) -> None:
        with suppress(OSError):
            while chunk := far.recv(_CHUNK):
                due, waiting[:] = tuple(waiting), []
                self._flowing.wait(_LIMIT_S)
                near.sendall(chunk)
                for rule in due:
                    if rule.after is not None:
                        self._do(rule.after)
                        rule.seen.set()
        with suppress(OSError):
            near.shutdown(socket.SHUT_RDWR)

    def _matching(self, chunk: bytes) -> _Rule | None:
        with self._lock:
            for rule in self._rules:
                if rule.left > 0 and rule.pattern.search(chunk):
                    rule.left -= 1
                    return rule
        return None

    def _do(self, deed: Deed) -> None:
        try:
            deed()
        except BaseException as failure:  # noqa: BLE001  raised at the end of the block
            self._failures.append(failure)
