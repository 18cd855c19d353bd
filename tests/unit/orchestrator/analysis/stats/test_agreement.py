from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs.make_evidence import ANSWER, PAGE, key_node, make_check, make_evidence, make_step
from support.studies.stats_rows import Play, played

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import Located, UnscoredReason
from evaluators.scores import score
from evaluators.verdicts import CheckStatus
from orchestrator.analysis.stats.agreement import (
    Agreement,
    cohen_kappa,
    compare,
    disagreements,
    mcnemar_exact,
)
from orchestrator.analysis.stats.rates import rate_over
from orchestrator.analysis.stats.results import Compared

COUNTS = st.integers(0, 60)
Plays = Mapping[str, Iterable[Play]]


def compared(
    offline: Plays, online: Plays, templates: Mapping[str, str] | None = None
) -> Agreement:
    sides = [
        played(plays, world=world, templates=templates)
        for world, plays in zip(World, (offline, online), strict=True)
    ]
    return compare(sides[0].paired_with(sides[1], Compared.WORLDS))


class TestTable:
    def test_every_task_falls_into_one_cell(self) -> None:
        won, lost = Play(), Play(won=False)
        gone = Play(unscored=UnscoredReason.DRIFTED)
        offline = {"a": [won], "b": [won], "c": [lost], "d": [lost], "e": [won], "f": [won]}
        online = {"a": [won], "b": [lost], "c": [won], "d": [lost], "e": [gone], "g": [won]}
        table = compared(offline, online)
        assert (table.both, table.first_only, table.second_only, table.neither) == (
            ("a",),
            ("b",),
            ("c",),
            ("d",),
        )
        assert table.unpaired == ("e", "f", "g")
        assert table.paired == 4
        same = [("a", 1.0), ("b", 0.0), ("c", 0.0), ("d", 1.0)]
        assert table.rate == rate_over(same)

    def test_tasks_of_one_template_that_agree_tell_less_than_as_many_of_several(
        self,
    ) -> None:
        won, lost = Play(), Play(won=False)
        offline = {str(task): [won] for task in range(20)}
        online = {str(task): [won if task < 10 else lost] for task in range(20)}
        alone = compared(offline, online).rate
        of_four = compared(offline, online, {name: str(int(name) // 5) for name in offline})
        of_one = compared(offline, online, dict.fromkeys(offline, "one")).rate

        assert alone.interval is not None
        assert of_four.rate.interval is not None
        assert of_four.rate.interval.low < alone.interval.low - 0.1
        assert (of_one.value, of_one.interval) == (0.5, None)

    def test_repeats_vote_and_a_tie_is_set_aside(self) -> None:
        won, lost = Play(), Play(won=False)
        gone = Play(unscored=UnscoredReason.INFRA)
        table = compared(
            {"most": [won, won, lost], "tie": [won, lost], "rest": [gone, gone, lost]},
            {"most": [won], "tie": [won], "rest": [lost]},
        )
        assert (table.both, table.split, table.neither) == (("most",), ("tie",), ("rest",))
        assert table.paired == 2

    def test_nothing_in_common_says_nothing(self) -> None:
        table = compared({"a": [Play()]}, {})
        assert (table.paired, table.rate.value, table.p_value, table.kappa) == (0, None, 1.0, None)


class TestMcNemar:
    @pytest.mark.parametrize(
        ("first_only", "second_only", "p_value"),
        [
            (0, 0, 1.0),
            (0, 1, 1.0),
            (0, 5, 2 / 32),
            (0, 6, 2 / 64),
            (1, 5, 2 * (1 + 6) / 64),
            (2, 8, 2 * (1 + 10 + 45) / 1024),
            (3, 3, 1.0),
            (10, 10, 1.0),
        ],
    )
    def test_values_counted_by_hand(
        self, first_only: int, second_only: int, p_value: float
    ) -> None:
        assert mcnemar_exact(first_only, second_only) == pytest.approx(p_value)
        assert mcnemar_exact(second_only, first_only) == pytest.approx(p_value)

    @given(COUNTS, COUNTS)
    def test_it_is_a_probability_and_falls_as_the_split_grows_uneven(
        self, first_only: int, second_only: int
    ) -> None:
        p_value = mcnemar_exact(first_only, second_only)
        assert 0 < p_value <= 1
        fewer, more = sorted((first_only, second_only))
        if fewer:
            assert mcnemar_exact(fewer - 1, more + 1) < p_value or p_value == 1.0

    def test_thousands_of_tasks_do_not_overflow(self) -> None:
        assert mcnemar_exact(0, 5000) == 0.0
        assert mcnemar_exact(2500, 2500) == 1.0


class TestKappa:
    @pytest.mark.parametrize(
        ("table", "kappa"),
        [
            ((20, 5, 10, 15), 0.4),
            ((45, 15, 25, 15), 0.1304),
            ((25, 35, 5, 35), 0.2593),
            ((10, 0, 0, 10), 1.0),
            ((0, 10, 10, 0), -1.0),
            ((25, 25, 25, 25), 0.0),
        ],
    )
    def test_values_of_the_textbooks(self, table: tuple[int, int, int, int], kappa: float) -> None:
        """The first three are the worked examples of Wikipedia's article on Cohen's kappa."""
        assert cohen_kappa(*table) == pytest.approx(kappa, abs=5e-5)

    @pytest.mark.parametrize("table", [(0, 0, 0, 0), (7, 0, 0, 0), (0, 0, 0, 7)])
    def test_it_is_undefined_where_all_answers_are_one(
        self, table: tuple[int, int, int, int]
    ) -> None:
        assert cohen_kappa(*table) is None

    @given(COUNTS, COUNTS, COUNTS, COUNTS)
    def test_it_never_exceeds_one_and_swapping_worlds_changes_nothing(
        self, both: int, first: int, second: int, neither: int
    ) -> None:
        kappa = cohen_kappa(both, first, second, neither)
        assert kappa == cohen_kappa(both, second, first, neither)
        assert kappa is None or -1 <= kappa <= 1
        assert kappa != 1 or first == second == 0


class TestDisagreements:
    def test_the_checks_at_which_the_worlds_part_are_named_with_both_reasons(self) -> None:
        checks: list[Check] = [
            key_node("shop:/", name="home"),
            key_node("shop:/reviews", name="reviews"),
            make_check(ANSWER, "5", name="said"),
            make_check(PAGE, "x", name="blind"),
            make_check(ANSWER, "5", name="offline-only", worlds=[World.OFFLINE]),
        ]
        offline = score(
            checks,
            make_evidence(
                make_step(1, "shop:/", "shop:/reviews"),
                answer="5",
                located=[Located(check="blind", values=("x",))],
            ),
        )
        online = score(
            checks, make_evidence(make_step(1, "shop:/"), answer="5", world=World.ONLINE)
        )
        [divergence] = disagreements(offline, online)
        assert divergence.check == "reviews"
        assert (divergence.first, divergence.second) == (CheckStatus.MET, CheckStatus.UNMET)
        assert divergence.first_reason == "found 'shop:/reviews' at step 1"
        assert divergence.second_reason == "no visit to 'shop:/reviews'; visited 'shop:/'"
