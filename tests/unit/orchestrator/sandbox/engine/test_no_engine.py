from __future__ import annotations

from collections.abc import Callable

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended

Call = Callable[..., Ended]


@pytest.mark.parametrize("command", ["build", "pull"])
def test_without_an_engine_a_command_says_where_it_asked_and_what_to_do(
    call: Call, command: str
) -> None:
    ended = call(command)
    assert ended.code == 11
    assert "no Docker engine answers at unix:///nonexistent" in ended.err
    assert "docker/bootstrap.sh" in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_an_unknown_site_is_named_before_any_engine_is_asked(call: Call) -> None:
    ended = call("build", "nowhere")
    assert ended.code == 6
    assert ended.err.startswith("arena: unknown site 'nowhere'; there are: ")


@SLOW
def test_doctor_reports_the_engine_and_looks_at_the_rest(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CHROMIUM", "/nonexistent")
    ended = call("doctor", "--json")
    report = ended.document
    checks = {check["name"]: check for check in report["checks"]}
    assert ended.code == 10
    assert report["ok"] is False
    assert checks["Docker engine"]["state"] == "missing"
    assert "docker/bootstrap.sh" in checks["Docker engine"]["hint"]
    assert checks["Python"]["state"] == "ok"
    assert "Chromium" in checks


def test_an_engine_of_another_machine_is_none_that_arena_could_play_on(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://127.0.0.1:1")
    ended = call("node", "check", "wiki")
    assert ended.code == 11
    assert "no Docker engine answers at ssh://127.0.0.1:1" in ended.err
    assert "127.0.0.1 of the engine's machine, so Arena has to run there" in ended.err
    assert "bootstrap" not in ended.err
