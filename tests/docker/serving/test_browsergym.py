"""BrowserGym and AgentLab play Arena's tasks: their own code, at pinned versions, on a service."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from support.agents.browsergym_oracle import PlaysReferences, says
from support.agents.foreign_clients import kill_newest, python_with
from support.agents.reference_player import task_of
from support.agents.scripted_model import ChatRequest, Says, ScriptedModel
from support.tasks.small_suites import BRUGES

from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.serve.server import Served, serve
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=4)]

ROOT = Path(__file__).parents[3]
# AgentLab's own requirements include torch, ray and gradio, which its studies do without.
# It maps missing errors as pandas 2 says them.
PINNED: Final = (
    *("browsergym-experiments==0.14.3", "openai==1.109.1", "litellm==1.80.0", "anthropic"),
    *("gitpython", "ipython", "joblib", "matplotlib", "networkx", "pandas<3", "python-slugify"),
    *("pyyaml", "requests"),
)
AGENTLAB: Final = "agentlab==0.4.2"
BROWSERS: Final = ("arena", "browsergym")
BELLS, SAMOVAR = "wiki-bells-of-bruges", "wiki-samovar"
LATEST_ORDER = "shop-latest-order-total"
GO = f"goto({BRUGES!r})"
GOLD = re.compile(r"carillon of [(\d]")  # the gold, and how it is computed


@pytest.fixture(scope="module")
def python() -> Path:
    """Return the Python of an environment with BrowserGym and AgentLab, and nothing of Arena's."""
    return python_with(
        AGENTLAB, [*PINNED], ["--no-deps", AGENTLAB], given="ARENA_BROWSERGYM_PYTHON"
    )


@dataclass(frozen=True, slots=True)
class Player:
    """Programs of BrowserGym's environment, beside a service of this process."""

    python: Path
    folder: Path
    served: Served

    async def start(self, what: str, model: str = "", **asked: Any) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(self.python, "-m", "support.agents.browsergym_player", what, json.dumps(asked)),
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
                "ARENA_URL": self.served.url,
                "ARENA_TOKEN_FILE": str(self.folder / "token"),
                "AGENTLAB_EXP_ROOT": str(self.folder),
                "OPENAI_BASE_URL": model,
                "OPENAI_API_KEY": "none",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**26,
        )

    async def play(self, what: str, model: str = "", **asked: Any) -> dict[str, Any]:
        """Let a program play to its end; the sites are killed whenever it says so."""
        running = await self.start(what, model, **asked)
        assert running.stdout is not None
        assert running.stdin is not None
        last = b""
        async for line in running.stdout:
            last = line
            if line.startswith(b"kill "):
                await kill_newest("wiki")
                running.stdin.write(b"\n")
        assert await running.wait() == 0
        found: dict[str, Any] = json.loads(last)
        return found

    async def study(
        self, model: Callable[[ChatRequest], Says], *tasks: str, browser: str, jobs: int = 1
    ) -> dict[str, Any]:
        with ScriptedModel(model) as scripted:
            chosen = ",".join(tasks)
            return await self.play("study", scripted.url, tasks=chosen, browser=browser, jobs=jobs)


@asynccontextmanager
async def playing(python: Path, folder: Path, slots: int = 1) -> AsyncIterator[Player]:
    async with (
        Arena(workers=slots) as arena,
        serve(arena, slots=slots, port=0, token_path=folder / "token", out=folder / "out") as on,
    ):
        yield Player(python, folder, on)
        assert on.host.free == slots


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
        async with asyncio.timeout(60):
            while player.served.host.free == 0:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.05)


@pytest.mark.parametrize(("browser", "tasks"), [("arena", ""), ("browsergym", "wiki-")])
async def test_two_workers_of_a_study_play_the_demo_with_the_verdicts_of_arena(
    python: Path, tmp_path: Path, browser: str, tasks: str
) -> None:
    """The reference passes every task in `arena eval`, and so it does here."""
    names = [one.id for one in load_suite("demo").tasks if World.OFFLINE in one.worlds]
    names = [one for one in names if one.startswith(tasks)]
    async with playing(python, tmp_path, slots=2) as player:
        model = PlaysReferences([f"demo/{one}" for one in names])
        found = await player.study(model, *names, browser=browser, jobs=2)
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
