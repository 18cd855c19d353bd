"""What a play shows of its task: valid only what was played and met everything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.canary.plays import (
    CLICKED,
    GOAL,
    KETTLE,
    OPENED,
    SAMOVAR,
    START,
    STOPPED,
    gave_up,
    make_evidence,
    make_play,
    make_step,
    make_task,
    right_play,
)

from arena_core.actions import Click
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.evidence import Ended, EpisodeFault, UnscoredReason
from orchestrator.authoring.canary.findings import CanaryStatus, finding_of, not_played
from orchestrator.episode.page_view import PageView
from orchestrator.episode.walls import WallKind

CHALLENGE = PageView(START, "Just a moment...", 403, '[1] heading "en.wikipedia.org"')
RENAMED = replace(KETTLE, tree=KETTLE.tree.replace('"Samovar"', '"Samovars"'))
NAMED_ELSEWHERE = replace(KETTLE, tree='[1] main\n  [3] link "Teapot"\n[9] button "Samovar"')
MANY = "\n".join(f'[{at}] link "Thing {at}"' for at in range(100, 120))


def fault(reason: UnscoredReason, **more: str) -> EpisodeFault:
    return EpisodeFault(reason=reason, message="it broke off", **more)


def test_a_play_that_met_every_check_is_valid() -> None:
    found = finding_of(right_play())
    assert found.status is CanaryStatus.VALID
    assert found.answer_seen is True
    assert [(one.check, one.status, one.step) for one in found.nodes] == [
        ("open", "met", 1),
        ("parts", "met", None),
    ]
    assert found.kinds == (
        *("start page", "reference click", "key node url exact", "end check answer answer"),
        "answer on the page",
    )


def test_what_nobody_played_is_unknown() -> None:
    found = not_played(make_task(reference=None), World.ONLINE, "it has no reference")
    assert (found.status, found.because) == (CanaryStatus.UNKNOWN, "it has no reference")


def test_a_missing_element_is_drift_at_its_action_with_the_nearest_there_is() -> None:
    found = finding_of(gave_up(page=RENAMED))
    assert found.status is CanaryStatus.DRIFTED
    assert found.drift is not None
    assert (found.drift.at, found.drift.kind) == ("reference action 1", "reference click")
    assert found.drift.expected == "click link 'Samovar'"
    assert START in found.drift.found
    nearest = found.drift.nearest[0]
    assert (nearest.role, nearest.name, nearest.path) == ("link", "Samovars", ("main",))
    assert nearest.likeness > 0.9
    assert "Samovars" in found.because


def test_the_nearest_counts_what_the_element_was_inside_when_it_was_last_there() -> None:
    page = replace(
        KETTLE, tree='[1] banner\n  [2] link "Samovar A"\n[3] main\n  [4] link "Samovar B"'
    )
    found = finding_of(gave_up(page=page, then=(KETTLE, SAMOVAR)))
    assert found.drift is not None
    assert [one.name for one in found.drift.nearest] == ["Samovar B", "Samovar A"]


def test_a_name_under_another_role_is_offered_too() -> None:
    drift = finding_of(gave_up(page=NAMED_ELSEWHERE)).drift
    assert drift is not None
    assert (drift.nearest[0].role, drift.nearest[0].name) == ("button", "Samovar")


def test_an_action_that_could_not_be_done_is_named_by_its_own_number() -> None:
    refused = make_step(1, START, action=Click(element=3), error="element [3] is disabled")
    evidence = make_evidence(OPENED, refused, ended=Ended.AGENT_GAVE_UP, answer=None)
    drift = finding_of(make_play(evidence, KETTLE, KETTLE)).drift
    assert drift is not None
    assert (drift.at, drift.found) == ("reference action 1", "element [3] is disabled")


def test_actions_of_the_other_world_keep_their_numbers() -> None:
    banner = {"do": "click", "only": "online", "role": "button", "name": "Accept all"}
    link = {"do": "click", "role": "link", "name": "Samovar"}
    task = make_task(reference=[banner, link, {"do": "stop", "answer": "47"}])
    drift = finding_of(gave_up(page=RENAMED, world=World.OFFLINE, task=task)).drift
    assert drift is not None
    assert drift.at == "reference action 2"


def test_a_check_that_is_not_met_is_drift_with_what_was_expected_and_found() -> None:
    elsewhere = make_step(1, "https://en.wikipedia.org/wiki/Samowar", action=Click(element=3))
    evidence = make_evidence(OPENED, elsewhere, STOPPED.model_copy(update={"visits": ()}))
    found = finding_of(make_play(evidence, KETTLE, SAMOVAR))
    assert found.status is CanaryStatus.DRIFTED
    assert found.drift is not None
    assert found.drift.at == "check 'open'"
    assert found.drift.kind == "key node url exact"
    assert "wiki:/article/Samovar" in found.drift.expected
    assert "Samowar" in found.drift.found


def test_a_key_node_that_is_not_met_is_drift_though_the_task_succeeds() -> None:
    evidence = make_evidence(OPENED, STOPPED.model_copy(update={"visits": (), "index": 1}))
    play = make_play(evidence, KETTLE)
    assert str(play.score.outcome) == "success"
    assert finding_of(play).status is CanaryStatus.DRIFTED


def test_a_wall_in_the_way_is_no_drift() -> None:
    found = finding_of(gave_up(page=CHALLENGE))
    assert found.status is CanaryStatus.BLOCKED
    assert found.wall is not None
    assert found.wall.kind is WallKind.BOT_WALL
    assert found.drift is None


def test_a_valid_play_is_never_blocked_by_what_its_last_page_says() -> None:
    play = replace(right_play(), pages=(KETTLE, SAMOVAR, CHALLENGE))
    assert finding_of(play).status is CanaryStatus.VALID


def test_a_drift_is_not_blocked_because_a_footer_says_captcha() -> None:
    page = replace(
        RENAMED,
        tree=f'{RENAMED.tree}\n[8] paragraph "Protected by reCAPTCHA; access denied to robots"',
    )
    assert finding_of(gave_up(page=page)).status is CanaryStatus.DRIFTED


def test_a_replica_has_no_walls() -> None:
    assert finding_of(gave_up(page=CHALLENGE, world=World.OFFLINE)).status is CanaryStatus.DRIFTED


def test_a_banner_over_what_was_to_be_clicked_is_a_consent_wall() -> None:
    page = replace(KETTLE, tree=f'{MANY}\n[7] dialog "Cookies"\n  [8] button "Accept all"')
    covered = make_step(
        1, START, action=Click(element=3), error='element [3] is covered by dialog "Cookies"'
    )
    evidence = make_evidence(OPENED, covered, ended=Ended.AGENT_GAVE_UP, answer=None)
    found = finding_of(make_play(evidence, page, page))
    assert found.wall is not None
    assert found.wall.kind is WallKind.CONSENT_WALL
    missing = finding_of(gave_up(page=page))
    assert missing.status is CanaryStatus.DRIFTED


STARTS = [
    (UnscoredReason.BLOCKED, 403, CanaryStatus.BLOCKED),
    (UnscoredReason.BLOCKED, 429, CanaryStatus.BLOCKED),
    (UnscoredReason.BLOCKED, 503, CanaryStatus.UNREACHABLE),
    (UnscoredReason.DRIFTED, 404, CanaryStatus.DRIFTED),
    (UnscoredReason.NOT_FOUND_AT_START, 500, CanaryStatus.UNREACHABLE),
    (UnscoredReason.NOT_FOUND_AT_START, 400, CanaryStatus.DRIFTED),
    (UnscoredReason.INFRA, 200, CanaryStatus.UNKNOWN),
    (UnscoredReason.CHECK_ERROR, 200, CanaryStatus.UNKNOWN),
]


@pytest.mark.parametrize(("reason", "status", "expected"), STARTS)
def test_what_a_start_page_answers_says_what_it_is(
    reason: UnscoredReason, status: int, expected: CanaryStatus
) -> None:
    page = PageView(START, "x", status, '[1] heading "x"')
    evidence = make_evidence(make_step(0, START, status=status), ended=None, fault=fault(reason))
    assert finding_of(make_play(evidence, page)).status is expected


def test_a_replica_that_fails_is_arenas_own_fault_and_nothing_of_the_task() -> None:
    evidence = make_evidence(
        make_step(0, START, status=500),
        world=World.OFFLINE,
        ended=None,
        fault=fault(UnscoredReason.NOT_FOUND_AT_START),
    )
    assert finding_of(make_play(evidence)).status is CanaryStatus.UNKNOWN


def test_a_live_origin_that_does_not_answer_is_unreachable_and_any_other_fault_is_not() -> None:
    silent = make_evidence(ended=None, fault=fault(UnscoredReason.INFRA, unreachable="wiki"))
    assert finding_of(make_play(silent)).status is CanaryStatus.UNREACHABLE
    ours = make_evidence(ended=None, fault=fault(UnscoredReason.INFRA))
    assert finding_of(make_play(ours)).status is CanaryStatus.UNKNOWN


def test_a_bug_of_arenas_is_said_to_be_one() -> None:
    evidence = make_evidence(ended=None, fault=fault(UnscoredReason.INTERNAL))
    found = finding_of(make_play(evidence))
    assert (found.status, found.is_bug) == (CanaryStatus.UNKNOWN, True)


@pytest.mark.parametrize("ended", [Ended.DEADLINE, Ended.STEP_LIMIT])
def test_a_reference_that_ran_out_of_time_or_steps_shows_nothing(ended: Ended) -> None:
    evidence = make_evidence(OPENED, CLICKED, ended=ended, answer=None)
    assert finding_of(make_play(evidence, KETTLE, SAMOVAR)).status is CanaryStatus.UNKNOWN


def test_an_error_of_the_live_site_in_the_middle_is_no_drift() -> None:
    broken = make_step(1, GOAL, action=Click(element=3), status=502)
    evidence = make_evidence(OPENED, broken, ended=Ended.AGENT_GAVE_UP, answer=None)
    page = PageView(GOAL, "Bad gateway", 502, '[1] heading "Bad gateway"')
    assert finding_of(make_play(evidence, KETTLE, page)).status is CanaryStatus.UNREACHABLE


def test_an_answer_that_left_the_page_is_drift_though_the_oracle_still_says_it() -> None:
    changed = replace(SAMOVAR, tree=SAMOVAR.tree.replace("47", "52"))
    evidence = make_evidence(OPENED, CLICKED, STOPPED)
    play = make_play(evidence, KETTLE, changed, then=(KETTLE, SAMOVAR))
    assert str(play.score.outcome) == "success"
    found = finding_of(play)
    assert found.status is CanaryStatus.DRIFTED
    assert found.drift is not None
    assert found.drift.at == "the answer"
    unproven = finding_of(make_play(evidence, KETTLE, changed))
    assert (unproven.status, unproven.answer_seen) == (CanaryStatus.VALID, False)


def test_a_live_site_that_is_expected_to_let_nobody_in_is_as_the_task_says() -> None:
    task = make_task(expected_divergence={"outcome": "unscored: blocked", "why": "bots are barred"})
    barred = make_evidence(
        make_step(0, START, status=403), ended=None, fault=fault(UnscoredReason.BLOCKED)
    )
    assert finding_of(make_play(barred, CHALLENGE, task=task)).status is CanaryStatus.VALID
    silent = make_evidence(ended=None, fault=fault(UnscoredReason.INFRA, unreachable="wiki"))
    assert finding_of(make_play(silent, task=task)).status is CanaryStatus.UNREACHABLE


def test_a_play_that_came_to_its_end_at_a_wall_is_blocked_and_nothing_unknown() -> None:
    wall = BarredSite(
        site="wiki",
        step=2,
        url=GOAL,
        sign="status 429",
        status=429,
        is_last=True,
        most_per_minute=30,
    )
    stopped = make_evidence(OPENED, make_step(1, GOAL, status=429), answer="46")
    play = make_play(stopped.model_copy(update={"barred": (wall,)}), replace(SAMOVAR, status=429))
    assert str(play.score.outcome) == "unscored: blocked"
    assert finding_of(play).status is CanaryStatus.BLOCKED


def test_worlds_that_diverge_as_the_task_says_are_valid() -> None:
    task = make_task(
        expected_divergence={"outcome": "failure", "at": "parts", "why": "other parts live"}
    )
    evidence = make_evidence(OPENED, CLICKED, STOPPED, answer="46")
    assert finding_of(make_play(evidence, KETTLE, SAMOVAR, task=task)).status is CanaryStatus.VALID
    assert finding_of(right_play(task=task)).status is CanaryStatus.DRIFTED
    offline = right_play(task=task, world=World.OFFLINE)
    assert finding_of(offline).status is CanaryStatus.VALID
