"""A supervisor that runs for real, as a process of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

SUPERVISOR = Path(__file__).parents[2] / "docker" / "supervisor"
PREFORK = Path(__file__).parent / "prefork.py"
MEMORY = "/dev/shm"  # noqa: S108
PATIENCE_S = 20.0
TOKEN = "a token that nobody else knows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    name: str
    command: Sequence[str]
    rewind: str = "restart"
    ready: str = "start"
    listen: str | None = None
    deadline_s: float = 10.0
    host_clock: bool = False
    code: Sequence[str] = ()

    def toml(self) -> str:
        lines = [
            "[[service]]",
            f"name = {json.dumps(self.name)}",
            f"command = {json.dumps(list(self.command))}",
            f"rewind = {json.dumps(self.rewind)}",
            f"ready = {json.dumps(self.ready)}",
            f"deadline_s = {self.deadline_s}",
            f"host_clock = {json.dumps(self.host_clock)}",
            f"code = {json.dumps(list(self.code))}",
        ]
        if self.listen:
            lines.append(f"listen = {json.dumps(self.listen)}")
        return "\n".join(lines)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Listener:
    """One connection to the supervisor's port."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._lines = self._socket.makefile("rb")
        self._is_trusted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._socket.close()

    def hear(self) -> dict[str, object]:
        line = self._lines.readline()
        assert line, "the supervisor hung up"
        heard: dict[str, object] = json.loads(line)
        return heard

    def until_ready(self, generation: int) -> dict[str, object]:
        while True:
            heard = self.hear()
            if heard["state"] == "ready" and heard["generation"] == generation:
                return heard

    def until(self, state: str) -> None:
        while self.hear()["state"] != state:
            pass

    def send(self, line: bytes) -> None:
        self._socket.sendall(line)

    def ask(self, **question: object) -> dict[str, object]:
        """Return the answer to a question; what the supervisor says unasked may come before it.

        The token is shown before the first one.
        """
        return self.trusted().ask_untrusted(**question)

    def ask_untrusted(self, **question: object) -> dict[str, object]:
        """Ask as whoever did not show the token, unless something did."""
        self.send(json.dumps(question).encode() + b"\n")
        while "ask" not in (heard := self.hear()):
            pass
        return heard

    def trusted(self) -> Self:
        if not self._is_trusted:
            answer = self.ask_untrusted(ask="trust", token=TOKEN)
            assert answer == {"ask": "trust", "trusted": True}
            self._is_trusted = True
        return self


@dataclass(slots=True)
class Supervised:
    """A supervisor and what it works on."""

    folder: Path
    pristine: Path
    scratch: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    generation: int = field(default=1, init=False)

    def listen(self) -> Listener:
        """Connect as soon as it listens; it may only just have been started."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return Listener(self.port)
            except ConnectionRefusedError:
                assert time.monotonic() < end, self.last_words()
                assert self.process.poll() is None, self.last_words()
                time.sleep(0.005)

    def rewind(self) -> None:
        with self.listen() as listener:
            listener.until_ready(self.generation)
            self.process.send_signal(signal.SIGUSR1)
            self.generation += 1
            listener.until_ready(self.generation)

    def take(self) -> str:
        """Take the state, as whoever knows the token may."""
        with self.listen() as listener:
            listener.until_ready(self.generation)
            answer = listener.trusted().ask(ask="take")
        assert "error" not in answer, answer
        return str(answer["taken"])

    def close(self) -> None:
        """End the services; the next generation begins them anew."""
        with self.listen() as listener:
            listener.until_ready(self.generation)
            assert listener.trusted().ask(ask="close") == {"ask": "close"}
            listener.until("closed")

    def restore(self, state: str) -> dict[str, object]:
        with self.listen() as listener:
            listener.until_ready(self.generation)
            answer = listener.trusted().ask(ask="restore", taken=state)
            assert "error" not in answer, answer
            self.generation += 1
            ready = listener.until_ready(self.generation)
        assert ready["restored"] == answer["restored"]
        return ready

    def end(self) -> int:
        return self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        self.process.terminate()
        return self.end()

    def last_words(self) -> str:
        return self.log.read_text()


@contextmanager
def supervised(
    place: Path,
    *services: Service,
    state: Path | None = None,
    extra: str = "",
    limit: int = 0,
    token: str | None = TOKEN,
) -> Iterator[Supervised]:
    """Start a supervisor on `place`/pristine; afterwards it is stopped, or killed.

    Args:
        place: where everything is.
        services: what it starts.
        state: the live folder; `place`/state where omitted.
        extra: more lines of the configuration.
        limit: the longest file it may write, in bytes.
        token: what it asks of whoever asks questions; None as of a container that is sealed.
    """
    folder = state or place / "state"
    pristine, scratch, log = place / "pristine", place / "scratch", place / "log"
    pristine.mkdir(exist_ok=True)
    port = free_port()
    config = place / "supervisor.toml"
    config.write_text(
        f'folder = "{folder}"\npristine = "{pristine}"\nscratch = ["{scratch}"]\n'
        f'counted = ["counted"]\nport = {port}\n{extra}\n'
        + "\n".join(service.toml() for service in services)
    )
    command = [sys.executable, "-IS", str(SUPERVISOR), str(config)]
    if limit:
        command = ["prlimit", f"--fsize={limit}", *command]
    with log.open("wb") as output:
        environment = {**os.environ, **({} if token is None else {"ARENA_STATES_TOKEN": token})}
        process = subprocess.Popen(command, stderr=output, stdout=output, env=environment)
    try:
        yield Supervised(folder, pristine, scratch, port, process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(PATIENCE_S)


def asked(path: Path) -> tuple[int, int, int, str]:
    """Ask the prefork server: parent, child, how many it answered, and the state's note."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path))
        connection.sendall(b"?")
        parent, child, count, note = connection.recv(100).decode().split()
        return int(parent), int(child), int(count), note
