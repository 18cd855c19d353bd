"""verifiers plays Arena's tasks: its own code, at a pinned version, beside a service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.agents.foreign_adapters import verifiers_python
from support.agents.foreign_clients import ROOT, Beside, beside, kill_newest
from support.agents.reference_player import nodes_in, task_of
from support.agents.scripted_model import (
    Calls,
    ChatRequest,
    Says,
    ScriptedModel,
    ScriptedReply,
    Stalls,
)
from support.tasks.small_suites import BRUGES

from orchestrator.serve.client import Episode, Service

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=6)]

BELLS, SAMOVAR, ORDER = "wiki-bells-of-bruges", "wiki-samovar", "shop-latest-order-total"
NOTE, OTHER = "tools-note-the-kettle", "tools-pin-the-train"
NOTES = "http://tools.arena.test/notes"
GOLD = re.compile(r"carillon of \(")  # how the gold is computed; its page says what it is


@pytest.fixture(scope="module")
def python() -> Path:
    return verifiers_python()


async def evaluates(
    on: Beside, model: Callable[[ChatRequest], ScriptedReply], *words: str, log: Any
) -> tuple[asyncio.subprocess.Process, ScriptedModel]:
    """Start verifiers' own evaluation of the taskset, with a scripted model."""
    # As the wheel has it.
    shutil.copy(
        ROOT / "orchestrator" / "serve" / "verifiers_entry.py", on.folder / "arena_verifiers.py"
    )
    scripted = ScriptedModel(model)
    scripted.__enter__()
    running = await on.start(
        *("vf-eval", "arena-verifiers", "-m", "scripted", "-o", "outputs"),
        *("--client.base-url", scripted.url, "--client.api-key-var", "SCRIPTED_KEY"),
        *("--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"),
        *("--no-push", "--no-rich", *words),
        log=log,
        SCRIPTED_KEY="none",
    )
    return running, scripted


def played(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rollouts of an evaluation, by their tasks."""
    [traces] = folder.glob("outputs/*/traces.jsonl")
    for line in traces.read_text(encoding="utf-8").splitlines():
        [trace] = json.loads(line)["traces"]
        yield trace["task"]["data"]["name"].rpartition("/")[2], trace


def tool_answers(asked: ChatRequest) -> int:
    return sum(one.role == "tool" for one in asked.messages)


async def test_the_right_answer_passes_idling_fails_and_a_killed_site_has_no_reward(
    python: Path, tmp_path: Path
) -> None:
    goals = {name: task_of(f"demo/{name}").intent for name in (BELLS, SAMOVAR, ORDER)}
    loop = asyncio.get_running_loop()

    def model(asked: ChatRequest) -> ScriptedReply:
        if goals[SAMOVAR] in asked.prompt:
            return Says("I would rather not.")
        if goals[ORDER] in asked.prompt:
            if tool_answers(asked) == 0:
                asyncio.run_coroutine_threadsafe(kill_newest("shop"), loop).result()
            return Calls.one("browser_navigate", url="http://shop.arena.test/")
        if tool_answers(asked) == 0:
            return Calls.one("browser_navigate", url=BRUGES)
        return Calls.one("submit_answer", answer="47")

    async with beside(python, tmp_path) as on:
        with (tmp_path / "log").open("wb") as log:
            chosen = ("--env.taskset.tasks", ",".join(goals))
            credit = ("--env.taskset.task.partial-credit", "0.5")
            running, scripted = await evaluates(on, model, *chosen, *credit, log=log)
            assert await running.wait() == 0, (tmp_path / "log").read_text()
        scripted.__exit__(None, None, None)
        await on.until_free(1)
        token = on.served.token
    found = dict(played(tmp_path))
    said = (tmp_path / "log").read_text()

    def scores(name: str) -> dict[str, float]:
        return {reward: one["score"] for reward, one in found[name]["rewards"].items()}

    assert found.keys() == goals.keys(), said
    assert scores(BELLS) == {"outcome": 1.0, "partial_credit": 0.0}, found[BELLS]["errors"]
    assert (found[BELLS]["ok"], found[BELLS]["stop_condition"]) == (True, "episode_is_over")
    assert scores(SAMOVAR) == {"outcome": 0.0, "partial_credit": 0.0}
    assert found[SAMOVAR]["info"]["arena"]["outcome"] == "failure"

    assert scores(ORDER) == {}
    assert (found[ORDER]["ok"], found[ORDER]["errors"][-1]["type"]) == (False, "TaskError")
    assert "unscored: infra" in found[ORDER]["errors"][-1]["message"]

    kept = [one for one in (tmp_path / "outputs").rglob("*") if one.is_file()]
    texts = [one.read_text(encoding="utf-8", errors="replace") for one in kept]
    seen = [one.prompt for one in scripted.requests]
    assert [one for one in (*texts, *seen, said) if token in one] == []
    assert [one for one in (*texts, *seen, said) if GOLD.search(one)] == []


async def test_the_rollouts_of_a_group_begin_at_one_prepared_state_and_apart(
    python: Path, tmp_path: Path
) -> None:
    """Each finds the note of the preparation, and only its own beside it."""

    async with beside(python, tmp_path, slots=2, checkpoints=True) as on:
        (tmp_path / "starts").mkdir()
        await asyncio.to_thread(prepare, on, tmp_path / "starts" / f"{NOTE}.arena-checkpoint")
        shown: list[str] = []
        turns = count()

        def model(asked: ChatRequest) -> ScriptedReply:
            match tool_answers(asked):
                case 0:
                    return Calls.one("browser_navigate", url=f"{NOTES}/new")
                case 1:
                    title = element(asked.messages[-1].content, "textbox", "Title")
                    return Calls.one("browser_type", target=title, text=f"mark {next(turns)}")
                case 2:
                    text = element(asked.messages[-1].content, "textbox", "Text")
                    return Calls.one("browser_type", target=text, text="a note")
                case 3:
                    button = element(asked.messages[-1].content, "button", "Save note")
                    return Calls.one("browser_click", target=button)
                case 4:
                    return Calls.one("browser_navigate", url=NOTES)
                case _:
                    shown.append(asked.messages[-1].content)
                    return Calls.one("submit_answer", answer="done")

        with (tmp_path / "log").open("wb") as log:
            chosen = ("--env.taskset.suite", "arena-120", "--env.taskset.tasks", f"{NOTE},{OTHER}")
            group = ("--env.taskset.task.starts", str(tmp_path / "starts"), "-r", "2", "-c", "2")
            running, scripted = await evaluates(on, model, *chosen, *group, log=log)
            assert await running.wait() == 0, (tmp_path / "log").read_text()
        scripted.__exit__(None, None, None)
        await on.until_free(2)
        with (tmp_path / "refused").open("wb") as log:
            limit = ("--env.taskset.task.max-steps", "5")
            running, scripted = await evaluates(on, model, *chosen, *group, *limit, log=log)
            assert await running.wait() != 0
        scripted.__exit__(None, None, None)
    assert "max_steps would have no effect" in (tmp_path / "refused").read_text(encoding="utf-8")
    found = list(played(tmp_path))
    assert [name for name, _ in found] == [NOTE, NOTE]  # the other has no prepared state
    assert len({one["info"]["arena_start"] for _, one in found}) == 1
    assert all(one["ok"] for _, one in found)
    assert all("prepared" in text for text in shown)
    assert {frozenset(re.findall(r"mark \d", text)) for text in shown} == {
        frozenset({f"mark {number}"}) for number in range(2)
    }


def prepare(on: Beside, file: Path) -> None:
    """Write a note, and keep the episode as it is then, before anything is scored."""
    service = Service(on.served.url, str(on.served.token_file))
    asked = {"task": f"arena-120/{NOTE}", "observe": ["aria", "screenshot"]}
    episode = Episode.begin(service, asked)
    try:
        seen = episode.step(f"goto('{NOTES}/new')")["observation"]["parts"]["aria"]
        title, text = (element(seen, "textbox", one)[1:] for one in ("Title", "Text"))
        save = element(seen, "button", "Save note")[1:]
        for call in (f"fill('{title}', 'prepared')", f"fill('{text}', '-')", f"click('{save}')"):
            assert episode.step(call)["observation"]["last_error"] is None
        file.write_bytes(episode.checkpoint("prepared"))
    finally:
        episode.release()


def element(seen: str, role: str, name: str) -> str:
    """Return the ref of an element in a snapshot."""
    [found] = [one.id for one in nodes_in(seen) if (one.role, one.name) == (role, name)]
    return f"e{found}"


async def test_a_killed_evaluation_frees_its_slot(python: Path, tmp_path: Path) -> None:
    async with beside(python, tmp_path) as on:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()

        def model(_: ChatRequest) -> ScriptedReply:
            loop.call_soon_threadsafe(asked.set)
            return Stalls()

        with (tmp_path / "log").open("wb") as log:
            chosen = ("--env.taskset.tasks", BELLS)
            running, scripted = await evaluates(on, model, *chosen, log=log)
            async with asyncio.timeout(240):
                await asked.wait()
            assert on.served.host.free == 0
            os.killpg(running.pid, signal.SIGKILL)
            await on.until_free(1)
            await running.wait()
        scripted.__exit__(None, None, None)
