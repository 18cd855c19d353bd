"""The port tells the generation, and answers about the folder."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from supervised import PATIENCE_S, Listener, Supervised, supervised

from orchestrator.sandbox.reset.fingerprint import find_argv, parse_listing
from orchestrator.sandbox.reset.state import FileState


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Supervised]:
    pristine = tmp_path / "pristine"
    (pristine / "counted").mkdir(parents=True)
    (pristine / "counted" / "table").write_text("rows")
    (pristine / "media" / "deep").mkdir(parents=True)
    (pristine / "media" / "picture").write_bytes(bytes(range(256)))
    (pristine / "media" / "deep" / "ünïcode").write_text("text")
    (pristine / "media" / "link").symlink_to("deep/nowhere")
    (pristine / "media" / "picture").chmod(0o604)
    with supervised(tmp_path) as running:
        yield running


@pytest.fixture
def listener(running: Supervised) -> Iterator[Listener]:
    with running.listen() as listener:
        listener.until_ready(1)
        yield listener


def test_every_listener_gets_every_generation(running: Supervised, listener: Listener) -> None:
    with running.listen() as other:
        assert other.hear()["generation"] == 1
        running.process.send_signal(signal.SIGUSR1)
        told = [(one.hear(), one.hear()) for one in (listener, other)]
    assert told[0] == told[1]
    begun, done = told[0]
    assert (begun["state"], begun["generation"]) == ("rewinding", 1)
    assert (done["state"], done["generation"]) == ("ready", 2)
    assert done["folder"] == str(running.folder)
    assert isinstance(done["seconds"], float)
    assert 0 < done["seconds"] < PATIENCE_S
    with running.listen() as late:
        assert late.hear() == done


def test_a_listener_that_left_does_not_matter(running: Supervised, listener: Listener) -> None:
    gone = socket.create_connection(("127.0.0.1", running.port))
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    gone.close()
    running.process.send_signal(signal.SIGUSR1)
    listener.until_ready(2)
    assert "stamp" in listener.ask(ask="stamp")


def overwrite_unnoticed(folder: Path) -> None:
    path = folder / "media" / "picture"
    status = path.stat()
    path.write_bytes(bytes(256))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@ONE_QUICK
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(overwrite_unnoticed, id="content"),
        pytest.param(lambda folder: (folder / "media" / "picture").chmod(0o600), id="mode"),
        pytest.param(lambda folder: (folder / "media" / "new").touch(), id="new"),
        pytest.param(lambda folder: (folder / "media" / "picture").unlink(), id="removed"),
        pytest.param(lambda folder: (folder / "media").rename(folder / "m"), id="moved"),
        pytest.param(lambda folder: shutil.rmtree(folder / "media" / "deep"), id="folder"),
        pytest.param(lambda folder: (folder / "new").mkdir(), id="new folder"),
    ],
)
def test_any_change_moves_the_stamp(
    running: Supervised, listener: Listener, change: Callable[[Path], object]
) -> None:
    before = listener.ask(ask="stamp")
    assert listener.ask(ask="stamp") == before
    change(running.folder)
    assert listener.ask(ask="stamp") != before


@SLOW
def test_a_change_at_once_after_a_stamp_moves_it(running: Supervised, listener: Listener) -> None:
    """Even in the same tick of the clock that files get their times from."""
    for number in range(100):
        before = listener.ask(ask="stamp")
        (running.folder / "media" / "picture").write_bytes(bytes([number]) * 256)
        assert listener.ask(ask="stamp") != before


def test_what_is_written_to_files_of_counted_parts_does_not_move_the_stamp(
    running: Supervised, listener: Listener
) -> None:
    (running.folder / "counted" / "table").write_text("rows")
    before = listener.ask(ask="stamp")
    (running.folder / "counted" / "table").write_text("more rows")
    assert listener.ask(ask="stamp") == before


@ONE_QUICK
@pytest.mark.parametrize("name", ["written.txt", "deep/written.txt", "folder/"])
def test_a_new_name_in_a_counted_part_moves_the_stamp(
    running: Supervised, listener: Listener, name: str
) -> None:
    """As SELECT … INTO OUTFILE makes one, which no counter tells from a SELECT."""
    (running.folder / "counted" / "deep").mkdir()
    before = listener.ask(ask="stamp")
    path = running.folder / "counted" / name
    path.mkdir() if name.endswith("/") else path.touch()
    assert listener.ask(ask="stamp") != before


def listed_by_find(*folders: str) -> tuple[FileState, ...]:
    done = subprocess.run(find_argv(folders), capture_output=True, check=False)
    return parse_listing(done.stdout)


def listed(answer: dict[str, object]) -> tuple[FileState, ...]:
    found = answer["files"]
    assert isinstance(found, list)
    return tuple(sorted((FileState(**entry) for entry in found), key=lambda entry: entry.path))


def test_files_are_listed_as_find_lists_them(running: Supervised, listener: Listener) -> None:
    folders = [str(running.folder / "media"), str(running.folder / "missing")]
    (running.folder / "media" / "pipe").touch()
    os.mkfifo(running.folder / "media" / "queue")
    (running.folder / "media" / "deep").chmod(0o1777)
    (running.folder / "media" / os.fsdecode(b"odd\xfe")).symlink_to(os.fsdecode(b"odd\xff"))
    for _ in range(2):
        found = listed(listener.ask(ask="files", folders=folders))
        assert len(found) == 8
        assert found == listed_by_find(*folders)
        (running.folder / "media" / "picture").write_bytes(b"changed")


def test_a_folder_that_cannot_be_read_is_an_error_not_a_silence(
    running: Supervised, listener: Listener
) -> None:
    (running.folder / "media" / "loop").symlink_to("loop")
    answer = listener.ask(ask="files", folders=[str(running.folder / "media" / "loop" / "x")])
    assert "Too many levels of symbolic links" in str(answer["error"])


@ONE_QUICK
@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"hello\n", "no question"),
        (b"[1]\n", "no question"),
        (b'{"folders": []}\n', "no question"),
        (b'{"ask": "files"}\n', "no such question"),
        (b'{"ask": "files", "folders": 3}\n', "no such question"),
        (b'{"ask": "time"}\n', "no such question"),
    ],
)
def test_what_is_no_question_is_refused(listener: Listener, line: bytes, error: str) -> None:
    listener.trusted().send(line)
    assert error in str(listener.hear()["error"])
    assert "stamp" in listener.ask(ask="stamp")
