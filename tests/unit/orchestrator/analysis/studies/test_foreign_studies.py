"""A study of somebody else's may hold anything: it is a difference, or one clear line."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.studies.registered_study import make_study

from arena_core.errors import StoreError
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.api.arena import Arena
from orchestrator.runs.store.run_folder import RunFolder

EPISODE: Final = "runs/wrong/evidence/offline-one-r1-a1"
DEEP: Final = "[" * 200_000 + "]" * 200_000


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    made = make_study(tmp_path / "study")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.png").write_text("root:x:0:0")
    return made


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def zero(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_text(DEEP)


def deep_data(path: Path) -> None:
    data = "[" * 150_000 + "]" * 150_000
    path.write_text(path.read_text().replace('"response": null', f'"response": {{"data": {data}}}'))


@ONE_QUICK
@pytest.mark.parametrize("spoil", [fifo, zero, deep, deep_data])
def test_evidence_that_cannot_be_read_is_lost(
    study: StudyFolder, spoil: Callable[[Path], None]
) -> None:
    spoil(study.path / EPISODE / "evidence.json")
    found = Arena().studies.verify(study.path)
    assert [one.missing for one in found.agents] == ["", "1 lost"]
    assert {one.where for one in found.differences} == {EPISODE}


@ONE_QUICK
@pytest.mark.parametrize(
    ("name", "spoil", "where"),
    [
        ("lock.json", deep, "runs/wrong"),
        ("suite.json", deep, "runs/wrong"),
        ("suite.json", fifo, "runs/wrong"),
        ("ledger.sqlite", fifo, "runs/wrong/ledger.sqlite"),
        ("ledger.sqlite", zero, "runs/wrong/ledger.sqlite"),
    ],
)
def test_a_file_of_a_run_that_cannot_be_read_is_a_difference(
    study: StudyFolder, name: str, spoil: Callable[[Path], None], where: str
) -> None:
    spoil(study.runs_path / "wrong" / name)
    assert where in {one.where for one in Arena().studies.verify(study.path).differences}


def test_a_ledger_that_would_compute_without_end_is_a_difference(study: StudyFolder) -> None:
    with closing(sqlite3.connect(study.runs_path / "wrong" / "ledger.sqlite")) as ledger:
        ledger.execute("ALTER TABLE attempt RENAME TO kept")
        ledger.execute(
            "CREATE VIEW attempt AS WITH RECURSIVE one(n) AS"
            " (SELECT 1 UNION ALL SELECT n + 1 FROM one) SELECT * FROM kept, one"
        )
        ledger.commit()
    found = Arena().studies.verify(study.path)
    assert any("holds views or triggers" in one.what for one in found.differences)
    with pytest.raises(StoreError, match="holds views or triggers"):
        Arena().studies.status(study.path)


@SLOW
@pytest.mark.parametrize("name", ["study.yaml", "seals.jsonl"])
@pytest.mark.parametrize("spoil", [fifo, zero, deep])
def test_a_file_of_the_study_that_cannot_be_read_is_a_difference(
    study: StudyFolder, name: str, spoil: Callable[[Path], None]
) -> None:
    spoil(study.path / name)
    found = Arena().studies.verify(study.path)
    assert name in {one.where.partition(":")[0] for one in found.differences}


@ONE_QUICK
@pytest.mark.parametrize("spoil", [fifo, zero, deep])
def test_a_registration_that_cannot_be_read_is_one_line(
    study: StudyFolder, spoil: Callable[[Path], None]
) -> None:
    spoil(study.registration_path)
    with pytest.raises(StoreError) as refused:
        Arena().studies.verify(study.path)
    assert "\n" not in refused.value.message


def linked_run(study: StudyFolder) -> None:
    (study.runs_path / "wrong").rename(study.path.parent / "wrong")
    (study.runs_path / "wrong").symlink_to(study.path.parent / "wrong")


def linked_evidence(study: StudyFolder) -> None:
    path = study.runs_path / "wrong" / "evidence"
    path.rename(study.path.parent / "evidence")
    path.symlink_to(study.path.parent / "evidence")


def linked_attempt(study: StudyFolder) -> None:
    path = study.path / EPISODE
    path.rename(study.path.parent / "attempt")
    path.symlink_to(study.path.parent / "attempt")


@ONE_QUICK
@pytest.mark.parametrize("link", [linked_run, linked_evidence, linked_attempt])
def test_a_folder_that_leads_out_is_a_difference(
    study: StudyFolder, link: Callable[[StudyFolder], None]
) -> None:
    link(study)
    found = Arena().studies.verify(study.path).differences
    assert any("is not in the" in one.what for one in found), found


def test_a_task_s_name_leads_nowhere_else(study: StudyFolder) -> None:
    """The ledger's names are those of folders."""
    with closing(sqlite3.connect(study.runs_path / "wrong" / "ledger.sqlite")) as ledger:
        ledger.execute("UPDATE attempt SET task = '/../../../../outside'")
        ledger.commit()
    found = Arena().studies.verify(study.path).differences
    assert any("is not in the run's folder" in one.what for one in found), found


@SLOW
@pytest.mark.parametrize("name", ["step-0.png", "../../../../../outside/secret.png"])
def test_a_report_shows_no_file_from_outside(study: StudyFolder, name: str) -> None:
    """By a link, and by a name that leads out."""
    run = RunFolder.open(study.runs_path / "wrong")
    picture = study.path / EPISODE / "step-0.png"
    picture.unlink()
    picture.symlink_to(study.path.parent / "outside" / "secret.png")
    evidence = picture.with_name("evidence.json")
    step = '{"index": 0, "action": null, "url": "", "logical": null, "title": "", "screenshot": '
    evidence.write_text(evidence.read_text().replace('"steps": []', f'"steps": [{step}"{name}"}}]'))
    report = Arena().runs.read(run.path)
    assert any(episode.evidence.steps for episode in report.episodes)
    page = Arena().runs.report(report)
    assert "data:image" not in page.read_text()


@SLOW
def test_a_report_is_written_through_no_link(study: StudyFolder, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    run = study.run_folder("wrong")
    run.report_path.symlink_to(mine)
    Arena().runs.report(Arena().runs.read(run.path))
    outside = tmp_path / "kept"
    (outside / "episodes").mkdir(parents=True)
    study.report_path.symlink_to(outside)
    with pytest.raises(StoreError, match="is a link"):
        Arena().studies.report(study.path)
    assert (mine.read_text(), (outside / "episodes").is_dir()) == ("mine", True)
    shutil.rmtree(outside)
