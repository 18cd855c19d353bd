"""Killed, left alone or raced while a state is taken or restored: all go on, or all ends."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from supervised import PATIENCE_S, TOKEN, Listener, Service, Supervised, python, supervised

LINGER_NOT = struct.pack("ii", 1, 0)  # close() breaks the connection off, as a killed process does
LARGE = 20 << 20  # bytes that take a while to be read, and still fit into a state
RACES = 5
BEATS = "while True: open({beat!r}, 'w').close(); time.sleep(0.001)"


def beating(place: Path) -> tuple[Service, Path]:
    """Return a service that says its process, and makes a file again whenever it is removed."""
    beat = place / "beat"
    pid = f"import os, time; open({str(place / 'pid')!r}, 'w').write(f'{{os.getpid()}}\\n')"
    return Service(name="beats", command=python(f"{pid}\n{BEATS.format(beat=str(beat))}")), beat


def await_beat(running: Supervised, beat: Path) -> None:
    """Wait until the service has done something after this call: it does not stand still."""
    beat.unlink(missing_ok=True)
    end = time.monotonic() + PATIENCE_S
    while not beat.exists():
        assert time.monotonic() < end, running.last_words()


def pid_of(place: Path) -> int:
    path = place / "pid"
    end = time.monotonic() + PATIENCE_S
    while not (path.is_file() and path.read_text().endswith("\n")):
        assert time.monotonic() < end
    return int(path.read_text())


def letter_of(pid: int) -> str:
    """Return the state of a process as /proc has it; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def ask_and_die(running: Supervised, line: bytes, *, unread: bool = False) -> None:
    """Ask something of the supervisor as whoever knows the token, and be killed at once.

    Args:
        unread: something was not read; so the connection breaks off rather than end.
    """
    with socket.create_connection(("127.0.0.1", running.port), PATIENCE_S) as asker:
        if unread:
            asker.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        trust = f'{{"ask": "trust", "token": "{TOKEN}"}}\n'.encode()
        asker.sendall(trust)
        while b"trusted" not in asker.recv(4096):
            pass
        asker.sendall(line)


@SLOW
def test_whoever_asks_for_a_state_and_is_killed_leaves_a_site_that_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "large").write_bytes(os.urandom(LARGE // 8))
    service, beat = beating(tmp_path)
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        (running.folder / "large").write_bytes(os.urandom(LARGE // 8))
        for unread in (True, False, True):
            ask_and_die(running, b'{"ask": "take"}\n', unread=unread)
            await_beat(running, beat)
        wanted = (running.folder / "large").read_bytes()
        state = running.take()
        running.rewind()
        running.restore(state)
        assert (running.folder / "large").read_bytes() == wanted
        await_beat(running, beat)


@SLOW
def test_whoever_restores_a_state_and_is_killed_has_asked_for_all_of_it_or_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "pristine").mkdir()
    (tmp_path / "pristine" / "note").write_text("golden")
    service, beat = beating(tmp_path)
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        (running.folder / "note").write_text("taken")
        state = running.take()
        running.rewind()
        question = f'{{"ask": "restore", "taken": "{state}"}}\n'.encode()
        for unread in (True, False):
            ask_and_die(running, question[: len(question) // 2], unread=unread)
        await_beat(running, beat)
        with running.listen() as listener:
            assert listener.hear()["generation"] == running.generation
            assert (running.folder / "note").read_text() == "golden"
            ask_and_die(running, question)
            running.generation += 1
            assert "restored" in listener.until_ready(running.generation)
        assert (running.folder / "note").read_text() == "taken"
        await_beat(running, beat)


@SLOW
def test_a_supervisor_that_is_killed_while_all_stand_still_leaves_none_that_does(
    tmp_path: Path,
) -> None:
    (tmp_path / "pristine").mkdir()
    service, beat = beating(tmp_path)
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)
            (running.folder / "large").write_bytes(os.urandom(LARGE))
            await_beat(running, beat)
            pid = pid_of(tmp_path)
            listener.trusted().send(b'{"ask": "take"}\n')
            end = time.monotonic() + PATIENCE_S
            while letter_of(pid) != "T":
                assert time.monotonic() < end, "it never stood still"
            running.process.kill()
        running.end()
        while letter_of(pid) not in ("", "Z", "X"):
            assert time.monotonic() < end, "it stands still for ever"


# Rewrites every file as soon as it may go on, with as many bytes and the old time: only the kernel
# still knows, by a clock that moves every few milliseconds.
RACER = """
import os, sys
folder, racing, idle = sys.argv[1:]
while True:
    if not os.path.exists(racing):
        open(idle, 'w').close()
        continue
    for name in os.listdir(folder):
        file = os.open(os.path.join(folder, name), os.O_RDWR)
        if os.pread(file, 7, 0) == b'golden!':
            found = os.fstat(file)
            os.pwrite(file, b'changed', 0)
            os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
        os.close(file)
"""


@SLOW
def test_a_change_in_the_tick_of_the_mark_is_part_of_a_state_and_is_undone(tmp_path: Path) -> None:
    """The parent of a recycled service goes on within microseconds after the last file's mark.

    Linux from 6.13 on gives such a change a time of its own; an older one may not.
    """
    (tmp_path / "pristine").mkdir()
    for number in range(50):
        (tmp_path / "pristine" / f"{number:02}").write_text("golden!")
    racing, idle = tmp_path / "racing", tmp_path / "idle"
    words = (str(tmp_path / "state"), str(racing), str(idle))
    service = Service(name="racer", command=(*python(RACER), *words), rewind="recycle")
    with supervised(tmp_path, service) as running:
        with running.listen() as listener:
            listener.until_ready(1)

        def contents() -> set[str]:
            return {path.read_text() for path in running.folder.iterdir()}

        def until(done: Callable[[], bool]) -> None:
            end = time.monotonic() + PATIENCE_S
            while not done():
                assert time.monotonic() < end, contents()

        for _ in range(RACES):
            racing.touch()
            running.rewind()
            until(lambda: contents() == {"changed"})
            state = running.take()
            racing.unlink()
            idle.unlink(missing_ok=True)
            until(idle.exists)
            running.rewind()
            assert contents() == {"golden!"}
            running.restore(state)
            assert contents() == {"changed"}


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_that_is_made_to_ask_the_supervisor_changes_no_state(
    tmp_path: Path, method: str
) -> None:
    """What it sends is a request of HTTP, with lines of an attacker's choice in it."""
    (tmp_path / "pristine").mkdir()
    with supervised(tmp_path) as running:
        with running.listen() as listener:
            listener.until_ready(1)
        (running.folder / "mine").touch()
        lines = [
            f"{method} / HTTP/1.1",
            "Host: 127.0.0.1",
            "",
            '{"ask": "trust"}',
            '{"ask": "trust", "token": ""}',
            '{"ask": "take"}',
            '{"ask": "restore", "taken": ""}',
            "",
        ]
        with Listener(running.port) as attacker:
            attacker.until_ready(1)
            attacker.send("\r\n".join(lines).encode())
            answers = [attacker.hear() for _ in lines[:-1]]
        assert all("error" in one for one in answers)
        with running.listen() as listener:
            assert listener.hear()["generation"] == 1
        assert (running.folder / "mine").exists()
