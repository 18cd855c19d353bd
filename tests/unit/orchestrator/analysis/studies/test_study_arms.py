"""A study with arms: in no cell of clean runs, in no question, and verified as registered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.small_runs import write_run
from support.studies.registered_study import STUDY, make_study

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.progress import read_progress
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.registration import StudyFolder, part_of
from orchestrator.analysis.studies.study_runs import StudyRun, read_study_run
from orchestrator.analysis.studies.verification import verify_study
from orchestrator.analysis.study_report.reporting import report_study
from orchestrator.api.arena import Arena
from orchestrator.api.playing import play_study
from orchestrator.runs.store.lock import lock_digest
from sites.registry import load_registry

DARK: Final = {"dark": ("look=dark@v1",)}
WITH_ARM: Final = STUDY + b"variations: {dark: [look=dark]}\n"
OFF, ON = World.OFFLINE, World.ONLINE


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study", WITH_ARM, arms=DARK)


@SLOW
def test_each_arm_is_a_cell_of_its_own_beside_the_clean_one(study: StudyFolder) -> None:
    analysis = report_study(study).analysis
    cells = {one.cell.agent: (one.episodes, one.scored) for one in analysis.cells}
    assert cells == {
        "right": (3, 3),
        "right [dark]": (3, 2),
        "wrong": (3, 3),
        "wrong [dark]": (3, 2),
    }
    reasons = {one.cell.agent: one.unscored for one in analysis.cells}
    assert reasons["right [dark]"][0][0].value == "void_arm"


@SLOW
def test_robustness_is_of_one_agent_though_two_have_the_same_options(study: StudyFolder) -> None:
    found = report_study(study).analysis.robustness
    assert [(one.clean, one.varied, one.ratio) for one in found] == [
        ("right", "right [dark]", 1.0),
        ("wrong", "wrong [dark]", None),
    ]


@SLOW
def test_page_tables_and_terminal_show_the_arms(
    study: StudyFolder, call: Callable[..., Ended]
) -> None:
    said = " ".join(call("study", "report", study.path).out.split())
    assert "Robustness of right to look=dark, demo, offline: 1.00 (no interval" in said
    page = (study.report_path / "index.html").read_text(encoding="utf-8")
    assert '<h2 id="robustness">Robustness to arms</h2>' in page
    assert "Questions, agreement, slices, failures and variance are of the clean arm alone" in page
    table = (study.report_path / "figures" / "robustness.md").read_text(encoding="utf-8")
    assert r"| right \[dark\] | look=dark | demo | 1 | 100% | 100% | 1.00 |" in table
    status = call("study", "status", study.path).out
    assert "right [dark]" in status
    document = json.loads(call("study", "report", study.path, "--json").out)
    assert [one["arm"] for one in document["robustness"]] == ["look=dark", "look=dark"]


@SLOW
def test_progress_and_exports_name_the_arm(study: StudyFolder) -> None:
    cells = read_progress(study.path).cells
    assert [one.agent for one in cells] == ["right", "right [dark]", "wrong", "wrong [dark]"]
    part = part_of(study.run_folder("right--dark"))
    assert part is not None
    assert part.label == "right [dark]"


def analysed(tmp_path: Path, *, with_arm: bool) -> StudyAnalysis:
    """Analyse a question that leaves the agent open: everything offline against online."""
    chosen: list[tuple[str, World, list[bool | None], str]] = [
        ("clean", OFF, [True, True], ""),
        ("live", ON, [True, True], ""),
    ]
    if with_arm:
        chosen.append(("dark", OFF, [False, False], "chat"))
    runs: list[StudyRun] = []
    rows: list[EpisodeResult] = []
    for name, world, won, clean_label in chosen:
        vary = ["look=dark@v1"] if clean_label else []
        path = tmp_path / f"{name}-{with_arm}"
        folder = write_run(path, "chat", {world: {"a": won, "b": won}}, repeats=2, vary=vary)
        label = f"{clean_label} [dark]" if clean_label else "chat"
        run, found = read_study_run(label, "small", name, folder, clean_label=clean_label)
        runs.append(run)
        rows += found
    asked = Question(
        id="q",
        kind=QuestionKind.DIFFERENCE,
        of=Compared.WORLDS,
        first="offline",
        second="online",
    )
    return analyse([asked], EpisodeTable(rows), runs, title="t")


@SLOW
def test_no_question_slice_or_variance_sees_an_arm(tmp_path: Path) -> None:
    clean, with_arm = (analysed(tmp_path, with_arm=one) for one in (False, True))
    for name in ("answers", "agreement", "slices", "tasks", "failures", "variance", "trends"):
        assert getattr(with_arm, name) == getattr(clean, name), name
    assert with_arm.answers[0].first_rate == 1.0
    assert len(with_arm.cells) == len(clean.cells) + 1
    [robustness] = with_arm.robustness
    assert (robustness.ratio, robustness.broken) == (0.0, ("a", "b"))


@SLOW
def test_an_untouched_study_with_arms_differs_in_nothing(study: StudyFolder) -> None:
    found = verify_study(study)
    assert found.differences == ()
    tallies = {one.agent: (one.asked, one.scored) for one in found.agents}
    assert tallies["right [dark]"] == (3, 3)


def test_a_registration_without_arms_has_the_digest_that_it_had(tmp_path: Path) -> None:
    registration = make_study(tmp_path / "plain").registration()
    assert "arm" not in registration.model_dump_json()


def registered_again(study: StudyFolder, folder: str, **changes: Any) -> None:
    """Change what the registration says of a run, and its lock's digest with it."""
    registration = study.registration()
    changes["lock_sha256"] = lock_digest(study.run_folder(folder).lock())
    runs = [
        one.model_copy(update=changes) if one.folder == folder else one for one in registration.runs
    ]
    study.amend(registration.model_copy(update={"runs": tuple(runs)}))


def varied_by(study: StudyFolder, folder: str, *vary: str) -> None:
    path = study.runs_path / folder / "lock.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["vary"] = list(vary)
    path.write_text(json.dumps(document), encoding="utf-8")


@SLOW
@pytest.mark.parametrize("vary", [(), ("look=large@150,v1",)])
async def test_a_run_that_was_played_in_another_arm_is_named_and_not_gone_on_with(
    study: StudyFolder, vary: tuple[str, ...]
) -> None:
    varied_by(study, "right--dark", *vary)
    registered_again(study, "right--dark")  # even where its digest was written anew
    told = [f"{one.where}: {one.what}" for one in verify_study(study).differences]
    wanted = " ".join(vary).partition(",")[0] or "clean"
    assert f"runs/right--dark/lock.json: arm: {wanted}, but look=dark registered" in told
    with pytest.raises(StoreError, match="is not of the arm that the study was registered with"):
        await played(study)


@SLOW
async def test_a_clean_run_that_was_varied_is_named_and_not_gone_on_with(
    study: StudyFolder,
) -> None:
    varied_by(study, "right", "look=dark@v1")
    registered_again(study, "right")
    told = [f"{one.where}: {one.what}" for one in verify_study(study).differences]
    assert "runs/right/lock.json: arm: look=dark, but clean registered" in told
    with pytest.raises(StoreError, match="is not of the arm"):
        await played(study)


async def played(study: StudyFolder) -> None:
    async def engine() -> None:
        return None

    opened: Any = SimpleNamespace(
        registry=load_registry(()), engine=engine, on_event=lambda _: None
    )
    await play_study(study, secret_options={}, changes={}, headless=True, opened=opened, stop=None)


@SLOW
def test_an_arm_that_was_left_out_or_made_up_is_named(study: StudyFolder) -> None:
    registered_again(study, "right--dark", arm="night")
    told = {one.what for one in verify_study(study).differences}
    assert "0 runs of agent 'right [dark]' on suite 'demo', not one" in told
    assert "a run of agent 'right [night]', which the study does not name" in told
    with pytest.raises(StoreError, match="is of the arm 'night', which the study does not name"):
        study.study()


@SLOW
async def test_a_run_that_is_added_must_be_clean_and_verifies_without_arms(
    study: StudyFolder, tmp_path: Path
) -> None:
    async with Arena() as arena:
        with pytest.raises(StoreError, match="with arm look=dark, but the study has clean"):
            await arena.studies.add(study.path, runs={"third": study.runs_path / "right--dark"})
        other = make_study(tmp_path / "other")
        await arena.studies.add(study.path, runs={"third": other.runs_path / "right"})
    added = verify_study(study)
    assert not [one for one in added.differences if "third" in one.what]
    assert [one.agent for one in added.agents].count("third [dark]") == 0
