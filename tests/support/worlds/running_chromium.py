"""A Chromium that somebody else started, with a debugging port on loopback."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_START_S: Final = 30.0
_TRY_AGAIN_S: Final = 0.05


@dataclass(frozen=True)
class RunningChromium:
    """A browser of somebody else's.

    Attributes:
        secret: the part of its address that lets somebody in.
    """

    process: subprocess.Popen[bytes]
    port: int
    secret: str

    @property
    def url(self) -> str:
        """Where it tells its whole address."""
        return f"http://127.0.0.1:{self.port}"

    def pages(self) -> list[str]:
        """Return the addresses of the pages that are open in it."""
        listed = f"{self.url}/json/list"
        with urllib.request.urlopen(listed, timeout=10) as answer:  # noqa: S310  on loopback
            found: list[dict[str, Any]] = json.load(answer)
        return [one["url"] for one in found if one["type"] == "page"]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None


@contextmanager
def running_chromium(profile: Path, page: str = "about:blank") -> Iterator[RunningChromium]:
    """Start one with a page open; the block's end kills it."""
    program = shutil.which("chromium") or "chromium"
    agent = "--user-agent=Mozilla/5.0 (theirs) Chrome/1.0"
    words = (agent, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run")
    process = subprocess.Popen(
        [program, *words, f"--user-data-dir={profile}", "--remote-debugging-port=0", page],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        port, path = _port_of(profile, process)
        yield RunningChromium(process, port, path.rpartition("/")[2])
    finally:
        process.kill()
        process.wait()


def _port_of(profile: Path, process: subprocess.Popen[bytes]) -> tuple[int, str]:
    written, deadline = profile / "DevToolsActivePort", time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        lines = written.read_text().splitlines() if written.is_file() else []
        if len(lines) > 1:
            return int(lines[0]), lines[1]
        time.sleep(_TRY_AGAIN_S)
    raise AssertionError("Chromium did not open its debugging port")
