"""Arena's environments, held by Gymnasium's own checks and played in its vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from support.runs.run_at import on_engine
from support.tasks.small_suites import BRUGES

from arena_core.errors import UsageError
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.serve.gym import ArenaEnv, EpisodeUnscored

pytestmark = [pytest.mark.docker, pytest.mark.browser]

BELLS = "orchestrator.serve.gym:arena/demo.wiki-bells-of-bruges"
GO = json.dumps({"kind": "goto", "url": BRUGES})
RIGHT = json.dumps({"kind": "stop", "answer": "47"})
WRONG = json.dumps({"kind": "stop", "answer": "46"})


@pytest.fixture(scope="module")
def env() -> Iterator[gymnasium.Env[dict[str, Any], str]]:
    made = gymnasium.make(BELLS)
    yield made
    made.close()


def test_it_passes_the_check_of_gymnasium_itself(
    env: gymnasium.Env[dict[str, Any], str],
) -> None:
    check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_has_the_keys_of_browsergym_and_the_whole_reward_at_its_end(
    env: gymnasium.Env[dict[str, Any], str],
) -> None:
    seen, info = env.reset(seed=1)
    assert set(seen) == {
        "chat_messages",
        "goal",
        "goal_object",
        "open_pages_urls",
        "open_pages_titles",
        "active_page_index",
        "url",
        "screenshot",
        "axtree_txt",
        "focused_element_bid",
        "last_action",
        "last_action_error",
        "elapsed_time",
    }
    assert (info["task"], info["outcome"]) == ("demo/wiki-bells-of-bruges", "")
    assert seen["goal"].startswith("How many bells")
    assert seen["screenshot"].shape == (720, 1280, 3)
    assert seen["screenshot"].std() > 0
    assert seen["url"] in seen["open_pages_urls"]
    assert "[" in seen["axtree_txt"]
    seen, reward, terminated, truncated, _ = env.step("fly away")
    assert seen["last_action"] == "fly away"
    assert seen["last_action_error"]
    seen, reward, terminated, truncated, _ = env.step(GO)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (seen["url"], seen["last_action_error"]) == (BRUGES, "")
    assert seen["elapsed_time"][0] > 0
    _, reward, terminated, truncated, info = env.step(RIGHT)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["outcome"], info["key_nodes_met"]) == ("success", info["key_nodes"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(GO)


def test_the_same_reset_shows_the_same(env: gymnasium.Env[dict[str, Any], str]) -> None:
    first, _ = env.reset(seed=7)
    env.step(GO)
    again, _ = env.reset(seed=7)
    assert data_equivalence(first, again, exact=True)


def test_a_reset_may_name_another_task_for_its_episode(
    env: gymnasium.Env[dict[str, Any], str],
) -> None:
    _, info = env.reset(options={"task": "demo/wiki-samovar", "world": "offline"})
    assert info["task"] == "demo/wiki-samovar"
    _, info = env.reset()
    assert info["task"] == "demo/wiki-bells-of-bruges"
    with pytest.raises(UsageError, match="no option 'colour'"):
        env.reset(options={"colour": "red"})
    with pytest.raises(UsageError, match="no task is named"):
        ArenaEnv().reset()


def test_what_cannot_be_scored_is_raised_or_has_no_number_and_is_never_a_zero() -> None:
    for unscored in ("raise", "info"):
        env = gymnasium.make(BELLS, unscored=unscored)
        try:
            env.reset()
            assert on_engine(kill_wikis) == 1
            if unscored == "raise":
                with pytest.raises(EpisodeUnscored, match="unscored: infra"):
                    env.step(RIGHT)
            else:
                with pytest.warns(UserWarning, match="NaN"):
                    _, reward, terminated, _, info = env.step(RIGHT)
                assert np.isnan(float(reward))
                assert terminated
                assert (info["outcome"], info["reason"]) == ("unscored", "infra")
        finally:
            env.close()


async def kill_wikis(engine: Engine) -> int:
    """Remove this process's replicas of the wiki that are younger than the shared ones."""
    found = await engine.containers({Labels.OWNER: None, Labels.SITE: "wiki"})
    owner = f"episodes-{os.getpid()}-"
    mine = [one for one in found if one.labels.get(Labels.OWNER, "").startswith(owner)]
    newest = max(mine, key=lambda one: one.created)
    await engine.remove(newest.id)
    return 1


def test_four_are_played_side_by_side_in_processes_of_their_own() -> None:
    vector = AsyncVectorEnv(
        [lambda: gymnasium.make(BELLS, observe=("axtree",), unscored="info")] * 4,
        shared_memory=False,
        autoreset_mode=AutoresetMode.DISABLED,
    )
    try:
        seen, _ = vector.reset(seed=3)
        assert len(set(seen["url"])) == 1
        seen, rewards, terminated, truncated, _ = vector.step([GO] * 4)
        assert tuple(seen["url"]) == (BRUGES,) * 4
        assert not any(terminated | truncated)
        _, rewards, terminated, _, info = vector.step([RIGHT, WRONG, RIGHT, GO])
        assert list(rewards) == [1.0, 0.0, 1.0, 0.0]
        assert list(terminated) == [True, True, True, False]
        assert list(info["outcome"]) == ["success", "failure", "success", ""]
    finally:
        vector.close()
