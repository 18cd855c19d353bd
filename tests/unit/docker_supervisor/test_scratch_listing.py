"""What a request can leave in a scratch folder moves the stamp, and is told entry by entry."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from supervised import Listener, Service, Supervised, python, supervised

NOTES = (
    "import os, pathlib, socket, time;"
    "folder = pathlib.Path({folder!r});"
    "(folder / 'service.pid').write_text(f'{{os.getpid()}}\\n');"
    "(folder / 'lock').write_text(f'{{os.getpid()}}\\n{{time.time_ns()}}\\n');"
    "time.sleep(600)"
)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Supervised]:
    with supervised(tmp_path, extra='passing = ["sess_*"]') as running:
        yield running


@pytest.fixture
def listener(running: Supervised) -> Iterator[Listener]:
    with running.listen() as listener:
        listener.until_ready(1)
        (running.scratch / "kept").mkdir()
        (running.scratch / "kept" / "lock").write_bytes(b"one")
        yield listener


def overwrite_unnoticed(folder: Path) -> None:
    path = folder / "kept" / "lock"
    status = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def listen_there(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "new"))


@ONE_QUICK
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda folder: (folder / "kept" / "new").touch(), id="new"),
        pytest.param(lambda folder: (folder / "new").mkdir(), id="new folder"),
        pytest.param(lambda folder: (folder / "new").symlink_to("kept"), id="link"),
        pytest.param(lambda folder: os.mkfifo(folder / "new"), id="pipe"),
        pytest.param(listen_there, id="socket"),
        pytest.param(overwrite_unnoticed, id="content"),
        pytest.param(lambda folder: (folder / "kept" / "lock").chmod(0o600), id="mode"),
        pytest.param(lambda folder: (folder / "kept" / "lock").unlink(), id="removed"),
        pytest.param(lambda folder: (folder / "kept").rename(folder / "k"), id="moved"),
        pytest.param(lambda folder: shutil.rmtree(folder / "kept"), id="folder removed"),
        pytest.param(lambda folder: (folder / "sess_a1").touch(), id="of a name that is drawn"),
    ],
)
def test_any_change_moves_the_stamp(
    running: Supervised, listener: Listener, change: Callable[[Path], object]
) -> None:
    before = listener.ask(ask="stamp")
    assert listener.ask(ask="stamp") == before
    change(running.scratch)
    assert listener.ask(ask="stamp") != before


def test_a_file_that_came_and_went_moves_nothing(running: Supervised, listener: Listener) -> None:
    before = listener.ask(ask="stamp")
    (running.scratch / "spill").touch()
    (running.scratch / "spill").unlink()
    assert listener.ask(ask="stamp") == before


def test_a_databases_tables_in_memory_move_nothing(running: Supervised, listener: Listener) -> None:
    before = listener.ask(ask="stamp")
    (running.scratch / "#sql-temptable-1-2-3.MAD").touch()
    assert listener.ask(ask="stamp") == before
    assert paths(listener) == {running.scratch / "kept", running.scratch / "kept" / "lock"}


def test_every_entry_is_listed_but_those_with_random_names(
    running: Supervised, listener: Listener
) -> None:
    (running.scratch / "sess_a1").touch()
    (running.scratch / "kept" / "lock").chmod(0o640)
    told = {entry["path"]: entry for entry in entries(listener)}
    assert set(told) == {str(running.scratch / "kept"), str(running.scratch / "kept" / "lock")}
    lock = told[str(running.scratch / "kept" / "lock")]
    assert (lock["kind"], lock["mode"], lock["owner"]) == (
        "f",
        "640",
        f"{os.getuid()}:{os.getgid()}",
    )
    digest = subprocess.run(["sha256sum"], input=b"one", capture_output=True, check=True).stdout
    assert lock["content"] == digest.split()[0].decode()


def test_what_was_left_is_gone_after_a_rewind(running: Supervised, listener: Listener) -> None:
    assert entries(listener)
    running.rewind()
    with running.listen() as late:
        late.until_ready(2)
        assert entries(late) == []


@SLOW
def test_the_number_of_a_service_is_the_same_entry_at_every_start(tmp_path: Path) -> None:
    command = python(NOTES.format(folder=str(tmp_path / "scratch")))
    seen, contents = [], set()
    with supervised(tmp_path, Service(name="app", command=command)) as running:
        for generation in (1, 2):
            with running.listen() as listener:
                listener.until_ready(generation)
                while len(found := contents_of(running.scratch)) < 2 or "" in found:
                    pass
                seen.append(entries(listener))
            contents.add(tuple(contents_of(running.scratch)))
            running.rewind()
    assert seen[0] == seen[1]
    assert [entry["content"] for entry in seen[0]] == ["pid", "pid"]
    assert len(contents) == 2


def test_the_number_of_no_process_is_a_content_like_any_other(
    running: Supervised, listener: Listener
) -> None:
    (running.scratch / "kept" / "lock").write_text("99999999\n")
    assert "pid" not in {entry["content"] for entry in entries(listener)}


def entries(listener: Listener) -> list[dict[str, str]]:
    answer = listener.ask(ask="scratch")
    assert "error" not in answer
    found = answer["files"]
    assert isinstance(found, list)
    return found


def paths(listener: Listener) -> set[Path]:
    return {Path(entry["path"]) for entry in entries(listener)}


def contents_of(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.iterdir())]
