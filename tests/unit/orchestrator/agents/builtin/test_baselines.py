from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from arena_core.actions import Action, Back, Click, Scroll, ScrollDirection, Select, Stop, Type
from arena_core.worlds import World
from orchestrator.agents.builtin.baselines import RandomAgent
from orchestrator.agents.interface import Assignment, episode_seed
from orchestrator.browser.observation import Observation

Page = Callable[..., Observation]

FORM = """
link "Kettles"
button "Buy"
button "Sold out" disabled
textbox "Name"
heading "Tea pots"
combobox "Sort by"
  option "Cheapest"
  option "Dearest"
"""


async def play(agent: RandomAgent, observation: Observation, steps: int) -> list[Action]:
    return [(await agent.decide(observation)).action for _ in range(steps)]


async def test_the_same_episode_is_played_the_same_way(page: Page, assignment: Assignment) -> None:
    seed = episode_seed(3, assignment)
    first = await play(RandomAgent(seed), page(FORM), 50)
    assert first == await play(RandomAgent(seed), page(FORM), 50)


async def test_seed_task_world_and_repeat_each_change_the_play(
    page: Page, assignment: Assignment
) -> None:
    seeds = {
        episode_seed(0, assignment),
        episode_seed(1, assignment),
        episode_seed(0, replace(assignment, task="another")),
        episode_seed(0, replace(assignment, world=World.ONLINE)),
        episode_seed(0, replace(assignment, repeat=1)),
        episode_seed(1, replace(assignment, repeat=1)),
    }
    plays = {tuple(await play(RandomAgent(seed), page(FORM), 50)) for seed in seeds}
    assert len(plays) == 6


def test_the_seed_of_an_episode_is_the_same_on_every_machine(assignment: Assignment) -> None:
    assert episode_seed(0, assignment) == 1205618457
    assert all(0 <= episode_seed(seed, assignment) < 2**31 for seed in (-1, 0, 2**40))


async def test_every_sensible_action_happens_and_no_other(page: Page) -> None:
    done = await play(RandomAgent(1), page(FORM, step=1), 3000)
    assert _kinds(done) == {
        Click(element=1).model_dump_json(),
        Click(element=2).model_dump_json(),
        "type into 4",
        Select(element=6, option="Cheapest").model_dump_json(),
        Select(element=6, option="Dearest").model_dump_json(),
        Click(element=7).model_dump_json(),
        Click(element=8).model_dump_json(),
        Scroll(direction=ScrollDirection.DOWN).model_dump_json(),
        Scroll(direction=ScrollDirection.UP).model_dump_json(),
        Back().model_dump_json(),
        Stop().model_dump_json(),
    }
    words = {
        "Kettles",
        "Buy",
        "Sold",
        "out",
        "Name",
        "Tea",
        "pots",
        "Sort",
        "by",
        "Cheapest",
        "Dearest",
    }
    assert {action.text for action in done if isinstance(action, Type)} <= words


async def test_stopping_is_rare_and_the_rest_is_even(page: Page) -> None:
    done = await play(RandomAgent(1), page('link "a"\nlink "b"'), 4000)
    counts = Counter(action.model_dump_json() for action in done)
    stops = counts.pop(Stop().model_dump_json())
    assert 40 < stops < 120
    assert len(counts) == 4
    assert max(counts.values()) < 1.2 * min(counts.values())


async def test_a_select_offers_its_own_options_only(page: Page) -> None:
    outline = 'combobox "Colour"\n  option "Red"\ncombobox "Size"\n  option "Large"'
    done = await play(RandomAgent(1), page(outline), 500)
    chosen = {(action.element, action.option) for action in done if isinstance(action, Select)}
    assert chosen == {(1, "Red"), (3, "Large")}


async def test_there_is_no_way_back_from_the_first_page(page: Page) -> None:
    assert Back() not in await play(RandomAgent(1), page(FORM, step=0), 500)


def _kinds(actions: Iterable[Action]) -> set[str]:
    return {
        f"type into {action.element}" if isinstance(action, Type) else action.model_dump_json()
        for action in actions
    }
