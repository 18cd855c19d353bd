"""Compatible scorers beside the strict score: `arena score --scorer`, report, plug-ins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.made_run import HOSTILE, make_run
from support.runs.published_run import evidence, task
from support.runs.published_run import run as made
from support.tasks.make_original import make_original, webarena_task
from support.tasks.plugged import install

from arena_core.plugins import Group
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.evidence import Evidence
from evaluators.scorers.base import SCORERS, OriginalTask
from orchestrator import Arena
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.runs.store.run_folder import RunFolder

Call = Callable[..., Ended]

ORIGINALS: Final[Mapping[str, OriginalTask]] = {
    "agrees": webarena_task("string_match", answers={"exact_match": "39.99"}),
    "parts": webarena_task("url_match", reference_url="__SHOPPING__/product/1"),
    "hostile": webarena_task("string_match", answers={"must_include": [HOSTILE]}),
    "left": webarena_task("string_match"),
}

LENGTH_OF_ANSWER: Final = """
from evaluators.scorers.base import ScorerResult, ScorerStatus

class Length:
    name = "length"
    formats = frozenset({"webarena"})

    def questions(self, original, evidence):
        return ()

    def score(self, original, evidence, judged):
        if original.record["eval"]["eval_types"] == ["url_match"]:
            raise RuntimeError("no such thing")
        return ScorerResult(status=ScorerStatus.SCORED, value=float(len(evidence.answer or "")),
                            because="it is that long")

    def aggregate(self, scores):
        return {"total": sum(one.value or 0 for one in scores)}

LENGTH = Length()
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("imported") / "run", ORIGINALS).path


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have somebody else's scorer installed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    importlib.invalidate_caches()
    points = {Group.SCORERS: {"length": "length_scorer:LENGTH"}}
    install(folder, "length", points, modules={"length_scorer": LENGTH_OF_ANSWER})


def test_a_scorer_is_a_column_beside_the_strict_outcome(call: Call, run: Path) -> None:
    ended = call("score", str(run), "--scorer", "webarena")
    assert ended.code == 0, ended.err
    rows = {tuple(line.split()[:3]): line for line in ended.out.splitlines()}
    assert rows["offline", "agrees", "success"].split()[-1] == "0"
    assert rows["offline", "parts", "success"].split()[-1] == "1"
    assert rows["online", "parts", "failure"].split()[-1] == "unscored"
    assert rows["offline", "left", "success"].split()[-1] == "crash"
    assert rows["online", "broken", "success"].split()[-1] == "–"


def test_the_former_name_of_the_option_does_the_same_and_is_not_shown(
    call: Call, run: Path
) -> None:
    now = call("score", str(run), "--scorer", "webarena")
    assert call("score", str(run), "--reading", "webarena").out == now.out
    assert "--reading" not in call("score", "--help").out


def test_published_figures_and_every_difference_are_told(call: Call, run: Path) -> None:
    said = call("score", str(run), "--scorer", "webarena").out
    assert "webarena, offline: average_score 0.6667 (3 scored, 1 crash)" in said
    assert "webarena, online: average_score – (3 unscored)" in said
    assert "webarena: 4 episodes are of tasks that it does not read" in said
    assert "differs: offline agrees: strict success (" in said
    assert "webarena 0 (string_match: exact_match '39.99' does not hold)" in said
    assert "webarena crash (the published code raises AttributeError" in said
    assert "differs: offline parts" not in said


def test_what_a_live_site_barred_is_no_published_zero_and_a_success_stands(
    call: Call, tmp_path: Path
) -> None:
    limit = BarredSite(
        site="wiki", step=2, url="https://w.test/A", sign="429", status=429, is_last=True,
        most_per_minute=30,
    )  # fmt: skip
    wanted = {"plain": "nowhere", "shut": "nowhere", "lucky": "wiki"}
    tasks = [task(name, _visit(place)) for name, place in wanted.items()]
    played = [
        evidence(name, "1766", world=World.ONLINE, barred=() if name == "plain" else (limit,))
        for name in wanted
    ]
    folder = made(tmp_path / "run", tasks, played)
    found = call("score", str(folder.path), "--scorer", "webcanvas", "--json").document
    by_task = {one["task"]: one["scorers"]["webcanvas"] for one in found["episodes"]}
    worths = {name: one["value"] for name, one in by_task.items()}
    assert worths == {"plain": 0.0, "shut": None, "lucky": 1.0}
    assert by_task["shut"]["because"].startswith("unscored: blocked: the live site 'wiki'")


def _visit(place: str) -> OriginalTask:
    content = {"key": "", "reference_answer": place, "url": "https://x.test/"}
    node = {"match_function_name": "url_included_match", "content": content}
    return make_original({"evaluation": [node]}, "mind2web-live", {})


def test_json_has_the_scorers_of_each_episode_and_of_the_run(call: Call, run: Path) -> None:
    plain = call("score", str(run), "--json").document
    found = call("score", str(run), "--scorer", "webarena", "--json").document
    assert [{**one, "scorers": None} for one in found["episodes"]] == [
        {**one, "scorers": None} for one in plain
    ]
    by_task = {(one["world"], one["task"]): one["scorers"] for one in found["episodes"]}
    assert by_task["offline", "agrees"]["webarena"]["value"] == 0.0
    assert by_task["offline", "agrees"]["webarena"]["differs"] is True
    assert by_task["offline", "parts"]["webarena"]["metrics"] == {"url_match": 1.0}
    assert by_task["offline", "gone"] == {}
    assert found["scorers"]["webarena"]["offline"] == {"average_score": pytest.approx(2 / 3)}


def test_a_run_of_other_tasks_is_refused_in_one_line(call: Call, tmp_path: Path) -> None:
    ended = call("score", str(make_run(tmp_path / "run").path), "--scorer", "webarena")
    assert ended.code == 2
    assert "no task comes from `arena tasks import visualwebarena` or `arena tasks" in ended.err
    assert "Traceback" not in ended.err


def test_an_unknown_scorer_is_refused_with_those_that_there_are(call: Call, run: Path) -> None:
    ended = call("score", str(run), "--scorer", "webarina")
    assert ended.code == 6
    assert "there is no scorer 'webarina'" in ended.err
    assert "webarena" in ended.err


@SLOW
def test_readings_of_others_are_listed_and_score_and_their_bugs_hide_nothing(
    call: Call, run: Path, foreign: None
) -> None:
    listed = call("plugins").out
    assert any(line.split()[:3] == ["scorer", "length", "length"] for line in listed.splitlines())
    ended = call("score", str(run), "--scorer", "length", "--scorer", "webarena")
    assert ended.code == 0, ended.err
    assert "length, offline: total" in ended.out
    assert "a bug in the scorer: RuntimeError: no such thing at" in ended.out
    assert "webarena, offline: average_score 0.6667" in ended.out


def test_what_is_registered_in_the_former_group_is_found(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    importlib.invalidate_caches()
    points = {"arena.readings": {"length": "length_scorer:LENGTH"}}
    install(folder, "length", points, modules={"length_scorer": LENGTH_OF_ANSWER})
    assert "length" in SCORERS.names()


@SLOW
def test_the_report_shows_both_and_lists_where_they_differ(run: Path) -> None:
    html = render_html(read_run(RunFolder.open(run)))
    assert "As published code would score it" in html
    section = html.partition("As published code")[2].partition('<h2 id="tasks">')[0]
    assert 'href="#task-agrees"' in section
    assert 'href="#task-left"' in section
    assert section.count("<tr>") == 1 + 2 + 3  # its head, two offline, three online
    assert HOSTILE not in html
    assert "webarena: <b>1</b>" in html  # beside each episode too


@SLOW
def test_the_report_in_the_terminal_says_it_too(call: Call, run: Path, tmp_path: Path) -> None:
    ended = call("report", str(run), "--html", str(tmp_path / "r.html"))
    assert "webarena, offline: average_score 0.6667" in ended.out
    found = call("report", str(run), "--html", str(tmp_path / "r.html"), "--json").document
    assert found["scorers"]["webarena"]["left_out"] == 4


@SLOW
def test_a_run_of_ones_own_tasks_has_no_such_section(tmp_path: Path) -> None:
    assert "As published code" not in render_html(read_run(make_run(tmp_path / "run")))


@pytest.mark.usefixtures("foreign")
def test_several_scorers_read_the_evidence_of_an_episode_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = Arena().runs.score(run)
    read: list[str] = []
    of_folder = RunFolder.evidence

    def watched(folder: RunFolder, name: str) -> Evidence:
        read.append(name)
        return of_folder(folder, name)

    monkeypatch.setattr(RunFolder, "evidence", watched)
    webarena, length = Arena().runs.score_with(scored, ["webarena", "length"])
    assert [one.scored for one in webarena.episodes] == [one.scored for one in length.episodes]
    assert sorted(read) == sorted(one.scored.folder for one in webarena.episodes)
