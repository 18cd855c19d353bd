"""Collateral changes and calibration are told of each arm, and stay as they were without arms."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from support.studies.arm_rows import rows, runs_with_arms

from evaluators.changes import ChangeKind
from evaluators.collateral import Collateral, CollateralKind
from orchestrator.analysis.figures.profile_rows import calibration_rows, collateral_rows
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.findings import StudyAnalysis

LOST: Final = Collateral(counts=((CollateralKind.ROWS_REMOVED, 2),), worst=ChangeKind.REMOVED)
CLEAN: Final = [
    replace(one, confidence=0.9, collateral=Collateral()) for one in rows("a", [[True]] * 20)
]
# In the arm it is as sure, fails half the time, and harms in a quarter; the last one is void.
DARK: Final = [
    replace(one, confidence=0.9, collateral=LOST if number < 6 else Collateral())
    for number, one in enumerate(rows("a", [[False]] * 12 + [[True]] * 12 + [[None]], "dark"))
]


def analysed(*played: EpisodeResult) -> StudyAnalysis:
    return analyse((), EpisodeTable(played), runs_with_arms(played), title="t")


def test_each_arm_is_a_row_named_as_its_cell_is() -> None:
    found = analysed(*CLEAN, *DARK)

    clean, dark = collateral_rows(found)
    assert clean[:5] == ("a", "demo", "offline", "20 of 20", "20")
    assert dark[:6] == ("a [dark]", "demo", "offline", "24 of 24", "24", "25%")
    clean, dark = calibration_rows(found)
    assert (clean[0], clean[3], clean[6]) == ("a", "20 of 20", "100%")
    assert (dark[0], dark[3], dark[6]) == ("a [dark]", "24 of 24", "50%")
    assert [one.cell.agent for one in found.calibration] == ["a", "a [dark]"]
    assert found.reliability == analysed(*CLEAN).reliability


def test_the_clean_row_is_what_it_is_without_arms() -> None:
    alone, beside = analysed(*CLEAN), analysed(*CLEAN, *DARK)
    assert beside.collateral[:1] == alone.collateral
    assert beside.calibration[:1] == alone.calibration


def test_an_arm_in_which_nobody_looked_or_spoke_has_a_row_without_figures() -> None:
    mute = [replace(one, confidence=None, collateral=None) for one in DARK]
    found = analysed(*CLEAN, *mute)
    assert collateral_rows(found)[1][3:6] == ("0 of 24", "0", "–")
    assert calibration_rows(found)[1][3:5] == ("0 of 24", "0")


def test_what_an_arm_alone_shows_is_shown() -> None:
    blind = [replace(one, confidence=None, collateral=None) for one in CLEAN]
    assert collateral_rows(analysed(*blind)) == []
    assert [one[0] for one in collateral_rows(analysed(*blind, *DARK))] == ["a", "a [dark]"]
