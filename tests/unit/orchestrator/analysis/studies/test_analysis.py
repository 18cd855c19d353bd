"""What a study says of rows whose truth is known, and of rows that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from quick_cases import SLOW
from support.runs.planted_results import ERRING, planted, result, runs_of

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.stats.concordance import bland_altman
from orchestrator.analysis.stats.paired import Decision
from orchestrator.analysis.stats.results import Cell, Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.answers import answers_of
from orchestrator.analysis.studies.findings import CellFigures, StudyAnalysis
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.slices import SliceKind

OFF, ON = World.OFFLINE, World.ONLINE


def analysed(
    rows: Sequence[EpisodeResult], questions: Sequence[Question] = (), *, pending: int = 0
) -> StudyAnalysis:
    return analyse(questions, EpisodeTable(rows), runs_of(rows, pending), title="Planted", seed=1)


def cell(rows: Sequence[EpisodeResult]) -> CellFigures:
    [found] = analysed(rows).cells
    return found


def test_a_cell_averages_repeats_inside_a_task_before_tasks() -> None:
    rows = [result("a", OFF, 0, repeat, success=True) for repeat in range(9)]
    rows.append(result("a", OFF, 1, success=False))

    found = cell(rows)

    assert (found.success, found.tasks, found.episodes) == (0.5, 2, 10)
    assert (found.completion_macro, found.completion_micro) == (0.75, 0.75)
    assert (found.sr0, found.sr1) == (0.5, 1.0)
    assert found.efficiency == pytest.approx(8 / 3)  # 4 steps a task, 2 + 1 nodes met
    assert found.spending.seconds_per_episode == 2
    assert found.spending.seconds_per_success == pytest.approx(20 / 9)


def test_an_unscored_episode_is_in_the_bounds_and_in_no_rate() -> None:
    rows = [result("a", OFF, number, success=True) for number in range(3)]
    rows.append(result("a", OFF, 3, success=None))

    found = cell(rows)

    assert (found.success, found.scored, found.episodes) == (1.0, 3, 4)
    assert found.unscored == ((UnscoredReason.INFRA, 1),)
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.75, 1.0)
    assert found.completion_macro == 1.0


def test_nothing_scored_gives_no_figure_instead_of_zeros() -> None:
    found = cell([result("a", OFF, number, success=None) for number in range(3)])

    assert (found.success, found.wilson, found.clustered) == (None, None, None)
    assert (found.completion_macro, found.efficiency, found.steps) == (None, None, None)
    assert found.spending.seconds_per_episode is None
    assert found.passes == ()


def test_pass_at_k_and_pass_hat_k_are_the_unbiased_ones() -> None:
    rows = [result("a", OFF, 0, repeat, success=repeat < 2) for repeat in range(4)]

    found = {one.k: (one.at, one.hat) for one in cell(rows).passes}

    assert found[1] == (0.5, 0.5)
    assert found[2] == pytest.approx((1 - 1 / 6, 1 / 6))
    assert found[4] == (1.0, 0.0)


def test_pass_hat_k_has_an_interval_that_goes_by_templates() -> None:
    def width(a_template: int) -> float:
        rows = planted(
            {"a": 0.4}, tasks=24, repeats=3, worlds=(OFF,), seed=2, a_template=a_template
        )
        [one] = (found for found in cell(rows).passes if found.k == 2)
        assert one.hat_interval is not None
        assert one.at_interval is not None
        assert one.hat_interval.low < one.hat < one.hat_interval.high
        return one.hat_interval.high - one.hat_interval.low

    assert width(6) > width(1)


def test_a_price_that_one_episode_lacks_makes_the_sum_unknown_and_no_model_is_free_of_it() -> None:
    priced = [result("a", OFF, n, success=True, usd=0.5, tokens=10) for n in range(2)]
    lacking = [*priced, result("a", OFF, 2, success=True, tokens=10)]

    assert cell(priced).spending.usd_per_success == 0.5
    assert cell(lacking).spending.usd_per_episode is None
    assert cell(lacking).spending.tokens_per_episode == 10
    without_model = cell([result("a", OFF, 0, success=True)]).spending
    assert (without_model.usd, without_model.tokens_per_episode) == (None, None)


def test_slices_part_the_tasks_and_say_what_to_beware_of() -> None:
    rows = [
        result(
            "a", OFF, number, repeat, success=number % 4 == 0 or (number % 4 == 1 and repeat < 1)
        )
        for number in range(12)
        for repeat in range(2)
    ]

    found = analysed(rows)

    sizes = {(one.by, one.value): one.rates[0].tasks for one in found.slices}
    assert sum(size for (by, _), size in sizes.items() if by is SliceKind.SITE) == 12
    assert sizes[SliceKind.DIFFICULTY, "hard (below 33%)"] == 6
    assert sizes[SliceKind.DIFFICULTY, "middling (33 to 67%)"] == 3
    assert sizes[SliceKind.DIFFICULTY, "easy (67% and more)"] == 3
    assert sizes[SliceKind.LENGTH, "1 to 3 actions"] == 4
    [note] = {one.note for one in found.slices if one.by is SliceKind.DIFFICULTY}
    assert "compare cells inside a band" in note


def test_a_task_of_several_sites_counts_in_each_and_one_of_unknown_length_apart() -> None:
    rows = [
        replace(result("a", OFF, 0, success=True), sites=("shop", "wiki")),
        replace(result("a", OFF, 1, success=True), sites=("wiki",)),
    ]
    [run] = runs_of(rows)
    found = analyse(
        [],
        EpisodeTable(rows),
        [replace(run, lengths={"task-0": 2, "task-1": None})],
        title="x",
        seed=1,
    )

    sites = {one.value: one for one in found.slices if one.by is SliceKind.SITE}
    assert {name: one.rates[0].tasks for name, one in sites.items()} == {"shop": 1, "wiki": 2}
    assert "counts in each" in sites["wiki"].note
    lengths = [one.value for one in found.slices if one.by is SliceKind.LENGTH]
    assert lengths == ["1 to 3 actions", "no reference"]


def test_difficulty_counts_each_cell_alike_however_often_it_was_repeated() -> None:
    rows = [result("a", OFF, 0, repeat, success=True) for repeat in range(9)]
    rows.append(result("b", OFF, 0, success=False))

    [task] = analysed(rows).tasks

    assert task.success == 0.5


def test_worlds_agree_where_the_majority_of_repeats_does_and_a_tie_counts_nowhere() -> None:
    def played(number: int, offline: str, online: str) -> list[EpisodeResult]:
        return [
            result("a/b", world, number, repeat, success=won == "1")
            for world, outcomes in ((OFF, offline), (ON, online))
            for repeat, won in enumerate(outcomes)
        ]

    rows = [*played(0, "11", "11"), *played(1, "11", "00"), *played(2, "10", "11")]
    rows += [*played(3, "00", "00"), result("a/b", OFF, 4, success=True)]

    [found] = analysed(rows).agreement

    assert (found.both, found.offline_only, found.neither) == (
        ("task-0",),
        ("task-1",),
        ("task-3",),
    )
    assert (found.split, found.unpaired) == (("task-2",), ("task-4",))
    assert found.rate == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(0.4)
    assert {(one.template, one.difference) for one in found.points} == {
        ("task-0", 0.0),
        ("task-1", 1.0),
        ("task-2", -0.5),
        ("task-3", 0.0),
    }
    assert (found.offline_label, found.online_label) == ("offline", "online (staged)")


def test_limits_of_agreement_have_intervals_that_go_by_templates() -> None:
    rows = planted({"a": 0.3}, tasks=20, seed=3, a_template=2)

    [found] = analysed(rows).agreement

    offline, online = ([row for row in rows if row.world is world] for world in World)
    expected = bland_altman(
        EpisodeTable(offline).paired_with(EpisodeTable(online), Compared.WORLDS)
    )
    assert expected.lower_interval is not None
    assert found.low_limit_interval == expected.lower_interval
    assert found.high_limit_interval == expected.upper_interval
    assert found.limits is not None
    assert expected.lower_interval.low < found.limits.low < expected.lower_interval.high


def test_the_order_of_agents_is_of_the_tasks_that_both_worlds_have() -> None:
    rows = [
        result(agent, world, number, success=number < won)
        for agent, won in (("a", 3), ("b", 2), ("c", 1))
        for world in World
        for number in range(4)
    ]
    rows += [result("c", OFF, number, success=True) for number in range(4, 30)]

    [found] = analysed(rows).rank_correlation

    assert (found.offline, found.online, found.tau) == ((0.75, 0.5, 0.25), (0.75, 0.5, 0.25), 1)
    assert "in the same order" in found.says
    assert "weak evidence" in found.says


def test_tasks_of_one_template_do_not_narrow_the_interval_of_a_slice_or_of_the_agreement() -> None:
    def played(a_template: int) -> StudyAnalysis:
        return analysed(
            [
                result(
                    "a",
                    world,
                    number,
                    success=number % 12 < 6 or (world is OFF and number % 24 > 17),
                    template=f"template-{number // a_template}",
                )
                for number in range(48)
                for world in World
            ]
        )

    apart, alike, one = played(1), played(6), played(48)

    for found in (apart, alike):
        assert all(rate.interval for each in found.slices for rate in each.rates)
    [first, second] = (each.slices[0].rates[0].interval for each in (apart, alike))
    assert first is not None
    assert second is not None
    assert second.high - second.low > 1.3 * (first.high - first.low)
    widths = [
        interval.high - interval.low
        for each in (apart, alike)
        if (interval := each.agreement[0].rate_interval) is not None
    ]
    assert widths[1] > 1.5 * widths[0]
    assert one.slices[0].rates[0].interval is None
    assert one.agreement[0].rate_interval is None


@pytest.mark.parametrize("worlds", [(OFF,), (OFF, ON)])
@pytest.mark.parametrize("unscored", [0.0, 1.0])
def test_one_agent_alone_is_analysed_whatever_it_played(
    worlds: tuple[World, ...], unscored: float
) -> None:
    rows = planted({"a": 0.2}, tasks=4, repeats=2, worlds=worlds, unscored=unscored)

    found = analysed(rows)

    assert len(found.cells) == len(worlds)
    assert found.rank_correlation == ()
    assert len(found.agreement) == len(worlds) - 1
    assert found.methods


def test_a_study_of_which_nothing_ended_yet_has_its_cells() -> None:
    [run] = runs_of(planted({"a": 0.1}, tasks=2, repeats=1, worlds=(OFF,)))

    found = analyse([], EpisodeTable([]), [replace(run, pending={OFF: 2})], title="x", seed=1)

    assert [(one.cell, one.episodes, one.pending) for one in found.cells] == [
        (Cell("a", "demo", OFF), 0, 2)
    ]
    assert found.pending == 2
    assert not found.notes


def test_notes_say_what_is_no_contestant_staged_or_unscored() -> None:
    rows = planted({"a": 0.1}, tasks=10, repeats=1, unscored=0.3, seed=3)
    [run] = runs_of(rows, pending=2)
    agent = run.lock.agent.model_copy(update={"agent_class": AgentClass.REFERENCE})
    lock = run.lock.model_copy(update={"agent": agent})

    found = analyse([], EpisodeTable(rows), [replace(run, lock=lock)], title="x", seed=1)
    said = "\n".join(found.notes)

    assert "a: reference agent, not a contestant." in said
    assert "Staged live origins, not the real web: shop." in said
    assert "of the episodes are unscored (infra" in said
    assert found.pending == 4
    assert "Not finished" not in said  # whoever shows the notes says that beside them


def test_what_holds_of_several_agents_is_said_once() -> None:
    rows = planted({"a": 0.1, "b": 0.2}, tasks=10, repeats=1)
    runs = [
        replace(
            run,
            lock=run.lock.model_copy(
                update={
                    "agent": run.lock.agent.model_copy(update={"agent_class": AgentClass.REFERENCE})
                }
            ),
        )
        for run in runs_of(rows)
    ]

    notes = analyse([], EpisodeTable(rows), runs, title="x", seed=1).notes

    assert "a, b: reference agent, not a contestant." in notes
    assert sum("contestant" in note for note in notes) == 1
    assert not [note for note in notes if note.startswith("Difficulty")]  # beside its figures


@SLOW
def test_methods_name_agents_suites_images_repeats_tests_and_what_was_registered() -> None:
    rows = planted(tasks=6, repeats=2)
    questions = [
        Question(
            id=f"q{number}",
            kind=QuestionKind.DIFFERENCE,
            of=Compared.AGENTS,
            first="errs10",
            second=second,
            registered=number == 0,
        )
        for number, second in enumerate(("errs25", "errs30"))
    ]

    said = analysed(rows, questions).methods

    for part in (
        "errs10, errs25 and errs30",
        "6 tasks of suite demo (demo version 1, SHA-256 abababababab…) 2 times in each world",
        "online (staged)",
        "arena/shop:1 abababababab…",
        "Chromium 131.0",
        "playwright 1.48",
        "of 72 episodes, 0 were unscored",
        "Episodes began between 2026-11-22T10:00:00+00:00 and 2026-11-22T10:00:00+00:00.",
        "seed 1",
        "Registered before the study was played: q0;",
        "Not registered, hence exploratory: q1,",
        "sign-flip test over clusters",
    ):
        assert part in said


QUESTIONS = (
    *(
        Question(
            id=f"{first}-{second}",
            kind=QuestionKind.DIFFERENCE,
            of=Compared.AGENTS,
            first=first,
            second=second,
            registered=True,
        )
        for first, second in (("errs10", "errs25"), ("errs10", "errs30"), ("errs25", "errs30"))
    ),
    *(
        Question(
            id=f"worlds-{agent}" if margin else f"apart-{agent}",
            kind=kind,
            of=Compared.WORLDS,
            first="offline",
            second="online",
            agent=agent,
            margin=margin,
            registered=True,
        )
        for agent in ("errs10", "errs25", "errs30")
        for kind, margin in ((QuestionKind.DIFFERENCE, None), (QuestionKind.EQUIVALENCE, 0.1))
    ),
)


@pytest.mark.slow(minutes=3)
def test_planted_differences_are_found_and_those_that_are_not_there_hardly_ever() -> None:
    studies = 120
    wrong = found_far = found_worlds = turned = 0
    for seed in range(studies):
        rows = planted(tasks=60, repeats=5, seed=seed)
        answers = {
            one.question.id: one
            for one in answers_of(QUESTIONS, EpisodeTable(rows), alpha=0.05, seed=1)
        }
        found_far += answers["errs10-errs30"].decision is Decision.YES
        found_worlds += answers["worlds-errs10"].decision is Decision.YES
        turned += any(
            (one.effect or 0) < 0
            for one in answers.values()
            if one.question.id in {"errs10-errs25", "errs10-errs30"}
            and one.decision is Decision.YES
        )
        # The worlds are alike: a difference between them, or a margin that they pass, is false.
        wrong += any(
            one.decision is (Decision.YES if one.question.margin is None else Decision.NO)
            for one in answers.values()
            if one.question.of is Compared.WORLDS
        )

    assert found_far == studies  # 20 points apart
    assert found_worlds >= 0.75 * studies  # with Holm over nine questions, 82 % of these seeds
    assert turned == 0
    assert wrong <= 0.06 * studies  # Holm keeps the whole family at 5 %


@SLOW
def test_a_planted_study_finds_what_is_there_and_not_what_is_not() -> None:
    rows = planted(ERRING, tasks=80, repeats=5, seed=7)

    answers = {
        one.question.id: one
        for one in answers_of(QUESTIONS[:3], EpisodeTable(rows), alpha=0.05, seed=1)
    }
    same = planted({"errs10": 0.2, "errs25": 0.2, "errs30": 0.2}, tasks=80, repeats=5, seed=7)
    alike = answers_of(QUESTIONS[:3], EpisodeTable(same), alpha=0.05, seed=1)

    assert answers["errs10-errs25"].decision is Decision.YES
    assert answers["errs10-errs30"].decision is Decision.YES
    assert {one.decision for one in alike} == {Decision.UNDECIDED}
