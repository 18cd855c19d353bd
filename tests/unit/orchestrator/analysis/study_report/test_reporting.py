"""What the report of a study says before the study is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.studies.registered_study import ANSWERS, STUDY, make_study, play

from arena_core.errors import InputError
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.seals import read_looks
from orchestrator.analysis.studies.study_file import parse_study_file
from orchestrator.analysis.studies.verification import verify_study
from orchestrator.api.arena import Arena
from orchestrator.cli.analysis.study_lines import show_answers
from orchestrator.cli.console import Console

pytestmark = pytest.mark.usefixtures("plain")

SEQUENTIAL = STUDY + b"sequential: {spending: pocock}\n"


def go_on(folder: StudyFolder, repeats: range) -> None:
    for label, answer in ANSWERS.items():
        play(folder.run_folder(label), answer, repeats)


@SLOW
def test_an_unfinished_study_is_marked_everywhere_and_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_study(tmp_path / "study", repeats=2)

    report = Arena().studies.report(folder.path)

    show_answers(report, Console(as_json=False))
    shown = capsys.readouterr()
    assert shown.out.startswith("q: interim: Interim, 4 of 6 episodes. On the one task")
    assert "not finished: 2 episodes are still to be played" in shown.err
    show_answers(report, Console(as_json=True))
    document = json.loads(capsys.readouterr().out)
    assert (document["is_interim"], document["pending"]) == (True, 2)
    [answer] = document["answers"]
    assert (answer["decision"], answer["is_interim"], answer["p"]) == ("undecided", True, None)
    assert answer["effect"] == 1.0
    assert document["cells"][0]["success"] == 1.0
    page = report.page.read_text()
    assert "… interim" in page
    assert "Interim, 4 of 6 episodes." in page
    assert "This is an interim report: 1 of 1 question is not done." in page
    tables = report.page.parent / "figures"
    for name in ("answers.md", "answers.tex"):
        assert "interim" in (tables / name).read_text()
    assert "2/2 of 3 (interim)" in (tables / "cells.md").read_text()
    assert not (folder.path / "looks.jsonl").exists()

    go_on(folder, range(2, 3))
    assert (
        "nterim" not in Arena().studies.report(folder.path).page.read_text().partition("<main>")[2]
    )


@SLOW
async def test_what_was_registered_and_is_done_stays_decided_while_what_was_added_is_played(
    tmp_path: Path,
) -> None:
    folder = make_study(tmp_path / "study")
    await Arena().studies.add(folder.path, repeats=5)

    analysis = Arena().studies.report(folder.path).analysis

    assert analysis.pending == 4
    found = {one.question.id: (one.is_interim, one.stage.planned) for one in analysis.answers}
    assert found == {"q": (False, 6), "q+added": (True, 10)}


@SLOW
def test_each_report_of_a_sequential_study_is_a_look_that_is_recorded(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study", SEQUENTIAL, repeats=1)
    digest = folder.registration().registered_digest

    looks = [Arena().studies.report(folder.path).analysis.answers[0].stage.looks for _ in range(2)]
    go_on(folder, range(1, 2))
    [second] = Arena().studies.report(folder.path).analysis.answers
    go_on(folder, range(2, 3))
    [last] = Arena().studies.report(folder.path).analysis.answers

    assert looks == [(2 / 6,)] * 2
    assert "Interim, 4 of 6 episodes, look 2." in second.sentence
    methods = Arena().studies.report(folder.path).analysis.methods
    assert "Pocock's type); looks before the end: 2." in methods
    assert (last.is_interim, last.stage.looks) == (False, (2 / 6, 4 / 6))
    assert [one.ended for one in read_looks(folder.path, digest)] == [{"q": 2}, {"q": 4}]
    assert verify_study(folder).differences == ()


def test_a_sequential_design_without_a_question_is_refused() -> None:
    text = SEQUENTIAL.decode().partition("questions:")[0] + "sequential: {}\n"
    with pytest.raises(InputError, match="sequential: has no effect without `questions`"):
        parse_study_file(text, Path("study.yaml"))


BESIDE = (
    STUDY
    + b"""\
secondary:
  - {id: time, outcome: seconds, of: agents, first: right, second: wrong}
  - {id: reliable, outcome: pass_hat, k: 3, of: agents, first: right, second: wrong}
contamination: "Tasks were written for this *study*."
"""
)


@SLOW
def test_secondary_outcomes_are_registered_and_reported_with_what_reviewers_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_study(tmp_path / "study", BESIDE, repeats=2)
    assert Arena().studies.report(folder.path).analysis.secondary[0].is_interim
    go_on(folder, range(2, 3))

    report = Arena().studies.report(folder.path)

    show_answers(report, Console(as_json=False))
    shown = capsys.readouterr().out
    assert "reliable (secondary): Success in all of 3 plays (pass^3), on the one task" in shown
    show_answers(report, Console(as_json=True))
    document = json.loads(capsys.readouterr().out)
    reliable = document["secondary"][1]
    assert (reliable["first"], reliable["second"], reliable["effect"]) == (1.0, 0.0, 1.0)
    assert [one["check"] for one in document["failures"]] == ["answer"]
    assert document["failures"][0]["failures"] == 3
    assert [len(one["rates"]) for one in document["trends"]] == [3, 3]
    page = report.page.read_text()
    for heading in (
        "Registered secondary outcomes",
        "What failures fail at",
        "Success by repeat",
        "Study card",
        "difficulty of each task",
    ):
        assert heading in page
    assert "The authors registered: Tasks were written for this *study*" in page
    tables = report.page.parent / "figures"
    assert "| reliable |" in (tables / "secondary.md").read_text()
    assert (
        r"registered: Tasks were written for this \*study\*"
        in (tables / "study-card.md").read_text()
    )
    for name in ("failures", "repeats", "difficulty"):
        assert (tables / f"{name}.tex").read_text().count("begin{tabular}") == 1
    assert not (tables / "prompts.md").exists()
    assert verify_study(folder).differences == ()


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (
            "outcome: pass_hat, of: agents, first: right, second: wrong",
            "a `k` is needed for pass_hat",
        ),
        (
            "outcome: pass_hat, k: 4, of: agents, first: right, second: wrong",
            "at most the 3 repeats",
        ),
        (
            "outcome: usd, k: 2, of: agents, first: right, second: wrong",
            "k: applies only to pass_hat",
        ),
        ("outcome: usd, of: agents, first: right, second: other", "the study has no 'other'"),
        ("outcome: usd, of: agents, first: right, second: right", "must differ from"),
        ("outcome: money, of: agents, first: right, second: wrong", "outcome"),
    ],
)
def test_a_secondary_outcome_that_makes_no_sense_is_refused(written: str, says: str) -> None:
    text = STUDY.decode() + f"secondary: [{{id: s, {written}}}]\n"
    with pytest.raises(InputError) as caught:
        parse_study_file(text, Path("study.yaml"))
    assert says in caught.value.message
    assert "\n" not in caught.value.message
