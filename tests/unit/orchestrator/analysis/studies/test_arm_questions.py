"""Questions about arms: one agent in two of them, or two agents in one; void is never `equal`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import pytest
from support.studies.arm_rows import Played, rows, runs_with_arms

from arena_core.worlds import World
from orchestrator.analysis.stats.paired import Decision, compare_pairs
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import (
    CLEAN,
    Compared,
    EpisodeResult,
    EpisodeTable,
    TaskPair,
)
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.answers import answers_of
from orchestrator.analysis.studies.findings import Answer
from orchestrator.analysis.studies.questions import Question, QuestionKind, Stage, stages_of
from orchestrator.analysis.studies.secondary import Outcome, Secondary, secondary_of
from orchestrator.analysis.studies.sentences import question_title

OFF, ON = World.OFFLINE, World.ONLINE
HARDER: Final = Question(
    id="harder",
    kind=QuestionKind.DIFFERENCE,
    of=Compared.ARMS,
    first="dark",
    second=CLEAN,
    agent="a",
    world=OFF,
    registered=True,
)
ROBUST: Final = replace(HARDER, id="robust", kind=QuestionKind.NON_INFERIORITY, margin=0.05)
IN_DARK: Final = Question(
    id="in-dark",
    kind=QuestionKind.DIFFERENCE,
    of=Compared.AGENTS,
    first="a",
    second="b",
    arm="dark",
    world=OFF,
    registered=True,
)


def one(question: Question, results: Sequence[EpisodeResult], stage: Stage | None = None) -> Answer:
    stages: Mapping[str, Stage] = {} if stage is None else {question.id: stage}
    [answer] = answers_of([question], EpisodeTable(results), alpha=0.05, seed=1, stages=stages)
    return answer


def first_won(number: int, of: int = 20) -> Played:
    return [[place < number] for place in range(of)]


def test_an_arm_in_which_the_same_agent_fails_more_is_harder() -> None:
    answer = one(HARDER, rows("a", first_won(4), "dark") + rows("a", first_won(16)))

    assert answer.decision is Decision.YES
    assert (answer.first_rate, answer.second_rate) == (0.2, 0.8)
    assert answer.effect == pytest.approx(-0.6)
    assert answer.p == pytest.approx(2 / 2**12)  # McNemar: 12 tasks won in the clean arm alone
    assert answer.sentence.startswith(
        "On the same 20 tasks, offline, a solved 20% in arm dark and 80% in the clean arm:"
        " the clean arm is easier than arm dark by 60 points (95% interval 3"
    )
    assert question_title(HARDER) == "dark − clean (a, offline)"


@pytest.mark.parametrize(
    ("dark", "clean", "decision", "short"),
    [
        (200, 200, Decision.YES, "arm dark is at most 5 points worse than the clean arm ("),
        (240, 200, Decision.YES, "arm dark is at most 5 points worse than the clean arm ("),
        (200, 240, Decision.NO, "arm dark is more than 5 points worse than the clean arm ("),
        (200, 210, Decision.YES, "arm dark is at most 5 points worse than the clean arm ("),
        (198, 212, Decision.UNDECIDED, "undecided whether arm dark is at most 5 points worse than"),
    ],
)
def test_a_margin_is_of_what_the_arm_costs_and_not_of_what_it_gives(
    dark: int, clean: int, decision: Decision, short: str
) -> None:
    answer = one(ROBUST, rows("a", first_won(dark, 400), "dark") + rows("a", first_won(clean, 400)))
    assert answer.decision is decision
    assert f": {short}" in answer.sentence


def test_agents_in_an_arm_are_compared_as_they_are_elsewhere_and_said_to_be_in_it() -> None:
    ours, theirs = first_won(16), first_won(4)
    dark = rows("a", ours, "dark") + rows("b", theirs, "dark")
    answer = one(IN_DARK, [*dark, *rows("a", theirs), *rows("b", ours)])
    elsewhere = one(replace(IN_DARK, arm=None), rows("a", ours) + rows("b", theirs))

    assert replace(answer, question=elsewhere.question, sentence=elsewhere.sentence) == elsewhere
    assert answer.sentence.startswith(
        "On the same 20 tasks, in arm dark, offline, a solved 80% and b 20%: a is better by"
    )
    assert question_title(IN_DARK) == "a − b (arm dark, offline)"


def test_a_question_that_names_no_arm_sees_none() -> None:
    clean = rows("a", first_won(16)) + rows("b", first_won(4))
    asked = replace(IN_DARK, arm=None, world=None)
    dark = rows("a", first_won(0), "dark") + rows("b", first_won(20), "dark")
    assert one(asked, clean + dark) == one(asked, clean)


@pytest.mark.parametrize("question", [HARDER, ROBUST])
def test_an_arm_that_is_void_throughout_is_undecided_with_bounds_and_no_p(
    question: Question,
) -> None:
    void = rows("a", [[None]] * 20, "dark")
    answer = one(question, void + rows("a", first_won(16)))

    assert (answer.decision, answer.effect, answer.p) == (Decision.UNDECIDED, None, None)
    assert answer.bounds is not None
    assert (answer.bounds.low, answer.bounds.high) == pytest.approx((-0.8, 0.2))
    assert answer.sentence == (
        "Undecided, offline: no repeat of a task by a is scored in both arm dark and the clean arm."
    )
    assert len(answer.unpaired) == 20


def test_a_question_without_a_p_still_counts_in_the_correction_of_the_others() -> None:
    dark = rows("a", [[None]] * 20, "dark") + rows("b", first_won(4), "dark")
    table = EpisodeTable([*dark, *rows("a", first_won(16)), *rows("b", first_won(16))])
    other = replace(HARDER, id="other", agent="b")
    _, answer = answers_of([HARDER, other], table, alpha=0.05, seed=1)
    assert answer.p is not None
    assert answer.family == 2
    assert answer.p_adjusted == pytest.approx(2 * answer.p)


def test_agents_that_are_void_in_an_arm_alike_are_not_said_to_be_alike() -> None:
    void = rows("a", [[None]] * 20, "dark") + rows("b", [[None]] * 20, "dark")
    answer = one(IN_DARK, void)
    assert answer.decision is Decision.UNDECIDED
    assert answer.sentence.startswith("Undecided, in arm dark, offline: no task has a scored")
    assert answer.bounds == Interval(-1, 1)


def test_a_repeat_that_one_arm_alone_has_scored_counts_in_neither() -> None:
    # The second repeat is hard: lost in the clean arm, void where the agent gave up early.
    dark = rows("a", [[True, None]] * 10 + [[False, True]] * 10, "dark")
    clean = rows("a", [[True, False]] * 10 + [[True, True]] * 10)
    answer = one(HARDER, dark + clean)

    assert (answer.first_rate, answer.second_rate) == (0.75, 1.0)
    assert answer.effect == -0.25  # by tasks alone, the two halves would make it 0
    assert answer.episodes == 2 * (10 + 20)
    # What could have been: the void ones failed or succeeded, and their clean twins are known.
    assert answer.bounds == Interval(-0.25, 0.0)
    assert answer.would_turn is not None
    assert "(arm dark 10, the clean arm 0)" in answer.would_turn


def test_a_robust_agent_says_so_beside_the_void_episodes_that_could_turn_it() -> None:
    played = [[True]] * 160 + [[False]] * 160
    clean = rows("a", [*played, *[[True]] * 80])
    void = one(ROBUST, rows("a", [*played, *[[None]] * 80], "dark") + clean)
    lost = one(ROBUST, rows("a", [*played, *[[False]] * 80], "dark") + clean)
    assert (void.decision, lost.decision) == (Decision.YES, Decision.NO)
    assert void.bounds is not None
    assert (void.bounds.low, void.bounds.high) == pytest.approx((-0.2, 0))
    assert "; the 80 unscored episodes could turn this." in void.sentence
    assert void.would_turn is not None
    assert "“more than 5 points worse” if 40 of arm dark" in void.would_turn


def test_a_repeat_that_one_arm_has_not_played_yet_counts_nowhere() -> None:
    played = rows("a", [[True, False]] * 20, "dark") + rows("a", [[True]] * 20)
    answer = one(HARDER, played, Stage(ended=60, planned=80))
    assert (answer.first_rate, answer.second_rate) == (1, 1)
    assert answer.bounds == Interval(0, 0)
    assert answer.is_interim
    assert answer.p is None
    assert answer.sentence.startswith("Interim, 60 of 80 episodes. On the same 20 tasks, offline,")


def test_pairs_by_repeat_compare_as_pairs_from_which_the_lone_repeats_were_taken() -> None:
    both = [(True, False, None, True), (False, None, True, True), (True, True, True, False)]
    clean = [(True, True, True, None), (True, True, False, True), (None, False, True, True)]
    matched = [
        TaskPair(str(n), str(n), *two, is_matched=True)
        for n, two in enumerate(zip(both, clean, strict=True))
    ]
    cut = [
        TaskPair("0", "0", (True, False), (True, True)),
        TaskPair("1", "1", (False, True, True), (True, False, True)),
        TaskPair("2", "2", (True, True, False), (False, True, True)),
    ]
    found, wanted = compare_pairs(matched, seed=1), compare_pairs(cut, seed=1)
    assert replace(found, bounds=None) == replace(wanted, bounds=None)
    assert found.bounds is not None
    assert wanted.bounds is not None
    assert found.bounds.low < wanted.bounds.low


def test_an_arm_that_an_agent_never_played_leaves_its_tasks_unpaired() -> None:
    both = rows("a", first_won(16)) + rows("b", first_won(16))
    lone = both + rows("a", first_won(4), "dark")
    of_all = one(replace(HARDER, agent=None), lone)
    assert (of_all.first_rate, of_all.second_rate, len(of_all.unpaired)) == (0.2, 0.8, 20)
    for question in (replace(HARDER, agent="b"), IN_DARK):
        answer = one(question, lone)
        assert (answer.decision, answer.effect) == (Decision.UNDECIDED, None)
        assert answer.sentence.startswith("Undecided")


def test_agents_taken_together_are_each_paired_with_itself() -> None:
    clean = rows("a", [[True]] * 10) + rows("b", [[False]] * 10)
    dark = rows("a", [[False]] * 10, "dark") + rows("b", [[True]] * 10, "dark")
    answer = one(replace(HARDER, agent=None), clean + dark)
    assert sorted(answer.differences) == [-1.0] * 10 + [1.0] * 10
    assert answer.tasks == 10


def test_what_a_question_of_arms_compares_is_played_offline_and_is_what_is_planned_of_it() -> None:
    both = rows("a", [[True, True]] * 10) + rows("a", [[True, True]] * 10, world=ON)
    dark = rows("a", [[True, True]] * 10, "dark")
    large = rows("a", [[True, True]] * 10, "large")
    others = rows("b", [[True, True]] * 10) + rows("b", [[True, True]] * 10, "dark")
    played = [*both, *dark, *large, *others]
    runs = runs_with_arms(played)
    for question, planned in (
        (HARDER, 40),
        (replace(HARDER, second="large"), 40),
        (replace(HARDER, agent=None), 80),
        (replace(HARDER, repeats=1), 20),
        (IN_DARK, 40),
        (replace(IN_DARK, arm=None), 40),
        (replace(IN_DARK, suite="another"), 0),
    ):
        [stage] = stages_of([question], EpisodeTable(played), runs).values()
        assert (stage.ended, stage.planned) == (planned, planned), question
    begun = [row for row in played if row.repeat < 1 or row.arm is None]
    assert stages_of([HARDER], EpisodeTable(begun), runs)["harder"].is_interim


def test_a_report_of_arms_names_what_is_uneven_and_pairs_nothing_of_live_sites() -> None:
    clean = rows("a", first_won(16)) + rows("a", first_won(16), world=ON)
    dark = rows("a", [[None]] * 8 + [[True]] * 12, "dark")
    found = analyse([HARDER], EpisodeTable(clean + dark), runs_with_arms(clean + dark), title="t")
    [answer] = found.answers
    assert (answer.tasks, answer.stage.planned) == (12, 40)
    assert len(answer.unpaired) == 8
    said = "\n".join(found.notes)
    assert "different shares of unscored episodes (a [dark] 40%, a 0%)" in said
    assert "Arms were compared for the same agent, paired by task and repeat" in found.methods
    document = found.document()["answers"][0]["question"]
    assert (document["of"], document["first"], document["arm"]) == ("arms", "dark", None)


def test_a_secondary_outcome_of_arms_goes_by_repeats_too_and_says_where() -> None:
    dark = rows("a", [[True, None]] * 10, "dark") + rows("b", [[False, False]] * 10, "dark")
    table = EpisodeTable([*dark, *rows("a", [[True, False]] * 10)])
    asked = [
        Secondary(question=HARDER, outcome=Outcome.COMPLETION),
        Secondary(question=IN_DARK, outcome=Outcome.COMPLETION),
    ]
    of_arms, in_arm = secondary_of(asked, table, {}, confidence=0.95)
    assert (of_arms.first, of_arms.second, of_arms.unpaired) == (1.0, 1.0, 0)
    assert "on the same 10 tasks, a: arm dark 100%, the clean arm 100%" in of_arms.sentence
    assert "on the same 10 tasks, in arm dark: a 100%, b 50%" in in_arm.sentence
