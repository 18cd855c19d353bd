"""`arena canary`: what it is asked, what it prints, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents.arena_process import Ended
from support.canary.plays import gave_up, make_task, right_play

from arena_core.errors import InternalError, NothingScoredError, TaskError
from arena_core.worlds import World
from orchestrator.authoring.canary.findings import TaskFinding, finding_of, not_played
from orchestrator.authoring.canary.history import CanaryPlace, History, LookTerms, Origins
from orchestrator.authoring.canary.looking import CanaryReport, LookedTask
from orchestrator.cli.console import Console
from orchestrator.cli.tasks.canary import require_valid, show

Call = Callable[..., Ended]

VALID = finding_of(right_play())
DRIFTED = finding_of(gave_up())
UNKNOWN = not_played(make_task(), World.ONLINE, "it has no reference")


def report_of(*findings: TaskFinding) -> CanaryReport:
    return CanaryReport(
        suite="small",
        origins=Origins.LIVE,
        browser="chromium",
        at="2026-01-02T00:00:00+00:00",
        tasks=tuple(LookedTask(finding=one, since="2026-01-01T00:00:00+00:00") for one in findings),
    )


def test_a_look_is_at_one_world(call: Call) -> None:
    ended = call("canary", "demo", "--offline", "--online")
    assert ended.code == 2
    assert "one world" in ended.err


def test_the_word_play_may_be_left_out_wherever_options_stand(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for words in (["play", "demo"], ["demo"], ["--online", "demo"], ["demo", "--online"]):
        ended = call("canary", *words)
        assert ended.code == 11, ended.err  # no engine answers here


def test_staged_origins_without_a_live_world_are_refused(call: Call) -> None:
    ended = call("canary", "demo", "--offline", "--staged")
    assert ended.code == 2
    assert "--staged" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--browser", "chromium", "--headed"], "two browsers"),
        (["--browser", "firefox"], "is no browser"),
        (["--browser-declared", "country=DE"], "there is none"),
        (["--offline", "--browser", "cdp:http://127.0.0.1:9"], "reaches no replica"),
        (["--staged", "--browser", "cdp:http://127.0.0.1:9"], "reaches no staged origin"),
        (["--browser", "cdp:ws://example.com?key=opensesame"], "unencrypted"),
    ],
)
def test_a_browser_that_cannot_look_there_is_refused(
    call: Call, words: list[str], said: str
) -> None:
    ended = call("canary", "demo", *words)
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert "opensesame" not in ended.err


def test_a_drifted_task_is_told_with_what_mends_it(capsys: pytest.CaptureFixture[str]) -> None:
    show(report_of(VALID, DRIFTED), Console())
    said = capsys.readouterr().out
    for part in ("reference action 1", "click link 'Samovar'", "nearest", "check     'open' unmet"):
        assert part in said
    assert "2026-01-01T00:00:00+00:00" in said


def test_the_document_has_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    show(report_of(VALID, DRIFTED), Console(as_json=True))
    document = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in document["tasks"]] == ["valid", "drifted"]
    assert document["tasks"][1]["drift"]["nearest"][0]["name"] == "Samovar"
    assert document["tasks"][0]["nodes"][0]["check"] == "open"


def test_the_exit_code_says_what_was_found() -> None:
    require_valid(report_of(VALID, UNKNOWN))
    require_valid(report_of())
    with pytest.raises(TaskError, match="1 valid, 1 drifted"):
        require_valid(report_of(VALID, DRIFTED))
    with pytest.raises(NothingScoredError, match="1 unknown"):
        require_valid(report_of(UNKNOWN))


def test_a_report_without_a_history_says_how_to_begin_one(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ended = call("canary", "report")
    assert ended.code == 80
    assert "arena canary demo" in ended.err


def test_a_report_tells_looks_half_life_and_what_died(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    task, place = make_task(), CanaryPlace(suite="small", origins=Origins.LIVE, browser="chromium")
    with History.at(tmp_path / "arena" / "canary" / "history.sqlite") as history:
        for day, finding in ((1, VALID), (11, VALID), (21, DRIFTED)):
            at = f"2026-01-{day:02}T00:00:00+00:00"
            terms = LookTerms(place=place, at=at, suite_version=1, images={}, browser="")
            history.add(terms, [(task, finding)])
    said = call("canary", "report", "small").out
    assert "half-life: 10.4 days, 95 % from 1.9 to 410.7 (1 drifted in 15.0 task-days" in said
    assert "now not valid" in said
    [life] = call("canary", "report", "--json").document
    assert [look["counts"]["drifted"] for look in life["looks"]] == [0, 0, 1]
    assert life["kinds"][0]["kind"] == "reference click"
    unknown = call("canary", "report", "smal")
    assert (unknown.code, "small" in unknown.err) == (6, True)


def test_a_bug_of_arenas_is_no_finding() -> None:
    bug = TaskFinding(
        task="x", world=World.ONLINE, status=UNKNOWN.status, because="oops", is_bug=True
    )
    with pytest.raises(InternalError, match="oops"):
        require_valid(report_of(VALID, DRIFTED, bug))
