from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from quick_cases import ONE_QUICK
from support.runs.planted_results import result

from arena_core.worlds import World
from orchestrator.analysis.stats.paired import Decision
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.stats.sequential import Spending
from orchestrator.analysis.studies.answers import answers_of
from orchestrator.analysis.studies.findings import Answer
from orchestrator.analysis.studies.questions import Question, QuestionKind, Stage
from orchestrator.analysis.studies.sentences import decision_said, short_answer

OFF, ON = World.OFFLINE, World.ONLINE
BETTER = Question(
    id="better",
    kind=QuestionKind.DIFFERENCE,
    of=Compared.AGENTS,
    first="a",
    second="b",
    world=OFF,
    registered=True,
)
ALIKE = Question(
    id="alike",
    kind=QuestionKind.EQUIVALENCE,
    of=Compared.WORLDS,
    first="offline",
    second="online",
    agent="a",
    margin=0.05,
    registered=True,
)


def rows(
    agent: str, outcomes: Sequence[Sequence[bool | None]], world: World = OFF
) -> list[EpisodeResult]:
    return [
        result(agent, world, number, repeat, success=success)
        for number, played in enumerate(outcomes)
        for repeat, success in enumerate(played)
    ]


def one(question: Question, results: Sequence[EpisodeResult], stage: Stage | None = None) -> Answer:
    stages = {} if stage is None else {question.id: stage}
    [answer] = answers_of([question], EpisodeTable(results), alpha=0.05, seed=1, stages=stages)
    return answer


def test_a_plain_difference_is_said_with_rates_interval_and_p() -> None:
    results = rows("a", [[True]] * 16 + [[False]] * 4) + rows("b", [[True]] * 4 + [[False]] * 16)

    answer = one(BETTER, results)

    assert answer.decision is Decision.YES
    assert (answer.first_rate, answer.second_rate) == (0.8, 0.2)
    assert answer.effect == pytest.approx(0.6)
    assert answer.p == pytest.approx(
        2 / 2**12
    )  # McNemar: 12 won by the first alone, none by the second
    assert answer.sentence.startswith(
        "On the same 20 tasks, offline, a solved 80% and b 20%: a is better by 60 points (95%"
        " interval "
    )
    assert answer.sentence.endswith("p < 0.001).")


def test_the_better_side_is_named_whichever_stands_first_and_its_interval_is_of_its_lead() -> None:
    results = rows("b", [[True]] * 16 + [[False]] * 4) + rows("a", [[True]] * 4 + [[False]] * 16)

    answer = one(BETTER, results)

    assert answer.effect == pytest.approx(-0.6)
    assert answer.interval is not None
    assert answer.interval.high < 0
    assert ": b is better by 60 points (95% interval 3" in answer.sentence
    assert "−" not in answer.sentence.partition("interval")[2]


def test_identical_sides_are_undecided_and_never_called_equal_in_truth() -> None:
    outcomes = [[True]] * 10 + [[False]] * 10
    answer = one(BETTER, rows("a", outcomes) + rows("b", outcomes))

    assert (answer.effect, answer.p, answer.decision) == (0, 1, Decision.UNDECIDED)
    assert "undecided which is better" in answer.sentence
    assert "no difference" not in answer.sentence
    assert "equivalent" not in answer.sentence


def test_a_small_lead_is_undecided_and_says_so() -> None:
    results = rows("a", [[True]] * 11 + [[False]] * 9) + rows("b", [[True]] * 10 + [[False]] * 10)

    answer = one(BETTER, results)

    assert answer.decision is Decision.UNDECIDED
    assert "undecided which is better; a is 5 points ahead, too little to tell" in answer.sentence


def test_few_identical_tasks_do_not_show_equivalence_and_very_many_do() -> None:
    few = [[True]] * 10 + [[False]] * 10
    many = few * 40

    assert one(ALIKE, rows("a", few) + rows("a", few, ON)).decision is Decision.UNDECIDED
    shown = one(ALIKE, rows("a", many) + rows("a", many, ON))
    assert shown.decision is Decision.YES
    assert " points, and are equivalent within 5 points (" in shown.sentence


def test_worlds_far_apart_are_shown_to_differ_by_more_than_the_margin() -> None:
    results = rows("a", [[True]] * 90 + [[False]] * 10)
    results += rows("a", [[True]] * 20 + [[False]] * 80, ON)

    answer = one(ALIKE, results)

    assert answer.decision is Decision.NO
    assert "they differ by 70 points, and are not equivalent within 5 points (" in answer.sentence


def test_undecided_equivalence_claims_neither_side() -> None:
    results = rows("a", [[True]] * 14 + [[False]] * 6)
    results += rows("a", [[True]] * 12 + [[False]] * 8, ON)

    answer = one(ALIKE, results)

    assert answer.decision is Decision.UNDECIDED
    assert ": undecided whether they are equivalent within 5 points (" in answer.sentence


def test_a_task_that_one_side_lacks_does_not_count_and_is_named() -> None:
    results = rows("a", [[True]] * 6) + rows("b", [[False]] * 5)

    answer = one(BETTER, results)

    assert (answer.tasks, answer.unpaired) == (5, ("demo/task-5",))


def test_an_unscored_episode_is_no_failure_and_its_task_is_left_out() -> None:
    results = rows("a", [[None], [True], [True]]) + rows("b", [[True], [True], [True]])

    answer = one(BETTER, results)

    assert (answer.first_rate, answer.effect, answer.tasks) == (1.0, 0.0, 2)
    assert answer.bounds is not None
    assert (answer.bounds.low, answer.bounds.high) == pytest.approx((-1 / 3, 0))


@pytest.mark.parametrize("missing", ["all of one side", "all", "never played"])
def test_without_any_pair_the_answer_is_undecided_in_words(missing: str) -> None:
    played: Mapping[str, list[EpisodeResult]] = {
        "all of one side": rows("a", [[None]] * 3) + rows("b", [[True]] * 3),
        "all": rows("a", [[None]] * 3) + rows("b", [[None]] * 3),
        "never played": rows("a", [[True]] * 3),
    }

    answer = one(BETTER, played[missing])

    assert answer.decision is Decision.UNDECIDED
    assert (answer.effect, answer.p, answer.tasks) == (None, None, 0)
    assert answer.sentence.startswith("Undecided, offline: no task has a scored episode of both")


def test_unequal_repeats_weigh_each_task_alike() -> None:
    results = rows("a", [[True] * 9, [False]]) + rows("b", [[False], [False] * 3])

    answer = one(BETTER, results)

    assert (answer.first_rate, answer.second_rate, answer.episodes) == (0.5, 0.0, 14)


def test_what_the_unscored_would_have_to_be_is_said_where_it_turns_the_answer() -> None:
    first = [[True]] * 8 + [[None]] * 12
    second = [[False]] * 8 + [[None]] * 12

    answer = one(BETTER, rows("a", first) + rows("b", second))

    assert answer.decision is Decision.YES
    assert answer.would_turn is not None
    assert answer.would_turn.startswith("This depends on the unscored episodes (a 12, b 12); it")
    assert "“undecided” if" in answer.would_turn


def test_an_answer_that_stands_whatever_the_unscored_were_says_so() -> None:
    results = rows("a", [[True]] * 30 + [[None]]) + rows("b", [[False]] * 30 + [[None]])

    answer = one(BETTER, results)

    assert answer.would_turn is not None
    assert answer.would_turn.startswith("However the unscored episodes (a 1, b 1) had ended")


def test_only_registered_questions_are_one_family_of_holms_correction() -> None:
    results = rows("a", [[True]] * 15 + [[False]] * 5) + rows("b", [[True]] * 9 + [[False]] * 11)
    results += rows("c", [[True]] * 10 + [[False]] * 10)
    questions = [
        BETTER,
        *(
            Question(
                id=f"a-c-{number}",
                kind=QuestionKind.DIFFERENCE,
                of=Compared.AGENTS,
                first="a",
                second="c",
                registered=number == 0,
            )
            for number in range(5)
        ),
    ]

    answers = answers_of(questions, EpisodeTable(results), alpha=0.05, seed=1)

    assert [one.family for one in answers] == [2, 2, 4, 4, 4, 4]
    assert answers[0].p is not None
    assert answers[0].p_adjusted == pytest.approx(2 * answers[0].p)
    assert answers[0].p < 0.05 < 6 * answers[0].p  # all six in one family would have lost it
    assert "after Holm's correction over 2 questions" in answers[0].sentence
    assert "not registered" not in answers[0].sentence
    assert all(one.sentence.endswith(" – not registered.") for one in answers[2:])


def test_non_inferiority_is_one_sided() -> None:
    question = Question(
        id="no-worse",
        kind=QuestionKind.NON_INFERIORITY,
        of=Compared.AGENTS,
        first="a",
        second="b",
        margin=0.1,
        registered=True,
    )
    far_better = rows("a", [[True]] * 40) + rows("b", [[False]] * 40)
    far_worse = rows("a", [[False]] * 40) + rows("b", [[True]] * 40)

    assert one(question, far_better).decision is Decision.YES
    assert one(question, far_worse).decision is Decision.NO
    assert ": a is more than 10 points worse than b (" in one(question, far_worse).sentence


def test_a_question_held_at_nothing_pairs_each_world_with_itself() -> None:
    question = Question(
        id="everywhere",
        kind=QuestionKind.DIFFERENCE,
        of=Compared.AGENTS,
        first="a",
        second="b",
        registered=True,
    )
    results = rows("a", [[True]] * 3) + rows("a", [[False]] * 3, ON)
    results += rows("b", [[True]] * 3) + rows("b", [[False]] * 3, ON)

    answer = one(question, results)

    assert (answer.tasks, answer.episodes, answer.effect) == (3, 12, 0)


def test_what_was_added_later_counts_in_no_question_as_it_was_registered() -> None:
    registered = rows("a", [[True, True]] * 3) + rows("b", [[False, True]] * 3)
    later = rows("a", [[True, True, False]] * 3) + rows("b", [[False, True, True]] * 3)

    first_two = replace(BETTER, repeats=2)
    assert one(first_two, later).differences == (0.5, 0.5, 0.5)
    before, after = one(BETTER, registered), one(first_two, later)
    assert replace(after, question=BETTER, sentence=before.sentence) == before
    assert "offline, the first 2 repeats, a solved 100% and b 50%" in after.sentence
    again = replace(BETTER, id="better+added", registered=False)
    assert one(again, later).effect == pytest.approx(0)
    assert one(again, later).sentence.endswith(" – with what was added, not registered.")


def test_an_agent_that_was_added_counts_in_no_registered_question_of_worlds() -> None:
    results = [
        row
        for agent, world, success in (
            ("a", OFF, True),
            ("a", ON, False),
            ("b", OFF, True),
            ("b", ON, False),
            ("new", OFF, False),
            ("new", ON, True),
        )
        for row in rows(agent, [[success]] * 2, world)
    ]
    question = replace(ALIKE, agent=None, agents=("a", "b"))

    answer = one(question, results)

    assert answer.differences == (1.0,) * 4
    assert "a and b solved 100% offline" in answer.sentence


FAR_APART = rows("a", [[True]] * 16 + [[False]] * 4) + rows("b", [[True]] * 4 + [[False]] * 16)
HALF = Stage(ended=40, planned=80)


@pytest.mark.parametrize("kind", QuestionKind)
def test_nothing_is_decided_of_what_is_not_done(kind: QuestionKind) -> None:
    margin = None if kind is QuestionKind.DIFFERENCE else 0.05
    question = replace(BETTER, kind=kind, margin=margin)
    results = FAR_APART + rows("a", [[None]] * 21)[20:] + rows("b", [[True]] * 21)[20:]

    done, interim = one(question, results), one(question, results, HALF)

    assert done.decision is not Decision.UNDECIDED or margin is not None
    assert (interim.decision, interim.is_interim) == (Decision.UNDECIDED, True)
    assert (interim.p, interim.p_adjusted, interim.would_turn) == (None, None, None)
    assert (interim.effect, interim.interval) == (done.effect, done.interval)
    assert interim.sentence.startswith(
        "Interim, 40 of 80 episodes. On the same 20 tasks, offline, a solved 80% and b 20%: a is 60"
        " points ahead so far, and nothing is decided before the end (95% interval 3"
    )
    assert "p " not in interim.sentence.partition("interval")[2]
    assert decision_said(interim) == short_answer(interim) == "interim"


def test_the_lead_of_the_second_side_is_said_from_its_side_so_far() -> None:
    answer = one(replace(BETTER, first="b", second="a"), FAR_APART, HALF)

    assert ": a is 60 points ahead so far" in answer.sentence
    assert "interval 3" in answer.sentence


def test_a_look_of_a_sequential_design_decides_by_what_it_may_spend() -> None:
    early = Stage(ended=8, planned=80).with_looks(Spending.OBRIEN_FLEMING, [8])
    late = Stage(ended=64, planned=80).with_looks(Spending.OBRIEN_FLEMING, [8, 40, 64])

    undecided, decided = one(BETTER, FAR_APART, early), one(BETTER, FAR_APART, late)

    assert undecided.p == decided.p == pytest.approx(2 / 2**12)
    assert (undecided.decision, decided.decision) == (Decision.UNDECIDED, Decision.YES)
    assert undecided.p_adjusted is not None
    assert decided.p_adjusted is not None
    assert undecided.p_adjusted > 0.05 > decided.p_adjusted > 2 / 2**12
    assert decided.sentence.startswith("Interim, 64 of 80 episodes, look 3. On the same 20 tasks")
    assert "for this look alone, p = 0.0" in decided.sentence
    assert decided.sentence.endswith(", with all 3 looks counted).")
    assert short_answer(decided) == "first better (interim)"
    assert decision_said(undecided) == "undecided (interim)"


def test_the_end_of_a_sequential_design_counts_its_looks_and_is_no_interim() -> None:
    stage = Stage(ended=80, planned=80).with_looks(Spending.POCOCK, [8, 40, 80])

    answer = one(BETTER, FAR_APART, stage)

    assert stage.looks == (0.1, 0.5)
    assert not answer.is_interim
    assert answer.p_adjusted is not None
    assert answer.p_adjusted > 2 / 2**12
    assert answer.sentence.endswith(", with all 3 looks counted).")
    unlooked = Stage(ended=80, planned=80).with_looks(Spending.POCOCK, [80])
    assert replace(one(BETTER, FAR_APART, unlooked), stage=Stage()) == one(BETTER, FAR_APART)


def test_a_look_too_near_the_last_decides_nothing() -> None:
    stage = Stage(ended=6_430, planned=8_000).with_looks(Spending.POCOCK, [6_400, 6_430])

    answer = one(BETTER, FAR_APART, stage)

    assert stage.looks == (0.8,)
    assert answer.decision is Decision.UNDECIDED
    assert "nothing is decided before the end or the next look (95%" in answer.sentence


@pytest.mark.parametrize("kind", [QuestionKind.EQUIVALENCE, QuestionKind.NON_INFERIORITY])
def test_the_p_beside_a_no_is_that_of_what_is_said(kind: QuestionKind) -> None:
    question = replace(BETTER, kind=kind, margin=0.1)
    far_worse = rows("a", [[False]] * 40) + rows("b", [[True]] * 40)

    answer = one(question, far_worse)

    assert answer.decision is Decision.NO
    assert answer.p is not None
    assert answer.p < 0.001
    assert answer.sentence.endswith("p < 0.001).")
    two = [question, replace(question, id="again")]
    for each in answers_of(two, EpisodeTable(far_worse), alpha=0.05, seed=1):
        assert each.p_adjusted == pytest.approx(2 * answer.p)
        assert "p < 0.001 after Bonferroni's correction over 2 questions" in each.sentence


def test_a_yes_that_the_unscored_could_turn_says_so_and_one_that_stands_does_not() -> None:
    shaky = rows("a", [[True]] * 8 + [[None]] * 12) + rows("b", [[False]] * 8 + [[None]] * 12)
    sure = rows("a", [[True]] * 30 + [[None]]) + rows("b", [[False]] * 30 + [[None]])

    assert "); the 24 unscored episodes could turn this." in one(BETTER, shaky).sentence
    assert "unscored" not in one(BETTER, sure).sentence


def test_the_bootstrap_and_the_smallest_p_stand_beside_the_answer() -> None:
    few = rows("a", [[True]] * 5) + rows("b", [[False]] * 5)

    answer, far = one(BETTER, few), one(BETTER, FAR_APART)

    assert (answer.decision, answer.p, answer.smallest_p) == (Decision.UNDECIDED, 1 / 16, 1 / 16)
    assert far.bca is not None
    assert far.interval is not None
    assert far.bca.low == pytest.approx(far.interval.low, abs=0.1)
    assert one(replace(BETTER, kind=QuestionKind.EQUIVALENCE, margin=0.1), few).smallest_p is None


@ONE_QUICK
@pytest.mark.parametrize("kind", [QuestionKind.EQUIVALENCE, QuestionKind.NON_INFERIORITY])
@pytest.mark.parametrize("spending", Spending)
def test_a_margin_is_answered_at_a_look_too(kind: QuestionKind, spending: Spending) -> None:
    question = replace(BETTER, kind=kind, margin=0.1)
    far_worse = rows("a", [[False]] * 60) + rows("b", [[True]] * 60)
    first = Stage(ended=2, planned=200).with_looks(spending, [2])
    later = Stage(ended=120, planned=200).with_looks(spending, [2, 120])

    early, late = (one(question, far_worse, stage) for stage in (first, later))

    assert late.decision is Decision.NO
    assert late.sentence.startswith("Interim, 120 of 200 episodes, look 2. ")
    assert early.decision is (
        Decision.UNDECIDED if spending is Spending.OBRIEN_FLEMING else Decision.NO
    )
