"""`arena` as users run it: a process of its own, whose stderr is followed line by line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ARENA = Path(sys.executable).with_name("arena")
LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left: its exit code and all it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; anything beside it is an error."""
        return json.loads(self.out)


def arena(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None, limit_s: float = LIMIT_S
) -> Ended:
    """Run one command to its end."""
    with ArenaProcess(*words, cwd=cwd, env=env) as process:
        return process.wait(limit_s)


class ArenaProcess:
    """A running command; killed at the end of the block if it still runs."""

    def __init__(
        self,
        *words: str | Path,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        program: Sequence[str | Path] = (ARENA,),
    ) -> None:
        self._err: list[str] = []
        self._out: list[str] = []
        self._heard = threading.Condition()
        self._running = subprocess.Popen(
            [*map(str, program), *map(str, words)],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._follow_out),
            threading.Thread(target=self._follow_err),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self.wait(10)
        for stream in (self._running.stdout, self._running.stderr):
            if stream is not None:
                stream.close()

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def has_ended(self) -> bool:
        return self._running.poll() is not None

    def hear(self, pattern: str, limit_s: float = 60.0) -> str:
        """Wait until stderr has what a pattern says, and return all of it so far."""

        def is_said() -> bool:
            return re.search(pattern, "".join(self._err)) is not None

        with self._heard:
            assert self._heard.wait_for(is_said, limit_s), f"no {pattern!r} in {self._err}"
            return "".join(self._err)

    def printed(self, pattern: str, limit_s: float = 60.0) -> str:
        """Wait until stdout has what a pattern says, and return all of it so far."""

        def is_said() -> bool:
            return re.search(pattern, "".join(self._out)) is not None

        with self._heard:
            assert self._heard.wait_for(is_said, limit_s), f"no {pattern!r} in {self._out}"
            return "".join(self._out)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._running.kill()

    def interrupt(self) -> None:
        """Press Ctrl-C: a terminal tells every process of the group, the browser's driver too."""
        os.killpg(self._running.pid, signal.SIGINT)

    def wait(self, limit_s: float = LIMIT_S) -> Ended:
        """Wait for its end."""
        code = self._running.wait(limit_s)
        for reader in self._readers:
            reader.join(limit_s)
        return Ended(code, "".join(self._out), "".join(self._err))

    def _follow_out(self) -> None:
        for line in self._running.stdout or ():
            with self._heard:
                self._out.append(line)
                self._heard.notify_all()

    def _follow_err(self) -> None:
        for line in self._running.stderr or ():
            with self._heard:
                self._err.append(line)
                self._heard.notify_all()


def descendants(pid: int) -> dict[int, str]:
    """Return the command lines of a process's children and theirs, by process id."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        parents[int(stat.parent.name)] = int(found[1])
    family = {pid}
    while grown := {one for one, parent in parents.items() if parent in family} - family:
        family |= grown
    return {one: command for one in family - {pid} if (command := _command(one))}


def await_end(pids: Mapping[int, str], limit_s: float = 20.0) -> dict[int, str]:
    """Wait until processes have ended; return those that have not."""
    due = time.monotonic() + limit_s
    left = dict(pids)
    while left and time.monotonic() < due:
        left = {pid: command for pid, command in left.items() if _command(pid) == command}
        threading.Event().wait(0.05)  # the end of another's child is no event to wait for
    return left


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""
