"""Pagure's tasks without Celery's worker: what a request started has landed before it is answered.

Pagure hands forks, merges and commits to Celery, and shows `/wait/ID` until they are done. Here a
task waits until the request that started it has ended and let go of its rows, and runs in the same
thread before the answer is sent. `/wait/ID` therefore always finds it done.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

_KEPT = 256
_READS = frozenset({"GET", "HEAD"})
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Answer:
    """What became of a task, with the methods of Celery's AsyncResult that Pagure calls."""

    id: str
    run: Callable[[], Any] | None
    value: Any = None
    error: Exception | None = None

    @property
    def status(self) -> str:
        """How far it is, in Celery's words."""
        return "PENDING" if self.run else "FAILURE" if self.error else "SUCCESS"

    def ready(self) -> bool:
        """Return whether it ended."""
        return self.run is None

    def failed(self) -> bool:
        """Return whether it ended with an error."""
        return self.error is not None

    def get(self, *, timeout: float | None = None, propagate: bool = True) -> Any:
        """Return what it returned, or its error."""
        del timeout
        if self.error is not None and propagate:
            raise self.error
        value = self.error or self.value
        return dict(value) if isinstance(value, dict) else value

    def forget(self) -> None:
        """Keep it: the browser's back button asks again."""


class TaskQueue:
    """Tasks that wait for the end of their request, and what became of the latest ones."""

    def __init__(self) -> None:
        self._waiting: deque[Answer] = deque()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._running = Lock()

    def later(self, run: Callable[[], Any]) -> Answer:
        """Take a task."""
        answer = Answer(str(uuid4()), run)
        self._answers[answer.id] = answer
        while len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        self._waiting.append(answer)
        return answer

    def answer(self, identifier: str) -> Answer:
        """Return what became of a task; one that nobody knows any more leads to the front page."""
        known = self._answers.get(identifier)
        return known or Answer(identifier, None, {"endpoint": "ui_ns.index"})

    def finish(self) -> None:
        """Run all that waits, and what that starts in turn, one at a time."""
        with self._running:
            while self._waiting:
                self._run(self._waiting.popleft())

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def _run(self, answer: Answer) -> None:
        run = answer.run
        if run is None:
            return
        try:
            answer.value = run()
        except Exception as error:  # noqa: BLE001 - as Celery's worker: the page that waits shows it
            _log.exception("a task failed")
            answer.error = error
        answer.run = None


class Landing:
    """WSGI: answers a request once all that it started has landed; one write at a time.

    Pagure numbers an issue after the last one that it sees: two at once would get one number.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], queue: TaskQueue) -> None:
        self._app = app
        self._queue = queue
        self._writing = Lock()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer as the application does, later."""
        if environ["REQUEST_METHOD"] in _READS:
            return self._landed(environ, start)
        with self._writing:
            return self._landed(environ, start)

    def _landed(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        held: list[tuple[Any, ...]] = []
        parts = self._app(environ, lambda *head: held.append(head))
        if environ["PATH_INFO"].endswith("/git-receive-pack"):
            parts = [b"".join(parts)]  # git runs its hooks while it answers
        if environ["REQUEST_METHOD"] != "GET" or not self._queue.is_empty:
            self._queue.finish()
        start(*held[-1])
        return parts
