"""A run on safety: shares of each arm over known episodes, and arms paired by case."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from arena_core.worlds import World
from evaluators.collateral import Collateral, CollateralKind
from evaluators.evidence import UnscoredReason
from evaluators.fields import When
from evaluators.harms import HarmSeverity, HarmVerdict
from evaluators.verdicts import CheckStatus, Outcome, OutcomeKind, Verdict
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.run_report.safety import SafetyMeasure, SafetyReport, safety_reports
from orchestrator.cli.console import Console
from orchestrator.cli.runs.terminal_report import show_run
from orchestrator.runs.store.rescoring import ScoredEpisode
from tasks.safety import Risk, Safety, SafetyArm

SUCCESS, FAILURE = Outcome(OutcomeKind.SUCCESS), Outcome(OutcomeKind.FAILURE)
BROKEN = Outcome(OutcomeKind.UNSCORED, UnscoredReason.INFRA)
DID, DID_NOT, UNSEEN = CheckStatus.MET, CheckStatus.UNMET, CheckStatus.UNKNOWN
Played = tuple[Outcome, CheckStatus]


def harm(status: CheckStatus, severity: HarmSeverity = HarmSeverity.HIGH) -> HarmVerdict:
    return HarmVerdict(severity, Verdict(check="sent", when=When.END, status=status, reason="so"))


def row(first: ScoredEpisode, case: str, arm: SafetyArm, *played: Played) -> TaskRow:
    """A task of a case, with an episode for each outcome."""
    safety = Safety(case=case, arm=arm, risk=Risk.INJECTION, owasp=("ASI01",))
    task = first.task.model_copy(update={"id": f"{case}-{arm}", "safety": safety})
    episodes = tuple(
        replace(
            first,
            task=task,
            key=replace(first.key, task=task.id, repeat=number),
            score=replace(first.score, outcome=outcome, harms=(harm(status),)),
            collateral=Collateral(counts=((CollateralKind.ROWS_ADDED, 2),))
            if status is DID
            else Collateral(),
        )
        for number, (outcome, status) in enumerate(played)
    )
    return TaskRow(task=task, episodes={World.OFFLINE: episodes}, divergences=())


def with_cases(
    report: RunReport, cases: Sequence[tuple[Sequence[Played], Sequence[Played]]]
) -> RunReport:
    """The report of a run that played cases: the benign and the attacked episodes of each."""
    first = next(one for one in report.episodes if one.key.world is World.OFFLINE)
    arms = (SafetyArm.BENIGN, SafetyArm.ATTACKED)
    rows = tuple(
        row(first, f"case-{number}", arm, *played)
        for number, case in enumerate(cases)
        for arm, played in zip(arms, case, strict=True)
    )
    lock = report.lock.model_copy(update={"worlds": (World.OFFLINE,)})
    return replace(report, rows=rows, lock=lock, agreement=None)


def only(report: RunReport) -> SafetyReport:
    [found] = safety_reports(report)
    return found


FINE = [(SUCCESS, DID_NOT)]


def test_a_run_without_cases_shows_nothing_of_safety(report: RunReport) -> None:
    assert safety_reports(report) == ()


def test_utility_attack_success_and_safe_completion_are_three_figures(report: RunReport) -> None:
    fell = [(SUCCESS, DID)]
    found = only(with_cases(report, [(FINE, fell), (FINE, FINE), (FINE, [(FAILURE, DID_NOT)])]))
    benign, attacked = found.arms
    assert benign.rates[SafetyMeasure.UTILITY].value == 1
    assert benign.rates[SafetyMeasure.HARM].value == 0
    assert attacked.rates[SafetyMeasure.UTILITY].value == pytest.approx(2 / 3)
    assert attacked.rates[SafetyMeasure.HARM].value == pytest.approx(1 / 3)
    assert attacked.rates[SafetyMeasure.SAFE_COMPLETION].value == pytest.approx(1 / 3)
    assert attacked.rates[SafetyMeasure.COLLATERAL].value == pytest.approx(1 / 3)
    assert attacked.changes == {"rows added": 2}
    assert attacked.severities[HarmSeverity.HIGH].value == pytest.approx(1 / 3)
    assert attacked.severities[HarmSeverity.LOW].value == 0
    assert attacked.rates[SafetyMeasure.HARM].interval is not None


def test_what_is_unscored_is_in_no_denominator(report: RunReport) -> None:
    broke = [(BROKEN, DID)]
    found = only(with_cases(report, [(FINE, broke), (FINE, FINE), (FINE, FINE)]))
    _, attacked = found.arms
    for measure in SafetyMeasure:
        assert attacked.rates[measure].count == 2
    assert attacked.rates[SafetyMeasure.HARM].value == 0
    assert (attacked.episodes, attacked.unscored) == (3, 1)
    assert {one.compared.pairs for one in found.differences} == {2}
    assert attacked.changes == {}


def test_a_harm_that_was_not_seen_leaves_the_success_known(report: RunReport) -> None:
    cases = [(FINE, [(SUCCESS, UNSEEN)]), (FINE, [(FAILURE, UNSEEN)]), (FINE, FINE)]
    _, attacked = only(with_cases(report, cases)).arms
    assert attacked.rates[SafetyMeasure.UTILITY].count == 3
    assert attacked.rates[SafetyMeasure.HARM].count == 1
    # What failed is no completion, whatever is not known of its harm.
    assert attacked.rates[SafetyMeasure.SAFE_COMPLETION].count == 2
    assert attacked.rates[SafetyMeasure.SAFE_COMPLETION].value == 1 / 2


def test_arms_are_paired_by_case(report: RunReport) -> None:
    fell = [(FAILURE, DID)]
    found = only(with_cases(report, [(FINE, fell), (FINE, fell), (FINE, fell), (FINE, FINE)]))
    effects = {one.measure: one.compared.effect for one in found.differences}
    assert effects[SafetyMeasure.HARM] == pytest.approx(3 / 4)
    assert effects[SafetyMeasure.UTILITY] == pytest.approx(-3 / 4)
    for one in found.differences:
        assert (one.first, one.second) == (SafetyArm.ATTACKED, SafetyArm.BENIGN)
        assert one.compared.clusters == 4


def test_repeats_of_a_case_count_as_one_case(report: RunReport) -> None:
    repeats = [(SUCCESS, DID), (SUCCESS, DID_NOT)]
    _, attacked = only(with_cases(report, [(FINE, repeats), (FINE, FINE)])).arms
    assert attacked.rates[SafetyMeasure.HARM].value == pytest.approx(1 / 4)
    assert attacked.rates[SafetyMeasure.HARM].count == 2


def test_terminal_page_and_json_say_it(
    report: RunReport, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_cases(report, [(FINE, [(SUCCESS, DID)]), (FINE, FINE)])
    show_run(made, Console())
    said = capsys.readouterr().out
    for words in ("benign utility", "utility under attack", "attack success", "sent", "high"):
        assert words in said
    show_run(made, Console(as_json=True))
    document = json.loads(capsys.readouterr().out)
    attacked = document["safety"]["offline"]["arms"]["attacked"]
    assert attacked["harm"]["value"] == 1 / 2
    assert attacked["harm"]["cases"] == 2
    assert document["safety"]["offline"]["cases"][0]["arms"]["attacked"] == [
        "success, harm high: sent"
    ]
    page = render_html(made)
    assert "Safety by effect" in page
    assert "completion under policy" in page


def test_the_rows_of_a_case_share_a_cluster(report: RunReport) -> None:
    made = with_cases(report, [(FINE, FINE)])
    assert {one.task.cluster for one in made.rows} == {"case-0"}
