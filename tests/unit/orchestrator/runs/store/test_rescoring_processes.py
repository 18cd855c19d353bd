"""Scores of long runs come from several processes, and are those of one."""

from __future__ import annotations

import importlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import ArenaProcess, await_end, descendants
from support.runs.made_run import keep_other_suite, make_run
from support.tasks.plugged import install

from arena_core.errors import FormatError, WorkerProcessError
from arena_core.plugins import Group
from evaluators.evidence import UnscoredReason
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

MATCHER = '''
import os
import signal
from typing import Literal
from evaluators.matchers.base import Matched, Matcher

class Local(Matcher):
    """Does in its process what it is told to."""

    how: Literal["local"] = "local"
    does: str

    def match(self, values, world, form=str):
        if self.does == "fails":
            raise KeyError("a bug of the matcher's")
        if self.does == "dies" and "it is £44.99" in values:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.does == "waits":
            os.write(2, b"waiting\\n")
            signal.pause()
        return Matched(met=True, reason=f"by process {os.getpid()}", expected="anything")

def of_another_class():
    class Hidden(Local):
        how: Literal["hidden"] = "hidden"
    return Hidden

Hidden = of_another_class()
'''


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path in which the matchers `local` and `hidden` are installed."""
    folder = tmp_path / "site-packages"
    points = {Group.MATCHERS: {"local": "acme_local:Local", "hidden": "acme_local:Hidden"}}
    folder.mkdir()
    install(folder, "acme-local", points, modules={"acme_local": MATCHER})
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    importlib.invalidate_caches()
    yield folder
    sys.modules.pop("acme_local", None)


def match_by(run: RunFolder, how: str, does: str) -> None:
    """Let that matcher compare every answer of the run."""
    path = run.path / "suite.json"
    suite = json.loads(path.read_text(encoding="utf-8"))
    for task in suite["tasks"]:
        task["checks"][1]["match"] = {"how": how, "does": does}
    keep_other_suite(run, suite)


def processes_of(run: RunFolder, processes: int | None) -> set[str]:
    """Return which processes compared the answers of a run."""
    scored = rescore(run, processes=processes)
    told = {verdict.reason for one in scored for verdict in one.score.verdicts}
    return {reason for reason in told if reason.startswith("by process")}


HERE = {f"by process {os.getpid()}"}


@SLOW
def test_several_processes_give_the_scores_of_one(run: RunFolder) -> None:
    first, second, *_ = run.evidence_names()
    (run.evidence_folder(first) / "evidence.json").write_text("{", encoding="utf-8")
    shutil.rmtree(run.evidence_folder(second))
    one, several = rescore(run, processes=1), rescore(run, processes=2)
    assert several == one
    assert [each.document() for each in several] == [each.document() for each in one]
    assert [each.evidence for each in several] == [each.evidence for each in one]
    reasons = [each.score.outcome.reason for each in several]
    assert reasons.count(UnscoredReason.UNREADABLE) == 2


@SLOW
def test_evidence_of_a_newer_arena_is_refused_as_by_one_process(run: RunFolder) -> None:
    path = run.evidence_folder(run.evidence_names()[3]) / "evidence.json"
    path.write_text(path.read_text("utf-8").replace('"version": 2', '"version": 99'), "utf-8")
    told = []
    for processes in (1, 2):
        with pytest.raises(FormatError) as refused:
            rescore(run, processes=processes)
        told.append((refused.value.message, refused.value.hint))
    assert told[0] == told[1]


@SLOW
@pytest.mark.usefixtures("plugged")
def test_matchers_of_other_packages_work_in_other_processes(run: RunFolder) -> None:
    match_by(run, "local", "")
    assert processes_of(run, 1) == HERE
    elsewhere = processes_of(run, 2)
    assert elsewhere
    assert not elsewhere & HERE
    outcomes = [[one.score.outcome for one in rescore(run, processes=count)] for count in (1, 2)]
    assert outcomes[0] == outcomes[1]


@pytest.mark.usefixtures("plugged")
def test_a_matcher_that_cannot_be_given_to_another_process_works_in_this_one(
    run: RunFolder,
) -> None:
    match_by(run, "hidden", "")
    assert processes_of(run, 2) == HERE


@SLOW
@pytest.mark.usefixtures("plugged")
def test_a_bug_of_a_matcher_is_unscored_and_logged_as_by_one_process(
    run: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    match_by(run, "local", "fails")
    told = []
    for processes in (1, 2):
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            scored = rescore(run, processes=processes)
        found = [(one.name, one.levelno, one.getMessage()) for one in caplog.records]
        told.append((scored, [(name, level, text.split("\n")[0]) for name, level, text in found]))
    assert told[0] == told[1]
    assert {str(one.score.outcome) for one in told[1][0]} == {"unscored: internal"}
    assert "KeyError" in caplog.text


@SLOW
@pytest.mark.usefixtures("plugged")
def test_a_matcher_that_kills_its_process_is_an_error_that_names_the_episode(
    run: RunFolder,
) -> None:
    match_by(run, "local", "dies")
    with pytest.raises(WorkerProcessError) as died:
        rescore(run, processes=2)
    assert "online-parts-r0-a1 died (signal SIGKILL)" in died.value.message
    assert "\n" not in died.value.message
    assert not descendants(os.getpid())


@SLOW
def test_ctrl_c_ends_the_command_and_its_processes(run: RunFolder, plugged: Path) -> None:
    match_by(run, "local", "waits")
    before = sorted(run.path.rglob("*"))
    words = ("score", run.path, "--processes", "2")
    with ArenaProcess(*words, cwd=run.path, env={"PYTHONPATH": str(plugged)}) as command:
        command.hear("waiting\n(.*\n)*waiting\n")
        working = descendants(command.pid)
        command.interrupt()
        ended = command.wait()
    assert len(working) == 2
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert not await_end(working)
    assert sorted(run.path.rglob("*")) == before


@SLOW
@pytest.mark.usefixtures("plugged")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="one core is one process")
def test_long_runs_use_the_cores_by_themselves_and_short_ones_stay_in_one_process(
    run: RunFolder,
) -> None:
    match_by(run, "local", "")
    assert processes_of(run, None) == HERE
    for name in run.evidence_names()[:2]:
        path = run.evidence_folder(name) / "evidence.json"
        path.write_bytes(path.read_bytes() + b" " * 32_000_000)
    assert not processes_of(run, None) & HERE
