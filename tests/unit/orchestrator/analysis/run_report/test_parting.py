"""Where two worlds' episodes part, and why: a pair of episodes for each cause."""

from __future__ import annotations

import json

import pytest
from support.runs.parted_episodes import KETTLE, START, acted, clicked, episode, opened, said, step

from arena_core.actions import Click, Goto, Type
from evaluators.evidence import Ended, Located, RequestNote, UnscoredReason
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.parting import (
    Parting,
    PartingCause,
    Repeat,
    Side,
    causes,
    parting,
    partings,
)
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.cli.console import Console
from orchestrator.cli.runs.terminal_report import show_run


def found(first: Side, second: Side, *repeats: list[tuple[str, ...]]) -> Parting:
    at = parting(first, second, [[Repeat(path) for path in mine] for mine in repeats])
    assert at is not None
    return at


def test_the_same_element_has_another_id_and_path_in_the_other_world() -> None:
    second = step(Click(element=40), KETTLE, acted=(acted("Kettle", path="main > a"),))
    assert parting(episode(opened(), clicked()), episode(opened(), second)) is None


@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_a_page_that_one_world_alone_refuses_is_blocked(status: int) -> None:
    at = found(episode(opened(), clicked()), episode(opened(), clicked(status=status, page=START)))
    assert (at.step, at.cause) == (1, PartingCause.BLOCKED)
    assert at.because == f"only online the page answers {status}"


def test_a_page_that_both_worlds_refuse_is_not_blocked() -> None:
    first, second = clicked(status=403), clicked(status=403, page="shop:/other")
    assert found(episode(opened(), first), episode(opened(), second)).cause is PartingCause.LAYOUT


def test_a_blocked_episode_is_blocked_wherever_it_ends() -> None:
    at = found(
        episode(opened(), clicked()), episode(opened(), reason=UnscoredReason.BLOCKED, ended=None)
    )
    assert at.cause is PartingCause.BLOCKED
    assert "only online: a wall asks for a captcha" in at.because


def test_a_write_that_arena_refuses_in_one_world_is_policy() -> None:
    note = RequestNote(
        method="POST", url="http://shop/x", site="shop", may_write=True, refused="reading only"
    )
    second = clicked(page=START, notes=(note,))
    at = found(episode(opened(), clicked()), episode(opened(), second))
    assert at.cause is PartingCause.POLICY
    assert at.because == "only online a request was refused: reading only"


def test_a_tracker_that_is_refused_in_one_world_explains_nothing() -> None:
    note = RequestNote(
        method="GET", url="http://tracker.test/x", site=None, may_write=False, refused="unknown"
    )
    second = clicked(page="shop:/moved", notes=(note,))
    assert (
        found(episode(opened(), clicked()), episode(opened(), second)).cause is PartingCause.LAYOUT
    )


def test_a_page_that_is_late_in_one_world_is_slower() -> None:
    second = clicked(page=START, settled=False)
    at = found(episode(opened(), clicked()), episode(opened(), second))
    assert (at.step, at.cause) == (1, PartingCause.SLOWER)


def test_an_episode_whose_time_runs_out_in_one_world_is_slower() -> None:
    second = episode(opened(), ended=Ended.DEADLINE)
    at = found(episode(opened(), clicked()), second)
    assert (at.cause, at.because) == (PartingCause.SLOWER, "only online the time ran out")


def test_an_action_that_cannot_be_done_in_one_world_is_layout() -> None:
    failed = step(Click(element=3), START, error="element 3 is covered by a dialog")
    at = found(episode(opened(), clicked()), episode(opened(), failed))
    assert at.cause is PartingCause.LAYOUT
    assert at.because.endswith("cannot be done online: element 3 is covered by a dialog")


def test_the_same_action_that_leads_elsewhere_is_layout_and_says_where() -> None:
    at = found(
        episode(opened(), clicked()), episode(opened(), clicked(page="shop:/gone", status=404))
    )
    assert at.cause is PartingCause.LAYOUT
    assert "“shop:/kettle” offline and “shop:/gone (404)” online" in at.because


def test_what_the_agent_types_otherwise_is_not_the_pages_doing() -> None:
    first = step(Type(element=1, text="kettle", submit=True), "shop:/search")
    second = step(Type(element=1, text="pan", submit=True), "shop:/search?q=pan")
    at = found(episode(opened(), first), episode(opened(), second))
    assert at.cause is PartingCause.UNKNOWN
    assert at.because.endswith("with one repeat, chance cannot be ruled out")


def test_what_a_check_found_otherwise_before_the_agent_parts_is_content() -> None:
    prices = [Located(check="price", values=(price,)) for price in ("39.99", "44.99")]
    first, second = (
        episode(opened(), clicked(located=(price,)), said(price.values[0])) for price in prices
    )
    at = found(first, second)
    assert (at.step, at.cause) == (2, PartingCause.CONTENT)
    assert "check price found “39.99” offline and “44.99” online" in at.because
    assert "“answered: 39.99” offline" in at.because


def test_repeats_of_one_world_that_part_as_early_are_chance() -> None:
    first = episode(opened(title="Shop"), clicked())
    second = episode(opened(title="The shop"), clicked("Pan", "shop:/pan"))
    paths = ("click http://a", "stop http://a")
    other = ("click http://b", "stop http://b")
    assert found(first, second, [paths, paths], [paths, other]).cause is PartingCause.CHANCE
    assert found(first, second, [paths], [other]).cause is PartingCause.CONTENT
    later = ("click http://a", "stop http://c")
    assert found(first, second, [paths, later], [other, other]).cause is PartingCause.CONTENT


def test_repeats_of_one_world_that_end_differently_are_chance_however_alike_they_went() -> None:
    prices = [Located(check="answer", values=(price,)) for price in ("39.99", "nothing")]
    first, second = (
        episode(opened(), clicked(), said(one.values[0]), located=(one,)) for one in prices
    )
    path = ("click http://a", "stop http://a")
    sure, unsure = (
        [Repeat(path, success=True)] * 3,
        [Repeat(path, won) for won in (False, True, False)],
    )
    unscored = [Repeat(path, won) for won in (False, None, False)]
    lost = [Repeat(path, success=False)] * 3

    def cause(*repeats: list[Repeat]) -> PartingCause | None:
        at = parting(first, second, repeats)
        return None if at is None else at.cause

    assert cause(sure, unsure) is PartingCause.CHANCE
    assert cause(sure, lost) is PartingCause.UNKNOWN
    assert cause(sure, unscored) is PartingCause.UNKNOWN
    same = [episode(opened(), clicked(), located=(one,)) for one in prices]
    at = parting(same[0], same[1], [sure, unsure])
    assert at is not None
    assert (at.cause, at.because.endswith("online end differently")) == (PartingCause.CHANCE, True)
    alike = parting(same[0], same[1], [sure, lost])
    assert alike is not None
    assert alike.cause is PartingCause.CONTENT


def test_an_end_that_differs_after_the_same_steps_is_content() -> None:
    ends = [(Located(check="row", values=(value,)),) for value in ("1", "2")]
    first, second = (episode(opened(), clicked(), located=located) for located in ends)
    at = found(first, second)
    assert (at.step, at.cause) == (1, PartingCause.CONTENT)
    assert parting(first, first) is None


def test_an_address_that_both_worlds_know_by_one_logical_name_is_the_same() -> None:
    first, second = (
        step(Goto(url=url), KETTLE).model_copy(update={"url": url})
        for url in ("http://shop.arena.test/kettle", "https://shop.example/kettle")
    )
    assert parting(episode(opened(), first), episode(opened(), second)) is None


def test_a_detour_from_which_both_come_back_is_no_parting() -> None:
    prices = [(Located(check="price", values=(value,)),) for value in ("39.99", "34.25")]
    banner = clicked("Accept all", START)
    first = episode(opened(), clicked(), said("39.99"), located=prices[0])
    second = episode(opened(), banner, clicked(), said("39.99"), located=prices[1])
    at = found(first, second)
    assert (at.step, at.cause) == (2, PartingCause.CONTENT)
    assert at.because == "check price found “39.99” offline and “34.25” online"
    assert found(first, episode(opened(), banner, clicked(), said("39.99"))).step == 1


def test_what_was_refused_on_a_detour_is_why_though_both_come_back() -> None:
    note = RequestNote(
        method="POST", url="http://shop/x", site="shop", may_write=True, refused="reading only"
    )
    refused = clicked("Put into basket", notes=(note,), error="nothing happened")
    first = episode(opened(), clicked("Put into basket"), said("done"))
    second = episode(opened(), refused, said("done"))
    at = found(first, second)
    assert (at.step, at.cause) == (1, PartingCause.POLICY)


def test_a_start_that_has_drifted_is_content() -> None:
    second = episode(opened(), reason=UnscoredReason.DRIFTED, ended=Ended.NOT_STARTED)
    at = found(episode(opened(), clicked()), second)
    assert (at.step, at.cause) == (1, PartingCause.CONTENT)


def test_a_report_names_where_its_worlds_part(report: RunReport) -> None:
    found = partings(report)
    assert set(found) == {"gone", "hostile", "parts"}
    assert found["gone"].cause is PartingCause.CONTENT
    assert found["parts"].cause is PartingCause.LAYOUT
    assert sum(causes(found.values()).values()) == len(found)
    assert "parts at" in render_html(report)


def test_the_terminal_counts_partings_by_cause_as_its_document_does(
    report: RunReport, capsys: pytest.CaptureFixture[str]
) -> None:
    show_run(report, Console())
    show_run(report, Console(as_json=True))
    said, document = capsys.readouterr().out.split("{", 1)
    assert "where the worlds part: layout 1, content 1, unknown 1" in said
    told = json.loads("{" + document)
    assert told["parts"] == {"layout": 1, "content": 1, "unknown": 1}
    assert sum(one["parts"] is not None for one in told["tasks"]) == 3
