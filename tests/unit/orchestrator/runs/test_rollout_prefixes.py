"""What agents of rollouts are told of the steps that were done before they begin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Says
from support.runs.played_episode import ANSWER, KETTLE, NODE
from support.runs.rollout_runs import FakeEnvironments, rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, sampled_run
from support.worlds.fake_world import FakeWorld, browsing_task

from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.episode.jsonl_files import read_exchanges
from orchestrator.export.training.preferences import start_proof
from orchestrator.export.training.rollouts import rollout_of
from orchestrator.runs.rollouts import Prefix
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task


@pytest.fixture
def task() -> Task:
    return browsing_task(checks=[NODE, ANSWER])


@pytest.fixture
async def source(tmp_path: Path, task: Task) -> RunReport:
    return await recorded(tmp_path / "source", task, [TO_KETTLE, TO_TEAPOT, WRONG])


async def recorded(folder: Path, task: Task, replies: Sequence[Says]) -> RunReport:
    return await sampled_run(folder, [Sampled(task, replies)], run=folder.name)


def asked(run: RunReport, episode: int = 0) -> list[str]:
    """Return the last message of each question that an episode's agent asked itself."""
    folder = run.folder.evidence_folder(run.episodes[episode].folder)
    found = []
    for one in read_exchanges(folder):
        messages = one.exchange.request["messages"]
        assert isinstance(messages, list)
        found.append(json.dumps(messages[-1]))
    return found


def branches(run: RunReport) -> list[Any]:
    return [one.outline.branch for one in run.episodes]


@SLOW
async def test_an_agent_knows_what_was_done_as_if_it_had_done_it_itself(
    tmp_path: Path, source: RunReport
) -> None:
    run = await rolled_out(tmp_path / "run", source, "2", [RIGHT], count=1)
    (question,) = asked(run)
    (of_root,) = [one for one in asked(source) if "Step 3 of" in one]
    assert question == of_root
    assert KETTLE in question
    assert [one.told for one in branches(run)] == [True]
    assert [one.told for one in run.values] == [True]
    assert run.values[0].document()["told"] is True


@SLOW
async def test_an_action_is_told_in_the_words_in_which_it_was_chosen(
    tmp_path: Path, task: Task
) -> None:
    scrolls = Says('{"thought": "below", "action": {"kind": "scroll", "direction": "down"}}')
    root = await recorded(tmp_path / "scrolls", task, [scrolls, TO_KETTLE, WRONG])
    run = await rolled_out(tmp_path / "run", root, "1", [RIGHT], count=1)
    (question,) = asked(run)
    (of_root,) = [one for one in asked(root) if "Step 2 of" in one]
    assert question == of_root


@SLOW
async def test_who_begins_at_the_start_is_told_nothing(tmp_path: Path, source: RunReport) -> None:
    run = await rolled_out(tmp_path / "run", source, "0", [RIGHT], count=1)
    assert "nothing yet" in asked(run)[0]
    assert [one.told for one in branches(run)] == [False]


async def test_an_agent_that_keeps_no_past_is_not_told_and_the_evidence_says_so(
    tmp_path: Path, source: RunReport
) -> None:
    run = await rolled_out(tmp_path / "run", source, "1", [], agent="idle", count=1)
    assert [one.told for one in branches(run)] == [False]


@SLOW
async def test_a_run_that_began_before_agents_were_told_goes_on_as_it_began(
    tmp_path: Path, source: RunReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rolled_out(tmp_path / "run", source, "1", [], stop_after=0)
    lock_of = RunFolder.lock

    def lock(self: RunFolder) -> Any:
        found = lock_of(self)
        assert found.rollouts is None or found.rollouts.told
        rollouts = found.rollouts and found.rollouts.model_copy(update={"told": False})
        return found.model_copy(update={"rollouts": rollouts})

    monkeypatch.setattr(RunFolder, "lock", lock)
    run = await rolled_out(tmp_path / "run", source, "", [RIGHT, WRONG])
    assert all("nothing yet" in question for question in asked(run))
    assert [one.told for one in branches(run)] == [False, False]


@SLOW
async def test_told_and_untold_rollouts_are_no_pair(tmp_path: Path, source: RunReport) -> None:
    run = await rolled_out(tmp_path / "run", source, "1", [RIGHT, WRONG])
    first, second = (rollout_of(run, one) for one in run.episodes)
    assert start_proof(first) == start_proof(second) is not None
    branch = second.outline.branch
    assert branch is not None
    untold = second.outline.model_copy(update={"branch": branch.model_copy(update={"told": False})})
    other = replace(second, scored=replace(second.scored, outline=untold))
    assert start_proof(first) != start_proof(other)


@SLOW
async def test_a_rollout_that_was_never_told_as_its_branch_failed_counts_beside_the_others(
    tmp_path: Path, source: RunReport
) -> None:
    def third(number: int, world: FakeWorld) -> None:
        if number in {2, 3}:  # both ways of the second rollout
            world.title = "Another page"

    environments = FakeEnvironments(prepare=third)
    run = await rolled_out(tmp_path / "run", source, "1", [RIGHT], environments=environments)
    assert [one.told for one in branches(run)] == [True, False]
    (value,) = run.values
    assert (value.told, value.rate.count, value.unscored) == (True, 1, 1)


@SLOW
@pytest.mark.parametrize("knows", [AgentClass.REFERENCE, AgentClass.GUIDED])
async def test_the_thoughts_of_who_knew_of_the_solution_are_not_told(
    tmp_path: Path, source: RunReport, monkeypatch: pytest.MonkeyPatch, knows: AgentClass
) -> None:
    """A guided agent's thought may name what a contestant has to find."""
    run = await rolled_out(tmp_path / "run", source, "1", [RIGHT], count=1)
    rollouts = run.lock.rollouts
    assert rollouts is not None
    (root,) = rollouts.roots
    assert Prefix.read(rollouts, root).thoughts[1]
    lock_of = RunFolder.lock

    def lock(self: RunFolder) -> Any:
        found = lock_of(self)
        agent = found.agent.model_copy(update={"agent_class": knows})
        return found.model_copy(update={"agent": agent})

    monkeypatch.setattr(RunFolder, "lock", lock)
    assert Prefix.read(rollouts, root).thoughts == {}
    environments = FakeEnvironments()
    other = await rolled_out(
        tmp_path / "other", source, "1", [RIGHT], count=1, environments=environments
    )
    assert other.episodes[0].evidence.steps[1].thought is None
