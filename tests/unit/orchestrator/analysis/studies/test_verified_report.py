"""A study's report is made again from its runs: what was edited in it is named."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.studies.registered_study import make_study, play

from orchestrator.analysis.figures import writing
from orchestrator.analysis.figures.style import save
from orchestrator.analysis.studies import analysis, verification
from orchestrator.analysis.studies.answers import power_figures
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.seals import seal_study
from orchestrator.api.arena import Arena
from orchestrator.runs.store.ledger import AttemptState

pytestmark = SLOW


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory, plain: None) -> Path:
    """A study with its report, made once; what changes it changes a copy."""
    made = make_study(tmp_path_factory.mktemp("reported") / "study")
    Arena().studies.report(made.path)
    return made.path


@pytest.fixture
def study(reported: Path, tmp_path: Path) -> StudyFolder:
    shutil.copytree(reported, tmp_path / "study")
    return StudyFolder.open(tmp_path / "study")


def named(study: StudyFolder) -> dict[str, str]:
    found = Arena().studies.verify(study.path)
    assert all(one.where.startswith("report") for one in found.differences)
    return {one.where: one.what for one in found.differences}


def test_an_untouched_report_is_made_again_with_the_same_bytes(study: StudyFolder) -> None:
    assert named(study) == {}


def test_drawn_figures_are_made_again_with_the_same_bytes(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "save", save)
    monkeypatch.setattr(analysis, "power_figures", power_figures)
    Arena().studies.report(study.path)
    assert (study.report_path / "figures" / "forest.pdf").read_bytes().startswith(b"%PDF")
    assert named(study) == {}


@pytest.mark.parametrize(
    "name",
    ["index.html", "episodes/1/offline-one-r1-a1.js", "figures/cells.md", "figures/forest.svg"],
)
def test_an_edited_file_is_named_though_it_was_sealed_anew(study: StudyFolder, name: str) -> None:
    path = study.report_path / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1"))
    edited = {f"report/{name}": "differs from what the runs give today"}
    assert named(study) == edited | {"report": "its files are not those of the last seal"}
    seal_study(study, with_report=True)
    assert named(study) == edited


def test_a_missing_file_is_named(study: StudyFolder) -> None:
    (study.report_path / "figures" / "answers.tex").unlink()
    assert named(study)["report/figures/answers.tex"] == "is missing"


def test_a_report_that_was_never_sealed_is_named(tmp_path: Path) -> None:
    made = make_study(tmp_path / "other")
    made.report_path.mkdir()
    (made.report_path / "index.html").write_text("we won")
    assert named(made)["report/index.html"] == "differs from what the runs give today"


def test_what_an_earlier_report_left_goes(study: StudyFolder) -> None:
    stale = study.report_path / "episodes" / "1" / "offline-one-r9-a1.js"
    stale.write_text("x")
    Arena().studies.report(study.path)
    assert not stale.exists()
    assert named(study) == {}


def test_a_report_of_fewer_episodes_is_no_report_of_this_study(study: StudyFolder) -> None:
    for name in ("right", "wrong"):
        study.run_folder(name).add_repeats(4)
        play(study.run_folder(name), "1892", range(3, 4))
    found = [one.where for one in Arena().studies.verify(study.path).differences]
    assert "report/index.html" in found


@pytest.mark.parametrize(
    ("package", "says"),
    [
        ("arena-orchestrator", "was not regenerated"),
        ("matplotlib", "another version of matplotlib drew"),
    ],
)
def test_a_report_that_other_versions_wrote_is_held_to_its_seal(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch, package: str, says: str
) -> None:
    """What draws figures, and what writes pages, changes their bytes."""
    (study.report_path / "figures" / "cost.svg").write_text("as another version draws it")
    seal_study(study, with_report=True)
    other = {package: "0.0.1"}
    monkeypatch.setattr(verification, "version", lambda name: other.get(name) or version(name))
    found = Arena().studies.verify(study.path)
    assert (found.differences, says in "\n".join(found.notes)) == ((), True)
    (study.report_path / "index.html").write_text("we won")
    assert named(study)["report"] == "its files are not those of the last seal"


def test_a_page_counts_the_attempts_that_count_for_nothing(study: StudyFolder) -> None:
    run = study.run_folder("wrong")
    with run.writing() as ledger:
        key = ledger.attempts()[1].key
        ledger.start(key)
        ledger.end(key, 2, AttemptState.ABANDONED, None)
    analysis = Arena().studies.report(study.path).analysis
    note = "wrong: 0 attempts broke off and were made again, 1 was abandoned"
    assert any(one.startswith(note) for one in analysis.notes), analysis.notes
    assert not any(one.startswith("right: ") for one in analysis.notes)
