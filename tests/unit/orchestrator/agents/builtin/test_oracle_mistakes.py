"""An oracle that errs is wrong in the share of episodes that it was asked for, by its own work."""

from __future__ import annotations

from itertools import product

import pytest

from arena_core.actions import Stop
from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import Mistakes, OracleAgent, Script
from orchestrator.agents.interface import Assignment, Reference
from orchestrator.analysis.studies.question_plans import is_same_agent
from orchestrator.browser.observation import Observation
from orchestrator.runs.agent_choice import agent_of_lock, choose_agent
from tasks.loader import load_suite
from tasks.reference import GiveUp, StopWith
from tasks.schema import Task


def assignment(task: str, world: World, repeat: int) -> Assignment:
    return Assignment(
        task=task, intent="do it", world=world, sites={}, step_limit=20, repeat=repeat
    )


def struck(mistakes: Mistakes, repeats: int, tasks: int = 20) -> list[bool]:
    return [
        mistakes.strike(assignment(f"task-{task}", world, repeat))
        for task, world, repeat in product(range(tasks), World, range(repeats))
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [0.1, 0.25, 0.3])
def test_the_share_of_mistakes_is_what_was_asked_for(share: float, seed: int) -> None:
    found = struck(Mistakes(share=share, seed=seed), repeats=5)
    assert sum(found) / len(found) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_repeats_of_a_task_go_wrong_as_evenly_as_their_number_allows(share: float) -> None:
    for task in range(50):
        mistakes = Mistakes(share=share, seed=3)
        found = [mistakes.strike(assignment(str(task), World.ONLINE, one)) for one in range(21)]
        assert abs(sum(found) - 21 * share) < 2.5


def test_a_run_made_again_goes_wrong_in_the_same_episodes_and_another_seed_in_others() -> None:
    first = struck(Mistakes(share=0.25, seed=1), 5)
    assert first == struck(Mistakes(share=0.25, seed=1), 5)
    other = struck(Mistakes(share=0.25, seed=2), 5)
    both = sum(one and two for one, two in zip(first, other, strict=True))
    assert both < sum(first) / 2


def test_of_one_seed_the_better_agent_errs_in_fewer_of_the_same_episodes() -> None:
    better, worse = (struck(Mistakes(share=one, seed=1), 5) for one in (0.1, 0.3))
    assert all(two for one, two in zip(better, worse, strict=True) if one)


def script_of(task: Task, world: World) -> Script:
    numbered = enumerate(task.reference_actions, start=1)
    return tuple((number, one) for number, one in numbered if one.only in {None, world})


@pytest.mark.parametrize("suite", ["demo", "arena-120"])
def test_a_mistake_leaves_out_work_or_ends_otherwise(suite: str) -> None:
    """Never only the way to a right ending: it must fail by what it does."""
    mistakes = Mistakes(share=1.0, seed=0)
    for task in load_suite(suite).tasks:
        for world, repeat in product(task.worlds, range(8)):
            script = script_of(task, world)
            made = mistakes.made_in(assignment(task.id, world, repeat), script)
            right, wrong = script[-1][1], made[-1][1]
            assert isinstance(wrong, StopWith), task.id
            if isinstance(right, GiveUp):
                continue
            if isinstance(right, StopWith) and right.answer is not None:
                assert wrong.answer in {None, "not found"}, task.id
            else:
                work = [one for one in script if not isinstance(one[1], StopWith)]
                assert wrong.answer is None, task.id
                assert len(made) - 1 <= len(work) / 2, task.id


async def test_an_episode_that_goes_wrong_says_so_in_the_thought_of_its_ending() -> None:
    stop = StopWith(do="stop", answer="47")
    there = assignment("a-task", World.OFFLINE, 0)
    mistakes = Mistakes(share=1.0, seed=0)
    agent = OracleAgent(
        Reference((stop,), str), World.OFFLINE, "", lambda script: mistakes.made_in(there, script)
    )
    shown = Observation(url="http://x.test/", title="", tabs=(), step=0)
    decision = await agent.decide(shown)
    assert isinstance(decision.action, Stop)
    assert decision.action.answer != "47"
    assert "mistake on purpose" in (decision.thought or "")


def test_its_strength_stands_in_its_name_and_in_the_lock_and_it_stays_a_reference() -> None:
    chosen = choose_agent("oracle", {"error_rate": "0.25", "seed": "7"})
    assert chosen.lock.name == "oracle that errs in 25 %"
    assert chosen.lock.options == {"error_rate": 0.25, "seed": 7}
    assert chosen.lock.agent_class == "reference"
    assert agent_of_lock(chosen.lock).lock == chosen.lock


def test_a_lock_from_before_the_option_had_its_name_goes_on_and_errs_alike() -> None:
    now = choose_agent("oracle", {"error_rate": 1.0, "seed": 7})
    before = now.lock.model_copy(
        update={"options": {"errs": 1.0, "seed": 7}, "given": ("errs", "seed")}
    )
    again = agent_of_lock(before)
    assert again.lock == before
    assert again.maker.name == now.maker.name
    assert is_same_agent(before, now.lock)
    assert choose_agent("oracle", {"errs": "1", "seed": "7"}).lock == now.lock
    with pytest.raises(UsageError, match="the same option"):
        choose_agent("oracle", {"errs": "1", "error_rate": "1", "seed": "7"})


@pytest.mark.parametrize(
    ("options", "says"),
    [({"error_rate": "1.5"}, "error_rate 1.5 is no share"), ({"seed": "7"}, "seed has no effect")],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        choose_agent("oracle", options)
