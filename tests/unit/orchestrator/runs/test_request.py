"""What a run plays, and with which replicas."""

from __future__ import annotations

from typing import Any

from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.request import RunRequest, together
from orchestrator.runs.spec import RunSettings
from sites.registry import load_registry
from tasks.schema import Suite

BOTH = (World.OFFLINE, World.ONLINE)
ATLAS = load_registry()


def task(name: str, sites: list[str], worlds: list[str]) -> dict[str, object]:
    return {
        "id": name,
        "family": "information",
        "intent": "Find something out.",
        "sites": sites,
        "start": [f"{sites[0]}:/"],
        "worlds": worlds,
        "checks": [
            {
                "name": "c",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "number", "value": 1},
            }
        ],
        "reference": [{"do": "stop"}],
    }


SUITE = Suite.model_validate(
    {
        "suite": "s",
        "version": 1,
        "title": "S",
        "tasks": [
            task("both", ["wiki", "shop"], ["offline", "online"]),
            task("replica-only", ["wiki"], ["offline"]),
            task("live-only", ["shop"], ["online"]),
        ],
    }
)


def request(worlds: tuple[World, ...], **more: Any) -> RunRequest:
    nobody: Any = None
    return RunRequest(
        suite=SUITE,
        tasks=SUITE.tasks,
        agent=nobody,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.CONTESTANT),
        settings=RunSettings(worlds=worlds, **more),
    )


def test_a_episode_is_a_task_in_a_world_where_it_can_run_once_per_repeat() -> None:
    asked = request(BOTH, repeats=2)
    keys = [key for world in BOTH for key in asked.keys_in(world)]
    assert asked.episodes == len(keys)
    assert [(one.world.value, one.repeat, one.task) for one in keys] == [
        ("offline", 0, "both"),
        ("offline", 0, "replica-only"),
        ("offline", 1, "both"),
        ("offline", 1, "replica-only"),
        ("online", 0, "both"),
        ("online", 0, "live-only"),
        ("online", 1, "both"),
        ("online", 1, "live-only"),
    ]


def test_a_run_has_no_episode_in_a_world_that_it_is_not_played_in() -> None:
    asked = request((World.OFFLINE,))  # an arm of a study of both worlds
    assert list(asked.keys_in(World.ONLINE)) == []
    assert asked.episodes_in(World.ONLINE) == 0


def test_only_sites_that_are_visited_as_replicas_are_started() -> None:
    asked = request(BOTH)
    assert asked.upstreams(ATLAS, World.OFFLINE).replicas == ("wiki", "shop")
    assert asked.upstreams(ATLAS, World.ONLINE).replicas == ()


def test_only_sites_that_are_visited_live_are_staged() -> None:
    asked = request(BOTH, staged=True)
    assert [one.site.name for one in asked.upstreams(ATLAS, World.ONLINE).staged] == [
        "wiki",
        "shop",
    ]
    assert asked.upstreams(ATLAS, World.OFFLINE).staged == ()
    assert request(BOTH).upstreams(ATLAS, World.ONLINE).staged == ()


def test_a_world_that_is_not_played_visits_nothing() -> None:
    assert request((World.OFFLINE,), staged=True).upstreams(ATLAS, World.ONLINE).by_site == {}


def test_no_world_has_more_workers_than_episodes_nor_a_spare_that_nobody_would_use() -> None:
    asked = request(BOTH, workers=8)
    assert [asked.workers_in(world) for world in BOTH] == [2, 2]
    assert [asked.spares_in(world) for world in BOTH] == [0, 0]
    many = request(BOTH, workers=2, repeats=2)
    assert (many.workers_in(World.OFFLINE), many.spares_in(World.OFFLINE)) == (2, None)


def test_a_site_that_one_episode_visits_needs_no_spare() -> None:
    apart = Suite.model_validate(
        {
            **SUITE.model_dump(mode="json"),
            "tasks": [task("a", ["wiki"], ["offline"]), task("b", ["shop"], ["offline"])],
        }
    )
    nobody: Any = None
    asked = RunRequest(
        suite=apart,
        tasks=apart.tasks,
        agent=nobody,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.CONTESTANT),
    )
    assert asked.spares_in(World.OFFLINE) == 0


def test_spares_that_a_person_asked_for_are_kept() -> None:
    assert request(BOTH, workers=8, spares=1).spares_in(World.OFFLINE) == 1
    assert request(BOTH, workers=8, strategy="swap").spares_in(World.OFFLINE) is None


def test_the_shards_of_a_run_have_its_episodes_in_their_order_each_once() -> None:
    whole = request(BOTH, repeats=5)
    for world in BOTH:
        keys = list(whole.keys_in(world))
        found = []
        for number in range(1, 4):
            shard = request(BOTH, repeats=5, shard=f"{number}/3")
            mine = list(shard.keys_in(world))
            assert shard.episodes_in(world) == len(mine)
            assert mine == [key for key in keys if key in set(mine)]
            found += mine
        assert sorted(found) == sorted(keys)


def test_a_shard_is_played_with_what_the_tasks_of_the_whole_run_need() -> None:
    """How many of a task's repeats are in its share does not show in its tasks."""
    for number in range(1, 9):
        shard = request((World.OFFLINE,), repeats=4, workers=3, shard=f"{number}/8")
        whole = request((World.OFFLINE,), repeats=4, workers=3)
        assert together([shard]).workers_in(World.OFFLINE) == 3
        assert shard.upstreams(ATLAS, World.OFFLINE).kinds == (
            whole.upstreams(ATLAS, World.OFFLINE).kinds
        )
