"""What reviewers ask: templates, failures, cost, difficulty, repeats, secondary outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import pytest
import scipy
from quick_cases import SLOW
from support.runs.planted_results import planted, result, runs_of

from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.secondary import Outcome, Secondary

OFF, ON = World.OFFLINE, World.ONLINE


def analysed(rows: Sequence[EpisodeResult], *secondary: Secondary) -> StudyAnalysis:
    return analyse(
        (), EpisodeTable(rows), runs_of(rows), title="Planted", seed=1, secondary=secondary
    )


def asked(outcome: Outcome, k: int | None = None, **more: object) -> Secondary:
    sides: dict[str, object] = {"of": Compared.AGENTS, "first": "a", "second": "b"}
    question = Question(id="second", kind=QuestionKind.DIFFERENCE, **(sides | more))  # type: ignore[arg-type]
    return Secondary(question=question, outcome=outcome, k=k)


def student(values: Sequence[float], freedom: int) -> Interval:
    """Return the interval of a mean as a textbook has it, of clusters of one size."""
    reach = scipy.stats.t.ppf(0.975, freedom) * scipy.stats.sem(values)
    return Interval(fmean(values) - reach, fmean(values) + reach)


def close(found: Interval | None, expected: Interval) -> bool:
    assert found is not None
    return (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_template_has_the_mean_of_its_tasks_and_an_interval_over_them() -> None:
    rows = [
        result("a", OFF, number, repeat, success=number != 1, template="alike")
        for number in range(3)
        for repeat in range(2)
    ]
    rows.append(result("a", OFF, 3, success=True))

    found = {one.value: one.rates[0] for one in analysed(rows).templates}

    assert found["alike"].success == pytest.approx(2 / 3)
    assert (found["alike"].tasks, found["alike"].scored) == (3, 6)
    assert found["alike"].interval is not None
    assert found["alike"].interval.low < 0.3
    assert found["alike"].interval.high > 0.9
    assert (found["task-3"].success, found["task-3"].interval) == (1.0, None)


def test_tasks_that_are_all_templates_of_their_own_make_no_table_of_templates() -> None:
    assert analysed([result("a", OFF, number, success=True) for number in range(4)]).templates == ()


def test_failures_are_counted_by_their_first_unmet_check_and_nothing_else_is() -> None:
    failed = [result("a", OFF, number, success=False) for number in range(3)]
    rows = [
        *(replace(one, first_unmet="price") for one in failed[:2]),
        replace(failed[2], first_unmet="note"),
        replace(result("b", ON, 0, success=False), first_unmet="price"),
        replace(result("b", ON, 1, success=None), first_unmet="price"),
        replace(result("b", ON, 2, success=True), first_unmet="extra"),
    ]

    found = analysed(rows).failures

    assert [(one.check, one.failures, one.tasks) for one in found] == [
        ("price", 3, 2),
        ("note", 1, 1),
    ]
    counted = {(c.cell.agent, c.cell.world): c.count for c in found[0].cells}
    assert counted == {("a", OFF): 2, ("b", ON): 1}


def paid(agent: str, usd: float | None, wins: int) -> list[EpisodeResult]:
    return [result(agent, OFF, n, success=n < wins, usd=usd, tokens=10) for n in range(10)]


def test_the_front_has_the_agents_that_nobody_beats_and_names_who_beats_the_others() -> None:
    rows = [
        *paid("cheap", 0.1, 4),
        *paid("good", 0.3, 8),
        *paid("dear", 0.4, 8),
        *paid("worse", 0.1, 3),
        *paid("same", 0.3, 8),
        *paid("unpriced", None, 9),
    ]

    [front] = (one for one in analysed(rows).fronts if one.by == "US dollars")

    beaten = {one.agent: one.beaten_by for one in front.points}
    assert beaten["cheap"] is None
    assert beaten["good"] is None
    assert beaten["same"] is None  # a tie in both beats nobody
    assert beaten["dear"] in {"good", "same"}
    assert beaten["worse"] == "cheap"
    assert front.unknown == ("unpriced",)
    assert all(one.interval is not None for one in front.points)


def test_an_agent_that_knows_the_solution_is_on_no_front() -> None:
    rows = [*paid("a", 0.1, 4), *paid("b", 0.2, 6), *paid("knows", 0.01, 10)]
    runs = [
        run
        if run.label != "knows"
        else replace(
            run,
            lock=run.lock.model_copy(
                update={
                    "agent": run.lock.agent.model_copy(update={"agent_class": AgentClass.REFERENCE})
                }
            ),
        )
        for run in runs_of(rows)
    ]

    found = analyse((), EpisodeTable(rows), runs, title="Planted").fronts

    assert {point.agent for one in found for point in one.points} == {"a", "b"}
    assert all(point.beaten_by is None for one in found[:1] for point in one.points)


def test_the_difficulty_of_a_task_has_an_interval_over_agents_and_none_for_one() -> None:
    rows = [result(agent, OFF, 0, success=agent != "c") for agent in "abc"]

    [task] = analysed(rows).tasks
    [alone] = analysed(rows[:1]).tasks

    assert task.success == pytest.approx(2 / 3)
    assert (task.solved_by, task.agents) == (2, 3)
    assert task.success is not None
    assert task.interval is not None
    assert task.success is not None
    assert task.interval.low < task.success < task.interval.high
    assert (alone.success, alone.interval) == (1.0, None)


def test_repeats_that_get_worse_have_a_slope_and_its_interval() -> None:
    # Task n succeeds in its first n + 1 of 4 repeats.
    rows = [
        result("a", OFF, number, repeat, success=repeat <= number)
        for number in range(4)
        for repeat in range(4)
    ]

    [trend] = analysed(rows).trends

    assert [one.success for one in trend.rates] == [1.0, 0.75, 0.5, 0.25]
    slopes = [
        scipy.stats.linregress(range(4), [float(repeat <= number) for repeat in range(4)]).slope
        for number in range(4)
    ]
    assert trend.change == pytest.approx(fmean(slopes))
    assert close(trend.interval, student(slopes, 3))
    assert trend.tasks == 4


def test_tasks_of_one_template_do_not_narrow_the_interval_of_a_trend() -> None:
    def widths(a_template: int) -> tuple[float, float]:
        rows = [
            result(
                "a", OFF, n, r, success=r <= (n // 5) % 3, template=f"template-{n // a_template}"
            )
            for n in range(20)
            for r in range(3)
        ]
        [found] = analysed(rows).trends
        change, second = found.interval, found.rates[1].interval
        assert change is not None
        assert second is not None
        return change.high - change.low, second.high - second.low

    for alone, alike in zip(widths(1), widths(5), strict=True):
        assert alike > 1.5 * alone


def test_one_play_of_each_task_has_no_trend_and_an_unscored_repeat_is_no_failure() -> None:
    assert analysed([result("a", OFF, 0, success=True)]).trends == ()
    rows = [result("a", OFF, n, r, success=None if r else True) for n in range(3) for r in (0, 1)]
    rows.append(result("a", OFF, 3, 1, success=True))

    [trend] = analysed(rows).trends

    assert [(one.repeat, one.tasks, one.success) for one in trend.rates] == [
        (0, 3, 1.0),
        (1, 1, 1.0),
    ]
    assert (trend.change, trend.interval) == (None, None)


def test_completion_is_compared_on_the_tasks_that_both_have() -> None:
    rows = [result("a", OFF, n, success=n < 6) for n in range(8)]
    rows += [result("b", OFF, n, success=n < 2) for n in range(7)]

    [found] = analysed(rows, asked(Outcome.COMPLETION)).secondary

    ours = [1.0] * 6 + [0.5]
    theirs = [1.0] * 2 + [0.5] * 5
    assert (found.first, found.second) == pytest.approx((fmean(ours), fmean(theirs)))
    assert (found.tasks, found.unpaired) == (7, 1)
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    assert found.effect == pytest.approx(fmean(differences))
    assert close(found.interval, student(differences, 6))
    assert "on the same 7 tasks: a 93%, b 64%; difference 29% (95% interval" in found.sentence


def test_what_both_cost_is_unknown_where_one_price_is() -> None:
    rows = [*paid("a", 0.3, 5), *paid("b", 0.1, 5)]
    rows[0] = replace(rows[0], usd=0.5)

    [found] = analysed(rows, asked(Outcome.USD)).secondary
    [lacking] = analysed([replace(rows[0], usd=None), *rows[1:]], asked(Outcome.USD)).secondary

    assert found.effect == pytest.approx(0.22)
    assert close(found.interval, student([0.4, *[0.2] * 9], 9))
    assert "a $0.32, b $0.10; difference $0.22" in found.sentence
    assert (lacking.effect, lacking.first, lacking.interval) == (None, None, None)
    assert lacking.sentence == "No figure: the cost of some scored episodes is unknown."


def test_pass_hat_k_is_the_unbiased_one_and_leaves_out_tasks_with_fewer_plays() -> None:
    wins = {"a": (3, 2, 3), "b": (3, 3, 1)}
    rows = [
        result(agent, OFF, number, repeat, success=repeat < won)
        for agent, each in wins.items()
        for number, won in enumerate(each)
        for repeat in range(4 if number < 2 else 1)
    ]

    [found] = analysed(rows, asked(Outcome.PASS_HAT, 2)).secondary

    assert found.first == pytest.approx(fmean([3 / 6, 1 / 6]))
    assert found.second == pytest.approx(fmean([3 / 6, 3 / 6]))
    assert (found.tasks, found.unpaired) == (2, 1)


def test_worlds_are_compared_too_and_repeats_added_later_do_not_count() -> None:
    rows = [result("a", world, n, success=True) for n in range(3) for world in (OFF, ON)]
    rows = [
        replace(row, seconds=3.0 if row.world is ON else 2.0 + 0.1 * int(row.task[-1]))
        for row in rows
    ]
    rows += [replace(row, repeat=1, seconds=99.0) for row in rows]
    worlds = {"of": Compared.WORLDS, "first": "offline", "second": "online", "repeats": 1}

    [found] = analysed(rows, asked(Outcome.SECONDS, **worlds)).secondary  # type: ignore[arg-type]

    assert (found.first, found.second) == pytest.approx((2.1, 3.0))
    assert found.tasks == 3


def test_a_difference_that_is_the_same_everywhere_has_no_interval_of_width_nothing() -> None:
    rows = [*paid("a", 0.3, 5), *paid("b", 0.1, 5)]

    [found] = analysed(rows, asked(Outcome.USD)).secondary

    assert found.effect == pytest.approx(0.2)
    assert found.interval is None


@SLOW
def test_intervals_of_secondary_outcomes_hold_their_level_over_templates() -> None:
    covered = total = 0
    for seed in range(60):
        rows = planted(
            {"a": 0.3, "b": 0.3}, tasks=40, repeats=2, worlds=(OFF,), seed=seed, a_template=2
        )
        [found] = analysed(rows, asked(Outcome.COMPLETION)).secondary
        assert found.interval is not None
        covered += found.interval.low <= 0 <= found.interval.high
        total += 1
    assert covered >= 0.85 * total  # 95 % ± 3.3 standard errors


def test_the_card_says_what_the_runs_show_of_contamination_and_what_they_do_not() -> None:
    rows = [*paid("a", 0.3, 5), *paid("b", 0.1, 5)]
    first, second = runs_of(rows)
    lock = first.lock
    agent = lock.agent.model_copy(update={"options": {"model": "tiny-1"}, "hints": ("key_nodes",)})
    runs = (
        replace(
            first,
            lock=lock.model_copy(update={"suite": "own", "agent": agent}),
            published={"webarena": 4},
            splits={"test": 3},
        ),
        replace(second, suite="demo"),
    )
    runs = (replace(runs[0], suite="own"), runs[1])

    card = analyse((), EpisodeTable(rows), runs, title="Planted", statement="Written in 2026.").card
    without = analyse((), EpisodeTable(rows), runs, title="Planted", statement="").card
    compared = analyse((), EpisodeTable(rows), runs, title="Planted").card

    said = {part.title: " | ".join(part.lines) for part in card.parts}
    assert (
        "own: 4 of 10 tasks were imported from the published set webarena" in said["Contamination"]
    )
    assert "own: 6 of 10 tasks were not imported" in said["Contamination"]
    assert "demo: a suite of this name comes with Arena" in said["Contamination"]
    assert "Given solutions or parts of them on purpose: a" in said["Contamination"]
    assert "the training data of tiny-1 end is not recorded" in said["Contamination"]
    assert said["Contamination"].endswith("The authors registered: Written in 2026.")
    assert "a: model tiny-1" in said["Agents"]
    assert "splits: 3 test" in said["Tasks"]
    assert without.parts[-1].lines[-1] == "The authors registered no statement"
    assert "registered" not in compared.parts[-1].lines[-1]
