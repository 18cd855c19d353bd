"""An agent's process: what it prints is kept within bounds, and nothing of it outlives its end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, cast

from arena_core.errors import AgentCrashedError
from arena_core.logs import Redactor, secrets_of

_HEAD: Final = 256 * 1024
_TAIL: Final = 256 * 1024
_LINE: Final = 64 * 1024  # of the last line of standard output
_PIECE: Final = 1 << 16
_PATIENCE_S: Final = 2.0  # to end by itself after SIGTERM
_DRAIN_S: Final = 5.0
_TRACEBACK: Final = "Traceback (most recent call last):"
_NAMES_ERROR: Final = re.compile(
    r"(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: |:?$)"
    r"|panic: |thread '.*' panicked|fatal error: "
)
_PROC: Final = Path("/proc")


class BoundedLog:
    """The beginning and the end of what was printed; the middle of a flood is only counted."""

    def __init__(self, head: int = _HEAD, tail: int = _TAIL) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._limits = (head, tail)
        self._tail_size = 0
        self._left_out = 0

    def add(self, piece: bytes) -> None:
        room = self._limits[0] - len(self._head)
        self._head += piece[:room]
        if rest := piece[room:]:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0] if self._tail else b"") > self._limits[1]:
            gone = self._tail.popleft()
            self._tail_size -= len(gone)
            self._left_out += len(gone)

    def text(self) -> str:
        """Return what is kept, without secrets."""
        head = self._head.decode(errors="replace")
        tail = b"".join(self._tail).decode(errors="replace")
        gap = f"\n[{self._left_out} bytes left out]\n" if self._left_out else ""
        return Redactor(secrets_of())(head + gap + tail)


class AgentProcess:
    """A running agent.

    Attributes:
        log: what it prints, on standard output and error.
    """

    def __init__(self, process: asyncio.subprocess.Process, mark: str) -> None:
        self.log = BoundedLog()
        self._process = process
        self._mark = mark
        self._lines = bytearray()
        self._errors = bytearray()
        self._readers: list[asyncio.Task[None]] = []

    @classmethod
    @asynccontextmanager
    async def running(
        cls, words: Sequence[str], environment: Mapping[str, str], mark: str
    ) -> AsyncIterator[AgentProcess]:
        """Start a program; when the block ends, it and all that it started are ended.

        Args:
            words: the program and its arguments.
            mark: a value in the environment that no other process has: what the program started
                is known by it, also what left its session.
        """
        # Pipes of our own: asyncio takes a process whose child holds its pipes for running.
        async with _pipe() as (printed, out), _pipe() as (complained, err):
            try:
                process = await asyncio.create_subprocess_exec(
                    *words,
                    env=dict(environment),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,  # Ctrl-C is Arena's matter
                )
            except OSError as error:
                message = f"{words[0]} cannot be started: {error.strerror or error}"
                raise AgentCrashedError(message) from error
            finally:
                out.close()
                err.close()
            agent = cls(process, mark)
            agent._readers = [
                asyncio.create_task(agent._read(printed, agent._lines)),
                asyncio.create_task(agent._read(complained, agent._errors)),
            ]
            try:
                yield agent
            finally:
                await agent.end()

    async def wait(self) -> int:
        """Return the exit code once the program has ended; negative for a signal."""
        return await self._process.wait()

    async def end(self) -> None:
        """End the program and whatever it started; safe to repeat."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._process.wait()
        except TimeoutError:
            pass
        self._signal(signal.SIGKILL)
        await self._process.wait()
        _, left = await asyncio.wait(self._readers, timeout=_DRAIN_S)
        for reader in left:  # somebody who escaped still holds the pipe
            reader.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    @property
    def last_line(self) -> str:
        """The last line of its standard output that is not empty."""
        return _last_line(self._lines)

    @property
    def error(self) -> str:
        """The line of its standard error that says what went wrong, without secrets."""
        text = self._errors.decode(errors="replace")
        return Redactor(secrets_of())(error_line(text) or _last_line(self._errors))

    def _signal(self, number: signal.Signals) -> None:
        """Signal the program's group, and what of it went elsewhere."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
        for pid in _marked(self._mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    async def _read(self, source: asyncio.StreamReader, last: bytearray) -> None:
        while piece := await source.read(_PIECE):
            self.log.add(piece)
            last += piece
            del last[:-_LINE]


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, BinaryIO]]:
    """Make a pipe: what is read here, and the end that a process writes to."""
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader()
    with cast("BinaryIO", os.fdopen(write_end, "wb", buffering=0)) as writable:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            yield reader, writable
        finally:
            transport.close()


def error_line(text: str) -> str:
    """Return the first line that names an error; of Python's tracebacks, that of the last.

    What follows it are frames of a stack, or lines of its message. Empty where no line does.
    """
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.endswith(_TRACEBACK)]
    if starts:
        margin = lines[starts[-1]].removesuffix(_TRACEBACK)  # a group of exceptions is indented
        bodies = (line.removeprefix(margin) for line in lines[starts[-1] + 1 :])
        said = next((one for one in bodies if one and not one[0].isspace()), "")
        if said:
            return said.strip()
    return next((line.strip() for line in lines if _NAMES_ERROR.match(line)), "")


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exited with {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _last_line(text: bytearray) -> str:
    lines = text.decode(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes whose environment has a mark; none where there is no /proc."""
    if sys.platform != "linux":
        return
    wanted = mark.encode()
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes():
                    yield int(entry.name)
