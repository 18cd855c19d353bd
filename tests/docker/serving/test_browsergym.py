"""BrowserGym and AgentLab play Arena's tasks: their own code, at pinned versions, on a service."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Final

import pytest
from support.agents.browsergym_beside import agentlab_python, playing
from support.agents.browsergym_oracle import PlaysReferences, says
from support.agents.foreign_clients import kill_newest
from support.agents.reference_player import task_of
from support.agents.scripted_model import ChatRequest, Says
from support.tasks.small_suites import BRUGES

from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=4)]

BROWSERS: Final = ("arena", "browsergym")
BELLS, SAMOVAR = "wiki-bells-of-bruges", "wiki-samovar"
LATEST_ORDER = "shop-latest-order-total"
GO = f"goto({BRUGES!r})"
GOLD = re.compile(r"carillon of [(\d]")  # the gold, and how it is computed


@pytest.fixture(scope="module")
def python() -> Path:
    return agentlab_python()


@pytest.mark.parametrize("browser", BROWSERS)
async def test_the_right_answer_passes_idling_fails_and_no_gold_is_shown(
    python: Path, tmp_path: Path, browser: str
) -> None:
    async with playing(python, tmp_path) as player:
        asked = {"task": f"demo/{BELLS}", "browser": browser}
        right = ["fly away", GO, "send_msg_to_user('47')"]
        played = await player.play("play", actions=right, **asked)
        nonsense, gone, ended = played["steps"]
        assert nonsense["error"]
        assert (gone["url"], gone["error"], gone["reward"]) == (BRUGES, "", 0.0)
        assert (ended["reward"], ended["over"]) == (1.0, [True, False])
        assert ended["info"]["outcome"] == "success"
        assert GOLD.search(json.dumps(played)) is None
        assert {field for one in ended["info"]["checks"] for field in one} == {
            *("id", "kind", "met", "step")
        }
        idle = await player.play("play", actions=["send_msg_to_user('done')"], **asked)
        assert [one["reward"] for one in idle["steps"]] == [0.0]
        cut = await player.play("play", actions=[GO], max_steps=1, **asked)
        assert (cut["steps"][0]["reward"], cut["steps"][0]["over"]) == (0.0, [False, True])


@pytest.mark.parametrize("browser", BROWSERS)
async def test_what_a_killed_site_leaves_is_no_number(
    python: Path, tmp_path: Path, browser: str
) -> None:
    async with playing(python, tmp_path) as player:
        actions = [GO, "KILL THE SITES", "send_msg_to_user('47')"]
        played = await player.play("play", task=f"demo/{BELLS}", browser=browser, actions=actions)
        ended = played["steps"][-1]
        assert (ended["reward"], ended["info"]["outcome"]) == (None, "unscored")
        assert ended["info"]["reason"] == "infra"


@pytest.mark.parametrize("browser", BROWSERS)
async def test_a_killed_client_frees_its_slot(python: Path, tmp_path: Path, browser: str) -> None:
    async with playing(python, tmp_path) as player:
        running = await player.start("hang", task=f"demo/{BELLS}", browser=browser)
        assert running.stdout is not None
        assert await running.stdout.readline() == b"begun\n"
        assert player.served.host.free == 0
        running.kill()
        await running.wait()
        async with asyncio.timeout(10):
            while player.served.host.free == 0:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.05)


async def test_two_workers_of_a_study_play_the_reference_in_browsergyms_own_browser(
    python: Path, tmp_path: Path
) -> None:
    """In Arena's, `test_equal_verdicts` plays the whole demo."""
    names = [one.id for one in load_suite("demo").tasks if one.id.startswith("wiki-")]
    async with playing(python, tmp_path, slots=2) as player:
        model = PlaysReferences([f"demo/{one}" for one in names])
        found = await player.study(model, *names, browser="browsergym", jobs=2)
        outcomes = {one["where"]: one["arena_outcome"] for one in found["rows"]}
        assert len(outcomes) == len(names)
        assert set(outcomes.values()) == {"success"}, outcomes
        assert (found["avg_reward"], found["errors"]) == (1.0, 0)


async def test_what_is_unscored_is_left_out_of_a_studys_mean_and_what_gives_up_is_not(
    python: Path, tmp_path: Path
) -> None:
    """The shop is killed before the first action, one agent babbles, one plays the reference."""
    reference = PlaysReferences([f"demo/{BELLS}", f"demo/{LATEST_ORDER}"])

    babbles = task_of(f"demo/{SAMOVAR}").intent
    killed = task_of(f"demo/{LATEST_ORDER}").intent

    def model(asked: ChatRequest) -> Says:
        if killed not in asked.prompt and babbles not in asked.prompt:
            return reference(asked)
        if babbles in asked.prompt:
            return Says("I would rather not.")
        asyncio.run_coroutine_threadsafe(kill_newest("shop"), loop).result()
        return says("send_msg_to_user('nothing')")

    loop = asyncio.get_running_loop()
    async with playing(python, tmp_path) as player:
        found = await player.study(model, BELLS, SAMOVAR, LATEST_ORDER, browser="arena")
    rewards = {re.sub(r".*demo\.|_0$", "", one["where"]): one for one in found["rows"]}
    assert {name: one["cum_reward"] for name, one in rewards.items()} == {
        BELLS: 1.0,
        SAMOVAR: 0.0,
        LATEST_ORDER: "NaN",
    }
    assert rewards[LATEST_ORDER]["err_msg"].startswith("unscored: infra")
    assert found["avg_reward"] == 0.5
