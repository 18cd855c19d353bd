"""The profile of one browser, noted in that browser's folder, so that it never outlasts the folder.

Playwright's driver makes the profile and removes it, unless the driver is killed.
"""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from playwright.async_api import CDPSession

NOTE: Final = "arguments"
PREFIX: Final = "playwright_chromiumdev_profile-"
_OPTION: Final = "--user-data-dir="
_GONE_S: Final = 5.0
_PROC: Final = Path("/proc")


def noting(folder: Path) -> str:
    """Return what a shell script does first, to note the arguments of the browser it starts."""
    return f'printf "%s\\n" "$@" > {shlex.quote(str(folder / NOTE))} || exit 1'


async def note_profile(folder: Path, session: CDPSession) -> None:
    """Note what a browser says that its arguments are, where no script started it."""
    if not (folder / NOTE).exists():
        said = (await session.send("SystemInfo.getInfo"))["commandLine"]
        (folder / NOTE).write_text(said.replace(" --", "\n--"), encoding="utf-8")


def remove_profile(folder: Path) -> None:
    """Kill what still uses the profile noted in a folder, and remove it if it is still there."""
    profile = _noted(folder)
    if profile is None or not profile.exists():
        return
    due = time.monotonic() + _GONE_S
    while (pids := list(_using(profile))) and time.monotonic() < due:
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                kill_and_wait(pid, due)
    shutil.rmtree(profile, ignore_errors=True)


def kill_and_wait(pid: int, due: float) -> None:
    """Kill a process, and wait for its end until a time."""
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        ended = select.poll()  # unlike `select`, for descriptors beyond 1,023 too
        ended.register(process, select.POLLIN)
        ended.poll(1000 * max(0.0, due - time.monotonic()))
    finally:
        os.close(process)


def _noted(folder: Path) -> Path | None:
    """Return the profile that is noted, if a browser's folder or Playwright made it."""
    with suppress(OSError):
        for line in (folder / NOTE).read_text(encoding="utf-8", errors="replace").splitlines():
            path = Path(line.removeprefix(_OPTION))
            if line.startswith(_OPTION) and (path.parent == folder or path.name.startswith(PREFIX)):
                return path
    return None


def _using(profile: Path) -> Iterator[int]:
    """Yield the processes started on a profile, and those these began; none without /proc.

    A browser's own processes have arguments of their own, and write there for a moment longer than
    it lives: they are in the session that Playwright's driver began with it.
    """
    if sys.platform != "linux":
        return
    sessions: dict[int, int] = {}
    started = set()
    wanted = f"{_OPTION}{profile}".encode()
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            pid = int(entry.name)
            with suppress(OSError):
                sessions[pid] = os.getsid(pid)
                if wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                    started.add(pid)
    yield from (pid for pid, leader in sessions.items() if started & {pid, leader})
