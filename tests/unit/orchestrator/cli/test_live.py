"""The live display on a real pseudo-terminal, and plain lines wherever there is none."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs import live_work

from orchestrator.cli.live import REFRESHES_A_SECOND

WORK = Path(__file__).parents[3] / "support/runs/live_work.py"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
PLAIN = [
    "offline: 1 worker",
    "shop: step 3/12 RUN bake [4 s]",
    "arena: a site of your own is left out",
    "TIME warning orchestrator.x: a line of the log",
]


def environment(**more: str) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"CI", "NO_COLOR"}}
    return {**kept, "TERM": "xterm-256color", **more}


def read_all(terminal: int) -> Iterator[bytes]:
    """Read until nobody holds the other end any more."""
    with suppress(OSError):
        while read := os.read(terminal, 65_536):
            yield read


class Terminal:
    """A process on a pseudo-terminal of 100 columns, which is read all the while."""

    def __init__(self, *words: str, env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.before = termios.tcgetattr(self._ours)
        self._running = subprocess.Popen(
            [sys.executable, "-c", _LEADER, str(WORK), *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            start_new_session=True,
        )
        os.close(theirs)
        self._written: list[bytes] = []
        self._heard = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def written(self) -> str:
        return b"".join(self._written).decode(errors="replace")

    def read_until(self, text: str, limit_s: float = 30.0) -> None:
        """Wait until a text was written."""
        with self._heard:
            assert self._heard.wait_for(lambda: text in self.written, limit_s), self.written

    def press_ctrl_c(self) -> None:
        os.write(self._ours, b"\x03")

    def end(self, limit_s: float = 30.0) -> int:
        """Wait for the end, and return the exit code."""
        try:
            return self._running.wait(limit_s)
        finally:
            self._running.kill()
            self._running.wait()
            self.after = termios.tcgetattr(self._ours)
            self._reader.join(limit_s)
            os.close(self._ours)

    def _read(self) -> None:
        for read in read_all(self._ours):
            with self._heard:
                self._written.append(read)
                self._heard.notify_all()


# Makes the pseudo-terminal the controlling one, so that Ctrl-C on it reaches the process.
_LEADER = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


def lines(text: str) -> list[str]:
    """Return what was written as lines, times of the log blanked."""
    return [re.sub(r"^\d\d:\d\d:\d\d", "TIME", line) for line in text.splitlines()]


@SLOW
def test_on_a_terminal_bars_steps_and_output_are_drawn_and_go_at_the_end() -> None:
    terminal = Terminal("0.6", env=environment())
    assert terminal.end() == 0
    said = terminal.written
    assert "━" in said
    assert re.search(r"shop +\S*step 3/12 RUN bake", said)
    assert "baking orders: 1200 of 3000" in said
    assert re.search(r"episodes.* 1/4 ", said)
    assert re.search(r"offline kettle +\S*playing", said)
    assert "\x1b[2J" not in said  # what a build prints moves no cursor
    assert "[4 s]" not in said  # the line of text for pipes
    assert said.count(HIDE) == said.count(SHOW) == 1
    assert said.endswith("the result\r\n")
    frames = said.count("━━━╸") + said.count("━━━━━━━")
    assert frames <= 2 * 8 * 1.2 + 6
    assert REFRESHES_A_SECOND <= 8


@SLOW
def test_lines_that_stay_and_lines_of_the_log_are_whole() -> None:
    terminal = Terminal("0.3", env=environment())
    terminal.end()
    kept = [line.rpartition("\x1b[2K")[2] for line in lines(terminal.written)]
    kept = [re.sub(r"^\d\d:\d\d:\d\d", "TIME", line) for line in kept]
    assert "arena: a site of your own is left out" in kept
    assert "TIME warning orchestrator.x: a line of the log" in kept


@SLOW
def test_ctrl_c_leaves_a_sane_terminal_and_the_exit_code_of_an_interrupt() -> None:
    terminal = Terminal("30", env=environment())
    terminal.read_until("step 3/12")
    terminal.press_ctrl_c()
    assert terminal.end() == 130
    assert terminal.before == terminal.after
    assert terminal.written.rfind(SHOW) > terminal.written.rfind(HIDE)
    assert lines(terminal.written)[-1].endswith("arena: interrupted")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[str]]]:
    """The same in this process: what it writes with stdout and stderr on a pseudo-terminal."""
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    ours, theirs = pty.openpty()

    def written(*words: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["work", "0", *words])
        with os.fdopen(theirs, "w", encoding="utf-8") as stream, monkeypatch.context() as streams:
            streams.setattr(sys, "stdout", stream)
            streams.setattr(sys, "stderr", stream)
            live_work.main()
        return lines(b"".join(read_all(ours)).decode())

    yield written
    os.close(ours)


@pytest.mark.parametrize(
    ("name", "value"), [("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb")], ids=lambda one: one
)
def test_where_no_display_is_wanted_a_terminal_gets_plain_lines(
    monkeypatch: pytest.MonkeyPatch, terminal: Callable[..., list[str]], name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert terminal() == [*PLAIN, "the result"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("--json", PLAIN),
        ("--quiet", [PLAIN[2], PLAIN[3]]),
    ],
)
def test_json_and_quiet_get_no_display_on_a_terminal(
    terminal: Callable[..., list[str]], word: str, expected: list[str]
) -> None:
    assert terminal(word) == [*expected, "the result"]


@SLOW
def test_in_a_pipe_nothing_but_plain_lines_appears() -> None:
    ended = subprocess.run(
        [sys.executable, WORK, "0"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert lines(ended.stderr) == PLAIN
    assert ended.stdout == "the result\n"
