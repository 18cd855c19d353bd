"""Output into whatever stdout is: another encoding, a closed pipe, a full disk, nothing at all."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.arena_process import ARENA

from orchestrator.cli.streams import of_the_machine

FULL = Path("/dev/full")


def run(command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `arena` is the one under test."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=cwd,
        env={**os.environ, "PATH": f"{ARENA.parent}:{os.environ['PATH']}", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@SLOW
@pytest.mark.parametrize(
    "command",
    quick_first(["arena tasks list", "arena tasks show wiki-carillon-bells"]),
)
def test_every_character_is_written_whatever_the_terminal_can_show(
    tmp_path: Path, command: str
) -> None:
    ended = run(command, tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert "Traceback" not in ended.stderr
    assert "Unicode" not in ended.stderr


@SLOW
@pytest.mark.parametrize("encoding", quick_first(["ascii", "latin-1"]))
def test_json_stays_json_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    suite = "suite: s\nversion: 1\ntitle: t\ntasks:\n  - {id: a, family: navigation, intent: "
    suite += "'Öffne 🛒 bitte – schnell', sites: [wiki], start: ['wiki:/'], worlds: [offline],"
    suite += " checks: [{name: a, when: step, locate: {by: url}, match: {how: exact, value: "
    suite += "'wiki:/a'}}], reference: [{do: stop}]}\n"
    (tmp_path / "s.yaml").write_text(suite, encoding="utf-8")
    ended = run("arena tasks list s.yaml --json", tmp_path, PYTHONIOENCODING=encoding)
    assert json.loads(ended.stdout)[0]["intent"] == "Öffne 🛒 bitte – schnell"


@SLOW
def test_who_has_read_enough_ends_it_without_a_word(tmp_path: Path) -> None:
    ended = run("arena tasks list miniwob --json | head -c 10", tmp_path)
    assert (ended.stdout, ended.stderr) == ("[\n  {\n    ", "")


@SLOW
def test_no_stdout_at_all_is_no_traceback(tmp_path: Path) -> None:
    assert run("arena tasks list --json >&-", tmp_path).stderr == ""
    assert run("arena tasks show nothing-like-it 2>&-", tmp_path).returncode == 6


@SLOW
@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("options", quick_first(["", "--json"]))
def test_a_full_disk_is_one_line(tmp_path: Path, options: str) -> None:
    ended = run(f"arena tasks list {options} >{FULL}", tmp_path)
    assert ended.returncode == 10
    assert ended.stderr.splitlines() == [
        "arena: the output could not be written: No space left on device"
    ]


def test_a_file_that_cannot_be_used_is_named_and_what_names_none_is_a_bug() -> None:
    told = of_the_machine(PermissionError(13, "Permission denied", "/root/x"))
    assert told is not None
    assert told.message == "/root/x cannot be used: Permission denied"
    assert of_the_machine(ConnectionRefusedError(111, "Connection refused")) is None
