"""A disk of one run's own that can be full for a moment, and memory that runs out for one program.

A full disk is a file system in memory whose size is set to what lies in it: it takes no room to
fill. Memory runs out in a control group: the kernel itself chooses and kills. Both need root, and
neither is felt by anything but the run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sabotage.engine_cli import docker

_SIZE: Final = "2g"
_TRIES: Final = 5
_BROWSER_MB: Final = 4
_ROOM_MB: Final = 8
_MB: Final = 1 << 20
_EAT_S: Final = 30.0
# Joins a control group and eats until the kernel has killed something there, but never itself.
_EAT: Final = """
import os, sys
group, events = sys.argv[1:]
def kills():
    for line in open(group + "/" + events):
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    raise SystemExit("the kernel counts no kills")
open("/proc/self/oom_score_adj", "w").write("-1000")
open(group + "/cgroup.procs", "w").write(str(os.getpid()))
first, kept = kills(), []
while kills() == first and len(kept) < 512:
    kept.append(b"x" * (1 << 20))
print(kills() - first)
"""


@dataclass(frozen=True, slots=True)
class OwnDisk:
    """A folder that is a disk of its own; `is_own` is False where none could be mounted."""

    path: Path
    is_own: bool

    @contextmanager
    def full(self) -> Iterator[bool]:
        """Leave no room until the end of the block; yield whether that could be done."""
        filled = self.is_own and any(self._resized(self._used()) for _ in range(_TRIES))
        try:
            yield filled
        finally:
            if filled:
                self._resized(_SIZE)

    def _used(self) -> str:
        here = os.statvfs(self.path)
        used = (here.f_blocks - here.f_bfree) * here.f_frsize
        return str(max(used, here.f_frsize))  # 0 would be no limit at all

    def _resized(self, size: str) -> bool:
        """Set its size; the kernel refuses less than lies in it, as where some was just written."""
        return _mounted("-o", f"remount,size={size}", str(self.path))


@contextmanager
def own_disk(path: Path, *, kept: Callable[[], bool]) -> Iterator[OwnDisk]:
    """Mount a disk at a path until the end of the block; its files stay there if they are kept."""
    path.mkdir(parents=True, exist_ok=True)
    while path.is_mount():  # of one that was broken off
        subprocess.run(["umount", "--lazy", path], check=True)
    words = ("-t", "tmpfs", "-o", f"size={_SIZE}", "arena", str(path))
    is_own = os.geteuid() == 0 and _mounted(*words)
    is_wanted = True  # also where the block ends in an error
    try:
        yield OwnDisk(path, is_own)
        is_wanted = kept()
    finally:
        if is_own:
            aside = path.with_name(f"{path.name}.kept")
            if is_wanted:
                with suppress(shutil.Error):  # what went meanwhile; all else is copied
                    shutil.copytree(path, aside, symlinks=True, ignore=_what_is_no_file)
            subprocess.run(["umount", "--lazy", path], check=True)
            if aside.exists():
                path.rmdir()
                aside.rename(path)


def _mounted(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


def _what_is_no_file(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder, name) for name in names]
    return [one.name for one in paths if not (one.is_file() or one.is_dir() or one.is_symlink())]


@dataclass(frozen=True, slots=True)
class _Groups:
    """The machine's control groups of memory, and how its version of them calls things."""

    root: Path
    limit: str
    used: str
    events: str
    of_process: str
    without_limit: str


_OLD: Final = _Groups(
    Path("/sys/fs/cgroup/memory"),
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.oom_control",
    ":memory:",
    "-1",
)
_NEW: Final = _Groups(
    Path("/sys/fs/cgroup"), "memory.max", "memory.current", "memory.events", "0::", "max"
)


def _groups() -> _Groups:
    return _OLD if _OLD.root.is_dir() else _NEW


def starve_container(container: str) -> bool:
    """Lower a container's memory to what it uses until the kernel has killed a process of it."""
    groups = _groups()
    group = _home_of(int(docker("inspect", "--format", "{{.State.Pid}}", container)), groups)
    limit, used = group / groups.limit, int((group / groups.used).read_text())
    before = limit.read_text()
    limit.write_text(str(used + _ROOM_MB * _MB))
    try:
        words = [sys.executable, "-c", _EAT, str(group), groups.events]
        eaten = subprocess.run(words, capture_output=True, text=True, timeout=_EAT_S, check=False)
        return eaten.stdout.strip() not in {"", "0"}
    finally:
        with suppress(FileNotFoundError):  # it is gone, by this very fault
            limit.write_text(before)


def starve(pids: list[int], within_s: float) -> bool:
    """Let processes run out of memory; return whether the kernel has killed one of them."""
    groups = _groups()
    own = groups.root / f"arena-faults-{os.getpid()}-{threading.get_ident()}"
    if os.geteuid() != 0:
        return False
    home = _home_of(pids[0], groups)
    try:
        own.mkdir()
        (own / groups.limit).write_text(str(_BROWSER_MB * _MB))
    except OSError:
        return False  # this machine has no such groups, or gives none away
    try:
        _move(pids, own)
        due = time.monotonic() + within_s
        while not (killed := _kills(own / groups.events)) and time.monotonic() < due:
            threading.Event().wait(0.05)  # files of the kernel's that no event tells of
        return killed > 0
    finally:
        (own / groups.limit).write_text(groups.without_limit)
        while left := (own / "cgroup.procs").read_text().split():
            _move(map(int, left), home)
        own.rmdir()


def _home_of(pid: int, groups: _Groups) -> Path:
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    [path] = [line.partition(groups.of_process)[2] for line in lines if groups.of_process in line]
    return groups.root / path.lstrip("/")


def _move(pids: Iterator[int] | list[int], group: Path) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(pid))


def _kills(events: Path) -> int:
    words = [line.split() for line in events.read_text().splitlines()]
    return sum(int(number) for name, number in words if name == "oom_kill")
