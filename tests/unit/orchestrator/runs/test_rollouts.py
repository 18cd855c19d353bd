"""Rollouts go on from what was recorded, or nothing does: never from another state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Says
from support.runs.played_episode import ANSWER, KETTLE, NODE
from support.runs.rollout_runs import FakeEnvironments, rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, sampled_run
from support.worlds.fake_world import FakeSession, FakeWorld, browsing_task

from arena_core.actions import Goto
from arena_core.errors import BrowserError, StoreError, UsageError
from arena_core.worlds import World
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.browser.observation import AXTREE, AxTree
from orchestrator.runs.rollouts import plan_rollouts, read_steps
from tasks.schema import Task


@pytest.fixture
def task() -> Task:
    return browsing_task(checks=[NODE, ANSWER])


@pytest.fixture
async def source(tmp_path: Path, task: Task) -> RunReport:
    """An episode that went to the kettle, then to the teapot, and then answered wrongly."""
    return await recorded(tmp_path / "source", task, [TO_KETTLE, TO_TEAPOT, WRONG])


async def recorded(folder: Path, task: Task, replies: Sequence[Says]) -> RunReport:
    return await sampled_run(folder, [Sampled(task, replies)], run=folder.name)


def outcomes(run: RunReport) -> list[str]:
    return [str(one.score.outcome) for one in run.episodes]


@SLOW
async def test_each_rollout_names_its_root_and_keeps_what_was_done_before(
    tmp_path: Path, source: RunReport
) -> None:
    environments = FakeEnvironments()
    run = await rolled_out(
        tmp_path / "run", source, "1", [RIGHT, TO_TEAPOT, WRONG], environments=environments
    )
    assert outcomes(run) == ["success", "failure"]
    assert run.pending == 0
    for one in run.episodes:
        branch = one.outline.branch
        assert branch is not None
        assert branch.root == f"source/{source.episodes[0].folder}"
        assert (branch.checkpoint, branch.step, branch.pages) == ("step 1", 1, "document")
        assert [step.url for step in one.evidence.steps[:2]][1] == KETTLE
        assert one.score.completion == 1  # the key node that was met before counts
    assert len(environments.worlds) == 3  # the recorded steps were done again once


async def test_elements_have_the_ids_by_which_the_recorded_actions_name_them(
    tmp_path: Path, source: RunReport
) -> None:
    """An agent that looks at nothing gives no element an id; what was recorded needs them."""
    environments = FakeEnvironments()
    run = await rolled_out(
        tmp_path / "run", source, "1", [], agent="idle", environments=environments
    )
    assert outcomes(run) == ["failure", "failure"]
    assert [set(world.forms) for world in environments.worlds] == [{frozenset({"axtree"})}] * 3


@SLOW
async def test_rollouts_of_several_steps_come_one_root_after_the_other(
    tmp_path: Path, source: RunReport
) -> None:
    run = await rolled_out(tmp_path / "run", source, "every", [RIGHT] * 6)
    found = [one.outline.branch for one in run.episodes]
    assert [one.step for one in found if one is not None] == [0, 0, 1, 1, 2, 2]
    assert len(list(run.lock.trials([source.rows[0].task]))) == 6


@SLOW
async def test_a_run_of_rollouts_goes_on_where_it_was_broken_off(
    tmp_path: Path, source: RunReport
) -> None:
    half = await rolled_out(tmp_path / "run", source, "0,2", [RIGHT] * 3, stop_after=3)
    assert (len(half.episodes), half.pending) == (3, 1)
    whole = await rolled_out(tmp_path / "run", source, "", [WRONG])
    assert outcomes(whole) == ["success"] * 3 + ["failure"]
    assert whole.pending == 0


def titled(world: FakeWorld) -> None:
    world.title = "Another page"


def refusing(world: FakeWorld) -> None:
    world.refuses = {"goto": "no such page"}


@SLOW
@pytest.mark.parametrize(
    ("change", "why"),
    [(titled, "the title is 'Another page'"), (refusing, "the action's error is 'no such page'")],
)
async def test_where_the_recorded_steps_lead_elsewhere_nothing_goes_on_and_no_model_is_asked(
    tmp_path: Path, source: RunReport, change: Callable[[FakeWorld], None], why: str
) -> None:
    environments = FakeEnvironments(prepare=lambda _, world: change(world))
    run = await rolled_out(tmp_path / "run", source, "1", [], count=4, environments=environments)
    assert outcomes(run) == ["unscored: fork"] * 4
    for one in run.episodes:
        assert why in one.score.because
        assert "leads elsewhere" in one.score.because
        assert one.outline.branch is not None
        assert one.outline.branch.step == 1
    assert len(environments.worlds) == 1  # and it is not tried once more for each


async def test_a_page_that_shows_another_text_is_another_state(
    tmp_path: Path, source: RunReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """URL, title and errors are as recorded; what the agent would see is not."""
    observe = FakeSession.observe

    async def sold_out(self: FakeSession, *args: object, **more: object) -> object:
        seen = await observe(self, *args, **more)  # type: ignore[arg-type]
        return replace(seen, parts={AXTREE: AxTree((), "sold out")})

    monkeypatch.setattr(FakeSession, "observe", sold_out)
    run = await rolled_out(tmp_path / "run", source, "1", [])
    assert outcomes(run) == ["unscored: fork"] * 2
    assert "axtree shows 'sold out'" in run.episodes[0].score.because


@SLOW
async def test_a_branch_that_is_not_equal_to_its_checkpoint_is_unscored(
    tmp_path: Path, source: RunReport
) -> None:
    """The first lease takes the checkpoint, and every later one comes back to another page."""

    def later(number: int, world: FakeWorld) -> None:
        if number:
            titled(world)

    environments = FakeEnvironments(prepare=later)
    run = await rolled_out(tmp_path / "run", source, "1", [], environments=environments)
    assert outcomes(run) == ["unscored: fork"] * 2
    assert "the page is not equal" in run.episodes[0].score.because
    told = run.episodes[0].evidence.branch
    assert told is not None
    assert [one.pages for one in told.tried] == ["document", "start"]
    assert all("Another page" in one.because for one in told.tried)


@SLOW
async def test_a_machine_that_fails_on_the_way_is_tried_again(
    tmp_path: Path, source: RunReport
) -> None:
    def first_fails(number: int, world: FakeWorld) -> None:
        if number == 0:
            world.script["act"] = BrowserError("the browser crashed")

    run = await rolled_out(
        tmp_path / "run", source, "1", [RIGHT, RIGHT], environments=FakeEnvironments(first_fails)
    )
    assert outcomes(run) == ["success", "success"]


@SLOW
async def test_evidence_that_changed_since_it_was_planned_is_not_gone_on_from(
    tmp_path: Path, source: RunReport
) -> None:
    await rolled_out(tmp_path / "run", source, "1", [RIGHT], stop_after=1)
    evidence = source.folder.evidence_folder(source.episodes[0].folder) / "evidence.json"
    evidence.write_text(evidence.read_text().replace("Kettle", "Teapot"), encoding="utf-8")
    with pytest.raises(StoreError, match="not there as it was"):
        await rolled_out(tmp_path / "run", source, "", [])


def test_steps_are_named_by_number_or_all_at_once() -> None:
    assert read_steps("3") == read_steps(3) == (3,)
    assert read_steps("4, 2,2") == (2, 4)
    assert read_steps("every") is None
    for wrong in ("", "-1", "2..4", "last"):
        with pytest.raises(UsageError, match="names no step"):
            read_steps(wrong)


@SLOW
async def test_what_cannot_be_gone_on_from_is_named(
    tmp_path: Path, source: RunReport, task: Task
) -> None:
    folder = source.folder
    planned = plan_rollouts(folder, (), "2,3", 4)
    assert [root.step for root in planned.rollouts.roots] == [2]
    assert planned.left_out == ((source.episodes[0].folder, planned.left_out[0][1]),)
    assert "it ended with action 3" in planned.left_out[0][1]
    with pytest.raises(UsageError, match="no step 7"):
        plan_rollouts(folder, (), 7, 4)

    online = await sampled_run(tmp_path / "online", [Sampled(task, [RIGHT], world=World.ONLINE)])
    with pytest.raises(UsageError, match="was played online"):
        plan_rollouts(online.folder, (), 0, 4)
    branches = await rolled_out(tmp_path / "run", source, "1", [RIGHT, RIGHT])
    with pytest.raises(UsageError, match="is a branch itself"):
        plan_rollouts(branches.folder, (), 0, 4)


async def test_a_secret_that_was_typed_and_not_recorded_is_not_typed_again(
    tmp_path: Path, task: Task
) -> None:
    typed = Says.action(Goto(url=f"{KETTLE}?password=[redacted]"), "the password")
    run = await recorded(tmp_path / "typed", task, [typed, WRONG])
    with pytest.raises(UsageError, match="typed a secret"):
        plan_rollouts(run.folder, (), 1, 4)
