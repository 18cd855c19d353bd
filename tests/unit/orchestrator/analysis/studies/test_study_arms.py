"""A study with arms: in no cell of clean runs, in no question, and verified as registered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from support.agents.arena_process import Ended
from support.runs.small_runs import write_run
from support.studies.registered_study import STUDY, make_study

from arena_core.errors import InputError, StoreError
from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable, StudyArm
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
DARK_CLEAN: Final = "of: arms, first: dark, second: clean"
ASKING: Final = WITH_ARM.replace(
    b"second: wrong}",
    b"second: wrong}, {id: robust, kind: non_inferiority, of: arms, first: dark, second: clean,"
    b" margin: 0.05, within: {agent: right}}, {id: of-all, kind: difference, of: arms, first: dark,"
    b" second: clean}, {id: in-dark, kind: difference, of: agents, first: right, second: wrong,"
    b" within: {arm: dark}}",
)
OFF, ON = World.OFFLINE, World.ONLINE


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study", WITH_ARM, arms=DARK)


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


def test_robustness_is_of_one_agent_though_two_have_the_same_options(study: StudyFolder) -> None:
    found = report_study(study).analysis.robustness
    assert [(one.clean, one.varied, one.ratio) for one in found] == [
        ("right", "right [dark]", 1.0),
        ("wrong", "wrong [dark]", None),
    ]


def test_page_tables_and_terminal_show_the_arms(
    study: StudyFolder, call: Callable[..., Ended]
) -> None:
    said = " ".join(call("study", "report", study.path).out.split())
    assert "Robustness of right to look=dark, demo, offline: 1.00 (no interval" in said
    page = (study.report_path / "index.html").read_text(encoding="utf-8")
    assert '<h2 id="robustness">Robustness to arms</h2>' in page
    assert "Agreement, slices, failures and variance are of the clean arm alone" in page
    table = (study.report_path / "figures" / "robustness.md").read_text(encoding="utf-8")
    assert r"| right \[dark\] | look=dark | demo | 1 | 100% | 100% | 1.00 |" in table
    status = call("study", "status", study.path).out
    assert "right [dark]" in status
    document = json.loads(call("study", "report", study.path, "--json").out)
    assert [one["arm"] for one in document["robustness"]] == ["look=dark", "look=dark"]


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
        arm = StudyArm("dark", clean_label) if clean_label else None
        run, found = read_study_run(label, "small", name, folder, arm=arm)
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


def test_no_question_slice_or_variance_sees_an_arm(tmp_path: Path) -> None:
    clean, with_arm = (analysed(tmp_path, with_arm=one) for one in (False, True))
    for name in ("answers", "agreement", "slices", "tasks", "failures", "variance", "trends"):
        assert getattr(with_arm, name) == getattr(clean, name), name
    assert with_arm.answers[0].first_rate == 1.0
    assert len(with_arm.cells) == len(clean.cells) + 1
    [robustness] = with_arm.robustness
    assert (robustness.ratio, robustness.broken) == (0.0, ("a", "b"))


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


def test_an_arm_that_was_left_out_or_made_up_is_named(study: StudyFolder) -> None:
    registered_again(study, "right--dark", arm="night")
    told = {one.what for one in verify_study(study).differences}
    assert "0 runs of agent 'right [dark]' on suite 'demo', not one" in told
    assert "a run of agent 'right [night]', which the study does not name" in told
    with pytest.raises(StoreError, match="is of the arm 'night', which the study does not name"):
        study.study()


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


@pytest.fixture
def asking(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "asking", ASKING, arms=DARK)


def test_questions_of_arms_are_answered_on_page_tables_and_in_json_and_verified(
    asking: StudyFolder, call: Callable[..., Ended]
) -> None:
    document = json.loads(call("study", "report", asking.path, "--json").out)
    plain, robust, of_all, in_dark = document["answers"]
    assert {one["family"] for one in document["answers"]} == {4}
    assert (plain["question"]["arm"], plain["episodes"]) == (None, 6)
    # The arm's last repeat is void, and takes its clean twin along.
    assert (robust["first_rate"], robust["second_rate"], robust["episodes"]) == (1, 1, 4)
    assert robust["stage"]["planned"] == 6
    assert robust["bounds"] == pytest.approx({"low": -1 / 3, "high": 0})
    assert (of_all["episodes"], of_all["stage"]["planned"]) == (8, 12)
    assert (in_dark["first_rate"], in_dark["second_rate"], in_dark["episodes"]) == (1, 0, 4)
    assert robust["sentence"].startswith(
        "On the one task, offline, right solved 100% in arm dark and 100% in the clean arm:"
        " undecided whether arm dark is at most 5 points worse than the clean arm ("
    )
    page = (asking.report_path / "index.html").read_text(encoding="utf-8")
    assert "Is arm dark at most 5 points worse than the clean arm?" in " ".join(page.split())
    assert "arm dark, offline world" in page
    table = (asking.report_path / "figures" / "answers.md").read_text(encoding="utf-8")
    assert "| dark − clean (right, offline): at most 5 points worse? | yes | 1 |" in table
    assert call("study", "verify", asking.path).code == 0


def test_a_report_in_which_an_answer_of_an_arm_was_changed_is_named(
    asking: StudyFolder, call: Callable[..., Ended]
) -> None:
    report_study(asking)
    table = asking.report_path / "figures" / "answers.md"
    table.write_text(table.read_text(encoding="utf-8").replace("undecided", "not inferior", 1))
    done = call("study", "verify", asking.path)
    assert done.code == 82
    assert "report/figures/answers.md" in done.out + done.err


async def test_an_agent_that_came_with_a_clean_run_stands_in_no_question_of_an_arm(
    asking: StudyFolder, tmp_path: Path
) -> None:
    other = make_study(tmp_path / "other")
    more = tmp_path / "more.yaml"
    async with Arena() as arena:
        await arena.studies.add(asking.path, runs={"third": other.runs_path / "right"})
        for line in (
            "of: arms, first: dark, second: clean, within: {agent: third}",
            "of: agents, first: third, second: right, within: {arm: dark}",
        ):
            more.write_text(f"questions: [{{id: late, kind: difference, {line}}}]")
            with pytest.raises(InputError, match="late: third was played in the clean arm alone"):
                await arena.studies.add(asking.path, more)
        more.write_text(
            "questions: [{id: late, kind: equivalence, of: arms, first: dark, second: clean,"
            " margin: 0.1}]"
        )
        await arena.studies.add(asking.path, more)
    found = {one.question.id: one for one in report_study(asking).analysis.answers}
    assert list(found) == ["q", "robust", "of-all", "in-dark", "late"]
    for one in ("of-all", "late"):
        assert found[one].question.agents == ("right", "wrong")
        assert (found[one].episodes, found[one].unpaired, found[one].is_interim) == (8, (), False)


async def test_repeats_that_were_added_count_in_the_second_answer_about_an_arm_alone(
    asking: StudyFolder,
) -> None:
    async with Arena() as arena:
        await arena.studies.add(asking.path, repeats=5)
    found = {one.question.id: one for one in report_study(asking).analysis.answers}
    assert (found["robust"].is_interim, found["robust"].stage.planned) == (False, 6)
    assert (found["robust+added"].is_interim, found["robust+added"].stage.planned) == (True, 10)


@pytest.mark.parametrize(
    "line",
    [
        "kind: difference, of: arms, first: clean, second: dark",
        "kind: difference, of: agents, first: wrong, second: right, within: {arm: dark}",
        f"kind: non_inferiority, margin: 0.05, {DARK_CLEAN}, within: {{agent: right}}",
    ],
)
async def test_a_question_that_is_asked_already_is_refused(
    asking: StudyFolder, tmp_path: Path, line: str
) -> None:
    more = tmp_path / "more.yaml"
    more.write_text(f"questions: [{{id: again, {line}}}]")
    async with Arena() as arena:
        with pytest.raises(InputError, match="asks the same as `"):
            await arena.studies.add(asking.path, more)


async def test_another_margin_or_direction_of_a_margin_is_another_question(
    asking: StudyFolder, tmp_path: Path
) -> None:
    more = tmp_path / "more.yaml"
    more.write_text(
        "questions:\n"
        "- {id: wider, kind: non_inferiority, of: arms, first: dark, second: clean, margin: 0.1,"
        " within: {agent: right}}\n"
        "- {id: b-not-worse, kind: non_inferiority, of: agents, first: wrong, second: right,"
        " margin: 0.1, within: {arm: dark}}\n"
        "- {id: a-not-worse, kind: non_inferiority, of: agents, first: right, second: wrong,"
        " margin: 0.1, within: {arm: dark}}"
    )
    async with Arena() as arena:
        await arena.studies.add(asking.path, more)
    assert len(asking.study().questions) == 7
