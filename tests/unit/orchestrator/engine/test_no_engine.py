from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from quick_cases import quick_first

# A process of its own: the SDK leaves the socket of a failed connection to the garbage collector.
_ARENA = "from orchestrator.cli.entry import main; main()"


def arena(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _ARENA, *argv],
        env={**os.environ, "DOCKER_HOST": "unix:///nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", quick_first(["build", "pull"]))
def test_without_an_engine_a_command_says_where_it_asked_and_what_to_do(command: str) -> None:
    ended = arena(command)

    assert ended.returncode == 11
    assert "no Docker engine answers at unix:///nonexistent" in ended.stderr
    assert "docker/bootstrap.sh" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_an_unknown_site_is_named_before_any_engine_is_asked() -> None:
    ended = arena("build", "nowhere")

    assert ended.returncode == 6
    assert ended.stderr.startswith("arena: unknown site 'nowhere'; there are: ")


def test_doctor_reports_the_engine_and_goes_on_with_the_rest() -> None:
    ended = arena("doctor", "--json")

    report = json.loads(ended.stdout)
    checks = {check["name"]: check for check in report["checks"]}
    assert ended.returncode == 10
    assert report["ok"] is False
    assert checks["Docker engine"]["state"] == "missing"
    assert "docker/bootstrap.sh" in checks["Docker engine"]["mend"]
    assert checks["Python"]["state"] == "ok"
    assert "Chromium" in checks
