"""One function over many items on several cores: results in order, as from a loop.

`concurrent.futures` and `multiprocessing` are not used: their processes import the program's main
module again, which a script without a guard does not survive; they outlive a program that is
killed; and they do not say at which item a process died.
"""

from __future__ import annotations

import logging
import pickle
import signal
import socket
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Generic, NoReturn, TypeVar

from arena_core.errors import WorkerProcessError

Item = TypeVar("Item")
Result = TypeVar("Result")

# A worker has the next items at hand while its replies are read; the first may keep others waiting.
_AT_HAND: Final = 4
_AHEAD: Final = 64
_DEADLINE_S: Final = 600
_END_S: Final = 5
_START: Final = (
    "import sys; line, *sys.path = sys.argv[1:];"
    "from orchestrator.runs.store.worker_processes import serve; serve(int(line))"
)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came of one item: a result or what was raised, and what was logged meanwhile."""

    result: Any
    raised: Exception | None
    logged: tuple[logging.LogRecord, ...]

    def told(self) -> Any:
        """Log here what was logged there; return the result, or raise."""
        for record in self.logged:
            logger = logging.getLogger(record.name)
            if logger.isEnabledFor(record.levelno):
                logger.handle(record)
        if self.raised is not None:
            raise self.raised
        return self.result


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    line: Connection
    asked: deque[int] = field(default_factory=deque)


class WorkerProcesses(Generic[Item, Result]):
    """Calls a function in processes of their own; they end with the block, whatever ends it.

    They import what this process would find on its import path, and nothing of its main module. One
    that loses this process, or is of no use any more, ends by itself.
    """

    def __init__(
        self,
        work: Callable[[Item], Result],
        named: Callable[[Item], str],
        *,
        processes: int,
        hint: str = "",
    ) -> None:
        """Describe the work."""
        self._work = work
        self._named = named
        self._processes = processes
        self._hint = hint

    def results(self, items: Sequence[Item]) -> Generator[Result, None, None]:
        """Yield the result of each item, in order; what `work` raises is raised when it is due."""
        work = pickle.dumps(self._work)
        replies: dict[int, _Reply] = {}
        begun = 0
        with ExitStack() as stack:
            workers = [_started(stack, work) for _ in range(min(self._processes, len(items)))]
            for due in range(len(items)):
                while due not in replies:
                    begun = _hand_out(workers, items, begun, due + _AHEAD)
                    for worker in self._ready(workers, items):
                        replies[worker.asked[0]] = self._reply(worker, items)
                        worker.asked.popleft()
                yield replies.pop(due).told()

    def _ready(self, workers: Sequence[_Worker], items: Sequence[Item]) -> list[_Worker]:
        busy = [worker for worker in workers if worker.asked]
        found = wait([worker.line for worker in busy], _DEADLINE_S)
        if not found:
            first = self._named(items[min(worker.asked[0] for worker in busy)])
            raise WorkerProcessError(f"nothing came of {first} in {_DEADLINE_S} s", hint=self._hint)
        return [worker for worker in busy if worker.line in found]

    def _reply(self, worker: _Worker, items: Sequence[Item]) -> _Reply:
        try:
            reply: _Reply = worker.line.recv()
        except (EOFError, OSError) as gone:
            what = self._named(items[worker.asked[0]])
            message = f"the process that worked on {what} died ({_ending(worker.process)})"
            raise WorkerProcessError(message, hint=self._hint) from gone
        return reply


def _started(stack: ExitStack, work: bytes) -> _Worker:
    """Start a process; the stack ends it."""
    ours, theirs = socket.socketpair()
    with theirs:
        line = stack.enter_context(Connection(ours.detach()))
        number = theirs.fileno()
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(number), *sys.path],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is the matter of this process, which ends it
        )
    stack.callback(process.wait)
    stack.callback(process.kill)
    with suppress(OSError):  # it died; who waits for its first reply is told
        line.send_bytes(work)
    return _Worker(process, line)


def _hand_out(workers: Sequence[_Worker], items: Sequence[object], begun: int, until: int) -> int:
    """Give items to the workers that have the fewest; return how many were given in all."""
    while begun < min(until, len(items)):
        worker = min(workers, key=lambda one: len(one.asked))
        if len(worker.asked) == _AT_HAND:
            break
        worker.asked.append(begun)
        with suppress(OSError):  # it died; its earlier replies may still be there to be read
            worker.line.send(items[begun])
        begun += 1
    return begun


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(_END_S)
    except subprocess.TimeoutExpired:
        return "it replies no more"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def serve(number: int) -> None:
    """Answer items until nobody asks any more: what a worker process does."""
    logged = _Logged()
    logging.root.addHandler(logged)
    logging.root.setLevel(logging.NOTSET)  # who asks knows what is wanted
    with Connection(number) as line, suppress(EOFError, ConnectionError):
        work = _unpickled(line.recv_bytes())
        while True:
            line.send_bytes(_answer(work, line.recv(), logged))


def _unpickled(work: bytes) -> Callable[[Any], Any]:
    try:
        found: Callable[[Any], Any] = pickle.loads(work)  # noqa: S301 - who started this made it
    except Exception as error:  # noqa: BLE001 - raised where it can be told
        return partial(_fail, error)
    return found


def _fail(error: Exception, _: object) -> NoReturn:
    raise error


def _answer(work: Callable[[Any], Any], item: object, logged: _Logged) -> bytes:
    result, raised = None, None
    try:
        result = work(item)
    except Exception as error:  # noqa: BLE001 - raised again where the result is due
        raised = _portable(error)
    kept = logged.taken()
    try:
        return pickle.dumps(_Reply(result, raised, kept))
    except Exception as error:  # noqa: BLE001 - whatever a result's own code does then
        return pickle.dumps(_Reply(None, _portable(error), kept))


def _portable(error: Exception) -> Exception:
    """Return an exception that another process can raise, with where it came from."""
    where = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker process:\n{where}")
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - its own
    except Exception:  # noqa: BLE001 - whatever an exception's own code does then
        return RuntimeError(where)
    return error


class _Logged(QueueHandler):
    """Keeps what is logged, in a form that can be pickled."""

    def __init__(self) -> None:
        self._records: list[logging.LogRecord] = []
        super().__init__(self._records)  # type: ignore[arg-type]

    def enqueue(self, record: logging.LogRecord) -> None:
        self._records.append(record)

    def taken(self) -> tuple[logging.LogRecord, ...]:
        """Return what was kept, and keep it no longer."""
        taken = tuple(self._records)
        self._records.clear()
        return taken
