"""A supervisor that has namespaces to itself, as in a container: all else in them is undone too."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from supervised import PATIENCE_S, SUPERVISOR, free_port, python

_APART = ("unshare", "--user", "--map-root-user", "--pid", "--ipc", "--fork", "--mount-proc")
_CONFIG = 'folder = "{0}/state"\npristine = "{0}/pristine"\nscratch = []\nport = {1}\n'
_IPC = (
    "import ctypes; c = ctypes.CDLL(None);"
    " assert min(c.shmget(7, 4096, 0o1666), c.msgget(7, 0o1666), c.semget(7, 1, 0o1666)) >= 0"
)


class Apart:
    """A supervisor as the first process of its namespaces."""

    def __init__(self, place: Path) -> None:
        (place / "pristine").mkdir()
        (place / "pristine" / "note").write_text("golden")
        config = place / "supervisor.toml"
        config.write_text(_CONFIG.format(place, free_port()))
        self.note = place / "state" / "note"
        self.log = place / "log"
        command = (*_APART, "--kill-child", sys.executable, "-IS", str(SUPERVISOR), str(config))
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stderr=output)
        self.until(self.note.exists)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.first = int(children.read_text().split()[0])

    def until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < end, self.log.read_text()
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.005)

    def enter(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Run a command in its namespaces that is not its child, as `docker exec` does."""
        spaces = ("--user", "--pid", "--ipc", "--mount", "--preserve-credentials")
        return subprocess.Popen(("nsenter", "--target", str(self.first), *spaces, *command))

    def rewind(self) -> None:
        self.note.write_text("dirty")
        subprocess.run(("kill", f"-{signal.SIGUSR1.value}", str(self.first)), check=True)
        self.until(lambda: self.note.read_text() == "golden")


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Apart]:
    if subprocess.run((*_APART, "true"), check=False, capture_output=True).returncode:
        pytest.skip("this user may not make namespaces")
    made = Apart(tmp_path)
    yield made
    made.process.kill()
    made.process.wait(PATIENCE_S)


def test_a_process_that_is_not_its_child_does_not_outlive_a_rewind(
    apart: Apart, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    with apart.enter(python(f"open({str(there)!r}, 'w'); import time; time.sleep(600)")) as other:
        apart.until(there.exists)
        apart.rewind()
        assert other.wait(PATIENCE_S) != 0


def test_system_v_ipc_does_not_outlive_a_rewind(apart: Apart) -> None:
    def present() -> list[int]:
        shown = ("cat", "/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/sysvipc/sem")
        spaces = ("--ipc", "--user", "--pid", "--mount", "--preserve-credentials")
        command = ("nsenter", "--target", str(apart.first), *spaces, *shown)
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [int(line.split()[0]) for line in text.splitlines() if "key" not in line]

    assert present() == []
    assert apart.enter(python(_IPC)).wait(PATIENCE_S) == 0
    assert present() == [7, 7, 7]
    apart.rewind()
    apart.until(lambda: present() == [])
