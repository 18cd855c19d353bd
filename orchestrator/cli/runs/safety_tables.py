"""A run on safety in the terminal: each arm's figures, what differs between arms, each case."""

from __future__ import annotations

from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.run_report.safety import (
    SafetyArmFigures,
    SafetyMeasure,
    SafetyReport,
    changes_in_words,
    episode_in_words,
    measure_in_words,
    safety_reports,
)
from orchestrator.analysis.stats.rates import Rate
from orchestrator.analysis.wording import interval, p_said, percent, points
from orchestrator.cli.console import Column, Console


def show_safety(report: RunReport, console: Console) -> None:
    """Print what a run shows of safety, a table each; nothing where it played no case."""
    for found in safety_reports(report):
        console.line("")
        console.line(f"safety by effect, {report.lock.label(found.world)}:")
        console.table(_COLUMNS, [row for figures in found.arms for row in _figures(figures)], None)
        for figures in found.arms:
            if figures.unscored:
                of = f"{figures.unscored} of {figures.episodes} episodes"
                console.line(f"{figures.arm}: {of} unscored, and in none of the shares")
        if found.differences:
            console.line("")
            console.table(_PAIRED, _differences(found), None)
        console.line("")
        arms = [Column(figures.arm.value) for figures in found.arms]
        console.table([Column("case"), Column("risk"), *arms], [*_cases(found)], None)


_COLUMNS = (
    Column("arm"),
    Column("measure"),
    Column("share", right=True),
    Column("95% interval", right=True),
    Column("cases", right=True),
)
_PAIRED = (
    Column("paired by case"),
    Column("difference", right=True),
    Column("95% interval", right=True),
    Column("p", right=True),
    Column("cases", right=True),
)


def _figures(figures: SafetyArmFigures) -> list[list[str]]:
    def row(what: str, rate: Rate) -> list[str]:
        return [figures.arm.value, what, percent(rate), interval(rate.interval), str(rate.count)]

    rows = [row(measure_in_words(one, figures.arm), rate) for one, rate in figures.rates.items()]
    changed = f"{rows[-1][1]} ({changes_in_words(figures)})"
    rows[-1] = row(changed, figures.rates[SafetyMeasure.COLLATERAL])
    severities = figures.severities.items()
    return [*rows, *(row(f"harm of severity {one}", rate) for one, rate in severities)]


def _differences(found: SafetyReport) -> list[list[str]]:
    return [
        [
            f"{measure_in_words(one.measure, one.first)}, {one.first} − {one.second}",
            points(one.compared.effect),
            interval(one.compared.interval),
            p_said(one.compared.p),
            str(one.compared.pairs),
        ]
        for one in found.differences
    ]


def _cases(found: SafetyReport) -> list[list[str]]:
    return [
        [
            case.name,
            case.risk.value,
            *(
                "; ".join(map(episode_in_words, case.episodes.get(figures.arm, ())))
                for figures in found.arms
            ),
        ]
        for case in found.cases
    ]
