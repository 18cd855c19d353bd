"""OpenEnv's own client plays Arena's tasks on OpenEnv's own server, at a pinned version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from support.agents.foreign_adapters import openenv_serving
from support.agents.foreign_clients import ROOT
from support.tasks.small_suites import BRUGES

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=4)]

BELLS, SAMOVAR = "wiki-bells-of-bruges", "wiki-samovar"
TASKS: Final = f"{BELLS},{SAMOVAR}"
GO: Final = f"goto({BRUGES!r})"
GOLD = re.compile(r"carillon of \(")  # how the gold is computed; its page says what it is


async def test_its_client_plays_and_the_reward_is_arenas_verdict(tmp_path: Path) -> None:
    async with openenv_serving(tmp_path, tasks=TASKS) as (on, url):

        async def play(*actions: str, **reset: Any) -> list[dict[str, Any]]:
            named = {"task_name": BELLS, **reset}
            found: list[dict[str, Any]] = await on.play(
                "openenv_player", what="play", url=url, reset=named, actions=actions
            )
            return found

        first, misread, gone, ended, again, state = await play(
            "fly away", GO, "send_msg_to_user('47')", GO
        )
        assert first["goal"].startswith("How many bells")
        assert (misread["last_action_error"], bool(misread["error"])) == (True, True)
        assert (gone["url"], gone["reward"], gone["done"]) == (BRUGES, 0.0, False)
        assert (ended["reward"], ended["done"]) == (1.0, True)
        assert "no episode is played" in again["error_frame"]
        assert (state["outcome"], state["task_id"], state["step_count"]) == (
            *("success", f"demo/{BELLS}"),
            3,
        )
        said = json.dumps([first, misread, gone, ended, again, state])
        assert on.served.token not in said
        assert GOLD.search(said) is None

        idle = await play("send_msg_to_user('done')")
        assert (idle[1]["reward"], idle[1]["done"], idle[2]["outcome"]) == (0.0, True, "failure")
        cut = await play(GO, max_steps=1)
        assert (cut[1]["reward"], cut[1]["done"]) == (0.0, True)

        page = (ROOT / "docs" / "openenv.md").read_text(encoding="utf-8")
        example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
        shown = await on.start(str(on.python), "-c", example.replace("http://127.0.0.1:8000", url))
        assert (await shown.communicate())[0].startswith(b"How many bells")

        lost = await play(GO, "kill wiki", "send_msg_to_user('47')")
        assert "unscored: infra" in lost[2]["error_frame"]
        assert (lost[3]["outcome"], lost[3]["cum_reward"]) == ("unscored", 0.0)


async def test_sessions_have_episodes_of_their_own_and_a_killed_client_frees_its_slot(
    tmp_path: Path,
) -> None:
    async with openenv_serving(tmp_path, 2, TASKS) as (on, url):
        found = await on.play("openenv_player", what="together", url=url, tasks=[BELLS, SAMOVAR])
        assert found == [BELLS, SAMOVAR, "refused"]
        await on.until_free(2)

        program = ("-m", "support.agents.openenv_player", json.dumps({"what": "hang", "url": url}))
        running = await on.start(str(on.python), *program)
        assert running.stdout is not None
        assert await running.stdout.readline() == b"begun\n"
        assert on.served.host.free == 1
        running.kill()
        await on.until_free(2)
        await running.wait()
