"""The clock is at its first moment at every start and rewind, and runs from there."""

from __future__ import annotations

import mmap
import signal
import struct
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from supervised import Listener, Service, Supervised, python, supervised

BEGINS = datetime(2026, 10, 1, 9, tzinfo=UTC)
SOON = timedelta(seconds=20)
# A service that says what of the clock its environment holds; the library cannot be loaded.
TELLS = (
    "import os, time; open({path!r}, 'w').write(str(os.environ.get('ARENA_CLOCK')));time.sleep(600)"
)


def clock_of(place: Path, now: str = "2026-10-01T09:00:00Z") -> str:
    library = place / "library"
    library.touch()
    return f'clock = {{now = {now}, file = "{place}/scratch/clock", library = "{library}"}}'


def shown(number: bytes) -> datetime:
    """The site's time, as a process that maps the clock's file computes it."""
    (behind,) = struct.unpack("=q", number)
    return datetime.fromtimestamp((time.monotonic_ns() + behind) / 1e9, UTC)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Supervised]:
    services = [Service(name="app", command=python(TELLS.format(path=str(tmp_path / "told"))))]
    with supervised(tmp_path, *services, extra=clock_of(tmp_path)) as running:
        yield running


@pytest.fixture
def listener(running: Supervised) -> Iterator[Listener]:
    with running.listen() as listener:
        listener.until_ready(1)
        yield listener


def test_it_begins_at_its_moment_and_runs(running: Supervised, listener: Listener) -> None:
    assert listener.ask(ask="stamp")
    file = running.scratch / "clock"
    first = shown(file.read_bytes())
    time.sleep(0.01)
    assert BEGINS < first < shown(file.read_bytes()) < BEGINS + SOON


def test_a_rewind_puts_it_back_for_who_reads_it_already(
    running: Supervised, listener: Listener
) -> None:
    """Its file is not made anew while the scratch folder around it is emptied."""
    (running.scratch / "left").touch()
    with (running.scratch / "clock").open("rb") as file:
        number = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    before = number[:8]
    running.process.send_signal(signal.SIGUSR1)
    listener.until_ready(2)
    assert not (running.scratch / "left").exists()
    assert struct.unpack("=q", number[:8]) < struct.unpack("=q", before)


def test_it_is_put_back_when_somebody_asks_and_nothing_else_is(
    running: Supervised, listener: Listener
) -> None:
    stamp = listener.ask(ask="stamp")
    (before,) = struct.unpack("=q", (running.scratch / "clock").read_bytes())
    told = datetime.fromisoformat(str(listener.ask(ask="clock")["clock"]))
    (after,) = struct.unpack("=q", (running.scratch / "clock").read_bytes())
    assert after < before
    assert BEGINS <= told < BEGINS + timedelta(seconds=1)
    assert listener.ask(ask="stamp") == stamp


@SLOW
def test_a_service_may_keep_the_hosts_clock(tmp_path: Path) -> None:
    own, host = tmp_path / "own", tmp_path / "host"
    services = [
        Service(name="own", command=python(TELLS.format(path=str(own)))),
        Service(name="host", command=python(TELLS.format(path=str(host))), host_clock=True),
    ]
    with supervised(tmp_path, *services, extra=clock_of(tmp_path)) as running:
        end = time.monotonic() + 20
        while not (own.exists() and own.read_text() and host.exists() and host.read_text()):
            assert time.monotonic() < end, running.last_words()
            time.sleep(0.005)
    assert own.read_text() == str(tmp_path / "scratch" / "clock")
    assert host.read_text() == "None"


def test_a_clock_that_somebody_replaced_ends_the_container(
    running: Supervised, listener: Listener
) -> None:
    """What reads the old file would go on by it: only a new container has one clock again."""
    file = running.scratch / "clock"
    file.unlink()
    file.write_bytes(bytes(8))
    assert "replaced" in str(listener.ask(ask="clock")["error"])
    running.process.send_signal(signal.SIGUSR1)
    assert running.end() == 1
    assert "replaced" in running.last_words()


def test_without_a_clock_there_is_none_to_put_back(tmp_path: Path) -> None:
    with supervised(tmp_path) as running, running.listen() as listener:
        listener.until_ready(1)
        assert "host's" in str(listener.ask(ask="clock")["error"])


@ONE_QUICK
@pytest.mark.parametrize(
    ("now", "why"), [("2026-10-01T09:00:00", "time zone"), ('"nine"', "clock")]
)
def test_a_moment_without_a_time_zone_is_refused(tmp_path: Path, now: str, why: str) -> None:
    with supervised(tmp_path, extra=clock_of(tmp_path, now)) as running:
        assert running.end() == 1
        assert why in running.last_words()


def test_a_library_that_is_missing_ends_the_container(tmp_path: Path) -> None:
    clock = clock_of(tmp_path)
    (tmp_path / "library").unlink()
    with supervised(tmp_path, extra=clock) as running:
        assert running.end() == 1
        assert "clock cannot be made" in running.last_words()


def test_what_its_file_holds_is_no_part_of_the_scratch_folders(
    running: Supervised, listener: Listener
) -> None:
    stamp, told = listener.ask(ask="stamp"), listener.ask(ask="scratch")
    listener.ask(ask="clock")
    assert listener.ask(ask="stamp") == stamp
    assert listener.ask(ask="scratch") == told
    (running.scratch / "clock").chmod(0o644)
    assert listener.ask(ask="stamp") != stamp
    assert listener.ask(ask="scratch") != told


def test_a_number_that_looks_like_the_note_of_a_process_is_the_clocks(
    running: Supervised, listener: Listener
) -> None:
    told = listener.ask(ask="scratch")
    with (running.scratch / "clock").open("r+b") as clock:
        clock.write(b"1\n")  # its first two bytes; process 1 runs
    assert listener.ask(ask="scratch") == told
