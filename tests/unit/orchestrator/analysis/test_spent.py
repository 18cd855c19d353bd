"""A template is spent where one agent solves it every time, five times at least."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.small_runs import small_suite, write_run

from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.spent import TemplateRecord, template_records
from orchestrator.api.arena import Arena
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite

Ends = list[bool | None]


def instances(*numbers: int) -> Suite:
    suite = small_suite([f"price-of-{number}" for number in numbers])
    tasks = tuple(one.model_copy(update={"template": "price-of"}) for one in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})


def run(folder: Path, *ends: Ends, agent: str = "one") -> Path:
    """Write a run of as many instances as there are lists, with such an end for each repeat."""
    by_task = {f"price-of-{number}": each for number, each in enumerate(ends, start=1)}
    suite = instances(*range(1, len(ends) + 1))
    repeats = max(map(len, ends))
    write_run(folder, agent, {World.OFFLINE: by_task}, suite=suite, repeats=repeats)
    return folder


def records(*runs: Path) -> tuple[TemplateRecord, ...]:
    return Arena().suites.difficulty(runs)


@pytest.mark.parametrize(
    ("ends", "solved", "scored", "is_spent"),
    [
        ([[True] * 5], 5, 5, True),
        ([[True] * 2, [True] * 3], 5, 5, True),
        ([[True] * 4], 4, 4, False),
        ([[True] * 5, [False]], 5, 6, False),
        ([[True] * 4 + [None]], 4, 4, False),
        ([[True] * 5 + [None]], 5, 5, True),
    ],
)
def test_five_of_five_over_instances_and_repeats_are_spent(
    tmp_path: Path, ends: list[Ends], solved: int, scored: int, *, is_spent: bool
) -> None:
    [found] = records(run(tmp_path / "run", *ends))
    assert (found.template, found.agent) == ("price-of", "one")
    assert (found.solved, found.scored, found.is_spent) == (solved, scored, is_spent)


def test_runs_of_one_agent_count_together_and_those_of_others_apart(tmp_path: Path) -> None:
    runs = [run(tmp_path / name, [True] * 3) for name in ("a", "b")]
    other = run(tmp_path / "c", [True, False], agent="two")
    one, two = records(*runs, other)
    assert (one.agent, one.scored, one.is_spent) == ("one", 6, True)
    assert (two.agent, two.scored, two.is_spent) == ("two", 2, False)


def test_a_run_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [True] * 3)
    [found] = records(folder, folder, Path(f"{folder}/../run"))
    assert (found.scored, found.is_spent) == (3, False)


@pytest.mark.parametrize("kind", [AgentClass.REFERENCE, AgentClass.PERSON])
def test_the_oracle_and_people_spend_nothing(tmp_path: Path, kind: AgentClass) -> None:
    folder = RunFolder.open(run(tmp_path / "run", [True] * 5))
    agent = folder.lock().agent.model_copy(update={"agent_class": kind})
    assert template_records([(agent, rescore(folder))]) == ()
