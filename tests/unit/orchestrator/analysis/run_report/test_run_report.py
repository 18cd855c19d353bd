"""A run as data and as HTML, and what a command makes of it at its end."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended as Process
from support.runs.made_run import HOSTILE, make_run
from support.runs.small_runs import Outcomes, small_suite, write_run
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence
from support.studies.registered_study import make_study

from arena_core.errors import AgentCrashedError, InternalError, NothingScoredError
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, UnscoredReason
from orchestrator.agents.model_exchange import Spent
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow, read_run, require_sound
from orchestrator.analysis.stats.rates import Interval
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder
from tasks.needs import Tier


def row(report: RunReport, task: str) -> TaskRow:
    return next(row for row in report.rows if row.task.id == task)


def test_every_task_of_the_run_has_a_row_even_one_that_was_not_played(report: RunReport) -> None:
    names = [one.task.id for one in report.rows]
    assert names == ["agrees", "parts", "gone", "broken", "hostile", "left"]
    assert row(report, "left").episodes[World.ONLINE] == ()
    assert report.pending == 1


def test_worlds_part_at_the_check_that_only_one_meets(report: RunReport) -> None:
    assert [one.check for one in row(report, "parts").divergences] == ["price"]
    assert row(report, "parts").diverges
    assert not row(report, "agrees").diverges


def test_a_world_that_drifted_parts_without_a_check(report: RunReport) -> None:
    """The agent never started: that no check is met says nothing."""
    assert row(report, "gone").diverges
    assert row(report, "gone").divergences == ()


def test_a_machine_that_failed_is_no_parting_of_the_worlds(report: RunReport) -> None:
    assert not row(report, "broken").diverges
    assert row(report, "broken").divergences == ()


def test_a_task_played_in_one_world_alone_parts_from_nothing(report: RunReport) -> None:
    assert not row(report, "left").diverges


def test_totals_leave_the_unscored_out_and_name_them(report: RunReport) -> None:
    offline, online = report.summaries[World.OFFLINE], report.summaries[World.ONLINE]
    assert (offline.episodes, offline.scored) == (6, 5)
    assert (online.episodes, online.scored) == (5, 4)
    assert [(str(reason), count) for reason, count in online.unscored] == [("drifted", 1)]
    assert {one.key.task for one in report.unscored} == {"gone", "broken"}


def test_agreement_is_over_tasks_that_have_a_score_in_both(report: RunReport) -> None:
    assert report.agreement is not None
    assert report.agreement.both == ("agrees",)
    assert report.agreement.first_only == ("parts", "hostile")


@SLOW
def test_tasks_of_one_template_do_not_narrow_the_intervals_of_a_run(tmp_path: Path) -> None:
    names = [f"task-{number:02d}" for number in range(20)]
    suite = small_suite(names)
    alike = suite.model_copy(
        update={
            "tasks": tuple(
                task.model_copy(update={"template": f"template-{number // 5}"})
                for number, task in enumerate(suite.tasks)
            )
        }
    )
    won: Outcomes = {
        World.OFFLINE: {name: [number < 10] for number, name in enumerate(names)},
        World.ONLINE: {name: [True] for name in names},
    }

    apart, clustered = (
        read_run(write_run(tmp_path / one.tasks[0].id / str(place), "a", won, suite=one))
        for place, one in enumerate((suite, alike))
    )

    for found, other in zip(intervals(apart), intervals(clustered), strict=True):
        assert other.high - other.low > 1.3 * (found.high - found.low)


def test_a_run_of_several_tiers_says_the_success_of_each(tmp_path: Path) -> None:
    names = ["easy", "usual", "long", "longer", "untold"]
    tiers = [Tier.CORE, Tier.BROAD, Tier.HARD, Tier.HARD, None]
    suite = small_suite(names)
    tiered = suite.model_copy(
        update={
            "tasks": tuple(
                task.model_copy(update={"tier": tier})
                for task, tier in zip(suite.tasks, tiers, strict=True)
            )
        }
    )
    won: Outcomes = {World.OFFLINE: {name: [name != "longer"] for name in names}}
    report = read_run(write_run(tmp_path / "tiers", "a", won, suite=tiered))
    found = report.tiers[World.OFFLINE]
    assert {tier: (one.tasks, one.success.value) for tier, one in found.items()} == {
        Tier.CORE: (1, 1.0),
        Tier.BROAD: (1, 1.0),
        Tier.HARD: (2, 0.5),
    }
    assert "hard tier, 2 tasks" in render_html(report)
    plain = read_run(write_run(tmp_path / "plain", "a", won, suite=suite))
    assert plain.tiers == {World.OFFLINE: {}}


def intervals(report: RunReport) -> list[Interval]:
    assert report.agreement is not None
    rates = (report.summaries[World.OFFLINE].success, report.agreement.rate)
    return [rate.interval for rate in rates if rate.interval is not None]


def spending_run(path: Path, limits: SpendingLimits, *reported: Spent | None) -> RunFolder:
    """Write a run of three repeats under limits, and what the agent reported of each."""
    lock = make_lock().model_copy(update={"budget": limits, "repeats": 3})
    folder = RunFolder.create(path, lock, SUITE)
    with folder.writing() as ledger:
        for repeat, spent in enumerate(reported):
            key = EpisodeKey("one", World.OFFLINE, repeat)
            number = ledger.start(key)
            if spent is not None:
                ledger.spend(key, number, spent)
            evidence = tiny_evidence(agent="own", repeat=repeat, attempt=number)
            folder.save_evidence(key.folder(number), evidence, {})
            ledger.end(key, number, AttemptState.FINISHED, "success")
        last = EpisodeKey("one", World.OFFLINE, len(reported))
        ledger.end(last, ledger.start(last), AttemptState.FINISHED, "unscored: budget")
    return folder


@SLOW
def test_a_limit_that_an_agent_kept_silent_under_is_said_not_to_have_been_held(
    tmp_path: Path, call: Callable[..., Process]
) -> None:
    """It declared that it says what it spends, so the run began."""
    limits = SpendingLimits(max_usd=1)
    folder = spending_run(tmp_path / "run", limits, None, Spent.reported(100, 10, 0.1))
    words = "the limit of $1.00 could not be enforced: idle reported no spending in 1 episode,"
    report = read_run(folder)
    assert str(report.unheld_budget).startswith(words)
    assert words in render_html(report)
    shown = call("report", str(folder.path), "--html", str(tmp_path / "r.html"))
    assert words in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("limits", "reported"),
    [
        (SpendingLimits(), None),
        (SpendingLimits(max_usd=1), Spent.reported(0, 0, 0.0)),
        (SpendingLimits(max_tokens=1000), Spent.reported(100, 10, None)),
    ],
)
def test_a_limit_that_was_held_or_is_none_is_not_spoken_of(
    tmp_path: Path, limits: SpendingLimits, reported: Spent | None
) -> None:
    assert read_run(spending_run(tmp_path / "run", limits, reported)).unheld_budget is None


@SLOW
def test_changed_evidence_is_said_first(tmp_path: Path, call: Callable[..., Process]) -> None:
    """Of one episode the answer was changed, of another a picture, which no score reads."""
    study = make_study(tmp_path / "study")
    run = study.run_folder("wrong")
    assert read_run(run).changed_evidence is None
    answer = run.evidence_folder("offline-one-r0-a1") / "evidence.json"
    answer.write_text(answer.read_text().replace("1892", "1891"))
    (run.evidence_folder("offline-one-r2-a1") / "step-0.png").write_bytes(b"another")

    shown = call("report", run.path)

    said = "2 episodes are not as the run recorded"
    assert shown.out.splitlines()[0].startswith(said)
    assert shown.out.splitlines()[0].endswith("offline-one-r0-a1, offline-one-r2-a1")
    page = run.report_path.read_text().split("<main>")[1].strip()
    assert page.startswith(f'<p class="banner damaged"><b>Changed evidence.</b> {said}')
    assert call("report", run.path, "--json").document["edited"] == [
        "offline-one-r0-a1",
        "offline-one-r2-a1",
    ]


@SLOW
def test_the_page_s_policy_lets_nothing_run_and_its_own_style_alone(report: RunReport) -> None:
    page = render_html(report)
    policy = html.unescape(page.split('Content-Security-Policy" content="')[1].split('">')[0])
    style = page.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    assert " style=" not in page
    assert "<script" not in page.replace(HOSTILE, "")


def test_a_run_without_any_score_ends_with_an_exit_code_of_its_own(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    require_sound(read_run(folder))
    for name in folder.evidence_names():
        (folder.evidence_folder(name) / "evidence.json").unlink()
    with pytest.raises(NothingScoredError) as caught:
        require_sound(read_run(folder))
    assert "none of 11 episodes could be scored" in caught.value.message
    assert "the first, agrees: unscored: unreadable" in caught.value.hint


def test_one_score_in_one_world_is_enough(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in folder.evidence_names()[1:]:
        (folder.evidence_folder(name) / "evidence.json").unlink()
    require_sound(read_run(folder))


def change(folder: RunFolder, name: str, **update: object) -> None:
    """Let an episode have ended in another way."""
    found = folder.evidence(name)
    path = folder.evidence_folder(name) / "evidence.json"
    path.write_text(found.model_copy(update=update).model_dump_json(), encoding="utf-8")


BUG = EpisodeFault(reason=UnscoredReason.INTERNAL, message="KeyError: 'x'", place="a/b.py:7 act")


@SLOW
def test_one_bug_ends_a_run_with_its_own_exit_code_and_says_where(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    change(folder, "offline-agrees-r0-a1", ended=None, fault=BUG)
    report = read_run(folder)
    with pytest.raises(InternalError) as caught:
        require_sound(report)
    assert caught.value.exit_code == 99
    assert "ended 1 of 11 episodes" in caught.value.message
    assert "KeyError: 'x' at a/b.py:7 act" in caught.value.hint
    assert str(folder.log_path) in caught.value.hint
    assert (UnscoredReason.INTERNAL, 1) in report.summaries[World.OFFLINE].unscored
    page = " ".join(render_html(report).split())
    assert "<b>A bug of Arena's</b> ended 1 episode, which counts as unscored" in page
    assert "agrees: KeyError: &#39;x&#39; at a/b.py:7 act" in page


def test_the_same_bug_in_every_episode_is_told_as_a_bug(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in folder.evidence_names():
        change(folder, name, ended=None, fault=BUG)
    with pytest.raises(InternalError, match="ended 11 of 11 episodes"):
        require_sound(read_run(folder))


@SLOW
def test_an_agent_that_crashed_is_scored_and_told_and_has_an_exit_code(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    why = "KeyError: 'price' at mine/agent.py:12 decide"
    change(
        folder,
        "offline-agrees-r0-a1",
        ended=Ended.AGENT_CRASHED,
        ended_because=why,
        answer=None,
        steps=(),
    )
    report = read_run(folder)
    with pytest.raises(AgentCrashedError) as caught:
        require_sound(report)
    assert caught.value.exit_code == 73
    assert "crashed in 1 of 11 episodes" in caught.value.message
    assert caught.value.hint == f"the first, agrees: {why}"
    [crashed] = report.crashed
    assert str(crashed.score.outcome) == "failure"
    assert "mine/agent.py:12 decide" in render_html(report)
