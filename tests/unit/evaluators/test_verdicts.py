from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.runs.make_evidence import (
    ANSWER,
    API,
    DB,
    PAGE,
    URL,
    key_node,
    make_acted,
    make_check,
    make_evidence,
    make_step,
    stop_step,
)

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import ElementEvent, Evidence, Located
from evaluators.verdicts import CheckStatus, Verdict, required_verdicts, verdicts

CLICK = {"by": "element", "event": "click"}
OPENING = make_step(0, "shop:/")


def _verdict(check: Mapping[str, object], evidence: Evidence, value: object = "x") -> Verdict:
    [verdict] = verdicts([make_check(check, value)], evidence)
    return verdict


class TestKeyNodes:
    def test_a_key_node_is_met_at_the_first_step_that_fits(self) -> None:
        evidence = make_evidence(
            OPENING, make_step(1, "shop:/a"), make_step(2, "shop:/b"), make_step(3, "shop:/b")
        )
        [verdict] = verdicts([key_node("shop:/b")], evidence)
        assert (verdict.status, verdict.step) == (CheckStatus.MET, 2)
        assert verdict.reason == "found 'shop:/b' at step 2"

    def test_the_opening_meets_no_key_node(self) -> None:
        [verdict] = verdicts([key_node("shop:/")], make_evidence(OPENING, stop_step(1)))
        assert verdict.status is CheckStatus.UNMET
        [verdict] = verdicts([key_node("shop:/")], make_evidence(OPENING, make_step(1, "shop:/")))
        assert verdict.step == 1

    def test_a_page_that_was_only_passed_through_counts(self) -> None:
        evidence = make_evidence(OPENING, make_step(1, "shop:/login", "shop:/account"))
        [verdict] = verdicts([key_node("shop:/login")], evidence)
        assert verdict.status is CheckStatus.MET

    def test_what_was_met_stays_met(self) -> None:
        evidence = make_evidence(OPENING, make_step(1, "shop:/a"), make_step(2, "shop:/"))
        [verdict] = verdicts([key_node("shop:/a")], evidence)
        assert verdict.status is CheckStatus.MET

    def test_key_nodes_are_met_in_any_order(self) -> None:
        evidence = make_evidence(OPENING, make_step(1, "shop:/b"), make_step(2, "shop:/a"))
        nodes = [key_node("shop:/a", name="a"), key_node("shop:/b", name="b")]
        assert [verdict.step for verdict in verdicts(nodes, evidence)] == [2, 1]

    def test_pieces_found_at_different_steps_do_not_add_up(self) -> None:
        node = key_node(["red", "kettle"], locate=CLICK, how="include")
        evidence = make_evidence(
            OPENING,
            make_step(1, acted=[make_acted(name="red pan")]),
            make_step(2, acted=[make_acted(name="kettle")]),
        )
        [verdict] = verdicts([node], evidence)
        assert verdict.status is CheckStatus.UNMET

    def test_a_step_that_could_not_be_looked_at_leaves_an_unmet_node_unknown(self) -> None:
        seen = make_step(1, located=[Located(check="node", values=("Teapot",))])
        blind = make_step(2, located=[Located(check="node", error="the page was gone")])
        met = make_step(3, located=[Located(check="node", values=("Kettle",))])
        node = key_node("Kettle", locate=PAGE)
        [unknown] = verdicts([node], make_evidence(OPENING, seen, blind))
        assert unknown.status is CheckStatus.UNKNOWN
        assert unknown.reason == "could not be looked at: the page was gone"
        [known] = verdicts([node], make_evidence(OPENING, seen, blind, met))
        assert (known.status, known.step) == (CheckStatus.MET, 3)

    @given(st.permutations(["shop:/a", "shop:/b", "wiki:/c", "shop:/d"]))
    def test_the_order_of_steps_changes_no_standing(self, pages: list[str]) -> None:
        steps = [make_step(number, page) for number, page in enumerate(pages, start=1)]
        nodes = [key_node("shop:/b", name="visited"), key_node("shop:/x", name="not")]
        visited, not_visited = verdicts(nodes, make_evidence(OPENING, *steps))
        assert (visited.status, visited.step) == (CheckStatus.MET, pages.index("shop:/b") + 1)
        assert not_visited.status is CheckStatus.UNMET

    @given(st.lists(st.sampled_from(["shop:/a", "shop:/b", None]), max_size=6))
    def test_more_steps_never_unmeet_a_key_node(self, pages: list[str | None]) -> None:
        steps = [make_step(number, page) for number, page in enumerate(pages, start=2)]
        evidence = make_evidence(OPENING, make_step(1, "shop:/target"), *steps)
        [verdict] = verdicts([key_node("shop:/target")], evidence)
        assert verdict.step == 1


class TestEndChecks:
    def test_an_end_check_is_judged_by_what_was_found_last(self) -> None:
        evidence = make_evidence(located=[Located(check="check", values=("2 | open",))])
        assert _verdict(DB, evidence, "2 | open").status is CheckStatus.MET
        assert _verdict(DB, evidence, "3 | open").status is CheckStatus.UNMET

    def test_what_could_not_be_looked_at_is_neither_met_nor_unmet(self) -> None:
        evidence = make_evidence(located=[Located(check="check", error="no answer in 10 s")])
        verdict = _verdict(DB, evidence, [])
        assert verdict.status is CheckStatus.UNKNOWN
        assert verdict.reason == "could not be looked at: no answer in 10 s"

    def test_a_check_without_a_record_is_unknown(self) -> None:
        assert _verdict(DB, make_evidence()).status is CheckStatus.UNKNOWN

    def test_a_query_that_found_nothing_is_unmet(self) -> None:
        verdict = _verdict(DB, make_evidence(located=[Located(check="check")]))
        assert verdict.status is CheckStatus.UNMET

    def test_no_answer_is_unmet_not_unknown(self) -> None:
        assert _verdict(ANSWER, make_evidence()).status is CheckStatus.UNMET


def test_only_checks_of_the_evidences_world_are_judged() -> None:
    checks = [
        make_check(ANSWER, "x", name="both"),
        make_check(ANSWER, "x", name="offline", worlds=[World.OFFLINE]),
        make_check(ANSWER, "x", name="online", worlds=[World.ONLINE]),
    ]
    assert [v.check for v in verdicts(checks, make_evidence())] == ["both", "offline"]
    online = make_evidence(world=World.ONLINE)
    assert [v.check for v in verdicts(checks, online)] == ["both", "online"]
    assert [v.check for v in required_verdicts(checks, online)] == ["both", "online"]


def test_each_world_is_judged_by_its_own_value() -> None:
    check = make_check(ANSWER, {"offline": "49", "online": "55"})
    for world, expected in ((World.OFFLINE, "met"), (World.ONLINE, "unmet")):
        [verdict] = verdicts([check], make_evidence(answer="49", world=world))
        assert verdict.status == expected


def test_requirements_are_judged_by_what_was_found_before_the_start() -> None:
    check = make_check(PAGE, "Kettle")
    evidence = make_evidence(
        required=[Located(check="check", values=("Gone",))],
        located=[Located(check="check", values=("Kettle",))],
    )
    [verdict] = required_verdicts([check], evidence)
    assert verdict.status is CheckStatus.UNMET
    assert verdict.reason == "found 'Gone', wanted 'Kettle'"


@pytest.mark.parametrize(
    ("locate", "reason"),
    [
        (ANSWER, "the agent gave no answer, wanted 'x'"),
        (URL, "found no page of a site, wanted 'x'"),
        ({**URL, "part": "fragment"}, "no fragment in the URL of a page of a site, wanted 'x'"),
        (
            {**URL, "part": "query", "key": "q", "page": "shop:/search"},
            "no 'q' in the query of shop:/search, wanted 'x'",
        ),
        (PAGE, "nothing on the page fits the selector, wanted 'x'"),
        (DB, "the query found no row in shop's database, wanted 'x'"),
        (API, "nothing found in shop:/api/basket/, wanted 'x'"),
    ],
)
def test_finding_nothing_is_said_in_the_locators_words(
    locate: dict[str, object], reason: str
) -> None:
    assert _verdict(locate, make_evidence(located=[Located(check="check")])).reason == reason


@pytest.mark.parametrize(
    ("locate", "reason"),
    [
        (URL, "no visit to 'x'; visited 'shop:/a', 'shop:/b'"),
        ({**URL, "part": "query", "key": "q"}, "no step found 'x'; found '1'"),
        (
            {**CLICK, "role": "link", "named": "Buy", "page": "shop:/a"},
            "no click of link named 'Buy' on shop:/a at any step, wanted 'x'",
        ),
        (CLICK, "no step found 'x'; found 'Add to basket'"),
        ({**CLICK, "event": "submit"}, "no submit of an element at any step, wanted 'x'"),
    ],
)
def test_a_key_node_that_no_step_met_says_what_the_steps_did(
    locate: dict[str, object], reason: str
) -> None:
    evidence = make_evidence(
        OPENING,
        make_step(1, "shop:/a"),
        make_step(2, "shop:/b?q=1", acted=[make_acted(), make_acted(ElementEvent.CHANGE)]),
        make_step(3, "shop:/a"),
    )
    [verdict] = verdicts([key_node("x", locate=locate)], evidence)
    assert verdict.reason == reason


def test_an_agent_that_went_nowhere_is_said_to_have_gone_nowhere() -> None:
    [verdict] = verdicts([key_node("shop:/a")], make_evidence(OPENING, stop_step(1)))
    assert verdict.reason == "no visit to 'shop:/a'; visited no page of a site"


class TestAlternatives:
    NODE = Check.model_validate(
        {
            "name": "node",
            "when": "step",
            "locate": {"by": "url"},
            "match": {"how": "exact", "value": "shop:/a"},
            "any_of": [
                {"locate": {"by": "url"}, "match": {"how": "exact", "value": "shop:/b"}},
                {
                    "locate": {"by": "page", "selector": "h1"},
                    "match": {"how": "exact", "value": "B"},
                },
            ],
        }
    )

    def test_any_of_them_meets_the_check_and_the_earliest_step_counts(self) -> None:
        evidence = make_evidence(OPENING, make_step(1, "shop:/b"), make_step(2, "shop:/a"))
        [verdict] = verdicts([self.NODE], evidence)
        assert (verdict.check, verdict.status, verdict.step) == ("node", CheckStatus.MET, 1)

    def test_what_was_found_for_an_alternative_has_a_name_of_its_own(self) -> None:
        seen = make_step(1, "shop:/x", located=[Located(check="node/3", values=("B",))])
        [verdict] = verdicts([self.NODE], make_evidence(OPENING, seen))
        assert verdict.status is CheckStatus.MET

    def test_where_none_is_met_the_reason_names_them_all(self) -> None:
        step = make_step(1, "shop:/x", located=[Located(check="node/3", values=("C",))])
        [verdict] = verdicts([self.NODE], make_evidence(OPENING, step))
        assert verdict.status is CheckStatus.UNMET
        assert verdict.reason.count("nor by another way") == 2

    def test_one_that_could_not_be_looked_at_leaves_the_check_open(self) -> None:
        [verdict] = verdicts([self.NODE], make_evidence(OPENING, make_step(1, "shop:/x")))
        assert verdict.status is CheckStatus.UNKNOWN

    def test_end_checks_and_requirements_have_alternatives_too(self) -> None:
        check = Check.model_validate(
            {
                "name": "row",
                "when": "end",
                "locate": dict(DB),
                "match": {"how": "exact", "value": "1"},
                "any_of": [{"locate": dict(PAGE), "match": {"how": "exact", "value": "one"}}],
            }
        )
        found = [Located(check="row", values=("2",)), Located(check="row/2", values=("one",))]
        [end] = verdicts([check], make_evidence(located=found))
        [before] = required_verdicts([check], make_evidence(required=found))
        assert (end.status, before.status) == (CheckStatus.MET, CheckStatus.MET)


def test_only_a_key_node_says_that_it_is_required() -> None:
    said = make_check(ANSWER, "yes").model_dump(mode="json")
    with pytest.raises(ValidationError, match="an end check always does"):
        Check.model_validate({**said, "required": True})
