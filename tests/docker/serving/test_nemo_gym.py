"""NeMo Gym's own agent, model server and client play on Arena's resources server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Final

import pytest
from support.agents.foreign_adapters import nemo_gym_python
from support.agents.foreign_clients import beside, kill_newest
from support.agents.reference_player import task_of
from support.agents.scripted_model import (
    Calls,
    ChatRequest,
    Says,
    ScriptedModel,
    ScriptedReply,
)
from support.tasks.small_suites import BRUGES

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=6)]

BELLS, SAMOVAR, ORDER = "wiki-bells-of-bruges", "wiki-samovar", "shop-latest-order-total"
GOLD = re.compile(r"carillon of \(")  # how the gold is computed; its page says what it is
GO: Final = f"goto({BRUGES!r})"


@pytest.fixture(scope="module")
def python() -> Path:
    return nemo_gym_python()


async def test_the_right_answer_passes_idling_fails_and_a_killed_site_has_no_reward(
    python: Path, tmp_path: Path
) -> None:
    goals = {name: task_of(f"demo/{name}").intent for name in (BELLS, SAMOVAR, ORDER)}
    loop = asyncio.get_running_loop()

    def model(asked: ChatRequest) -> ScriptedReply:
        calls = sum(one.role == "tool" for one in asked.messages)
        if goals[SAMOVAR] in asked.prompt:
            return Says("I would rather not.")
        if goals[ORDER] in asked.prompt:
            if calls == 0:
                asyncio.run_coroutine_threadsafe(kill_newest("shop"), loop).result()
                return Calls.one("step", action_str="goto('http://shop.arena.test/')")
            return Says("nothing")
        return Says("47") if calls else Calls.one("step", action_str=GO)

    async with beside(python, tmp_path) as on:
        with ScriptedModel(model) as scripted:
            found = await on.play(
                "nemo_gym_player",
                what="play",
                model=scripted.url,
                tasks=",".join(goals),
                config={"partial_credit": 0.5},
            )
        await on.until_free(1)
        token = on.served.token
    bells, samovar, order = (found[f"demo/{one}"] for one in goals)
    assert (bells["reward"], bells["outcome"]) == (1.0, "success"), bells
    assert bells["reward_components"] == {"outcome": 1.0, "partial_credit": 0.0}
    assert (samovar["reward"], samovar["outcome"]) == (0.0, "failure"), samovar
    assert order["status"] >= 500
    assert "reward" not in order
    said = json.dumps([found, *(one.prompt for one in scripted.requests)])
    assert token not in said
    assert GOLD.search(said) is None


async def test_a_state_is_exported_to_who_knows_the_token_and_another_session_goes_on_from_it(
    python: Path, tmp_path: Path
) -> None:
    async with beside(python, tmp_path, slots=2, checkpoints=True) as on:
        found = await on.play(
            "nemo_gym_player",
            what="states",
            model="http://127.0.0.1:1/v1",
            tasks=BELLS,
            actions=[GO],
        )
    refused, again, without, url, rewards = found
    assert (refused, again, without) == (403, 409, 403)
    assert url == BRUGES
    assert rewards == [1.0, 1.0, 1.0]


async def test_a_killed_server_frees_its_slot(python: Path, tmp_path: Path) -> None:
    async with beside(python, tmp_path) as on:
        asked = {"what": "hang", "model": "http://127.0.0.1:1/v1", "tasks": BELLS}
        program = ("-m", "support.agents.nemo_gym_player", json.dumps(asked))
        running = await on.start(str(python), *program)
        assert running.stdout is not None
        async for line in running.stdout:
            if line == b"begun\n":
                break
        assert on.served.host.free == 0
        running.kill()
        await on.until_free(1)
        await running.wait()
