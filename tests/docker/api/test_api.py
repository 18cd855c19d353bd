"""A program of a user's own plays episodes and runs, on real replicas in a real browser."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from support.runs.run_at import on_engine
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import InterruptedRunError, PluginError, UsageError
from orchestrator import (
    Arena,
    ArenaEvent,
    Assignment,
    Decision,
    EpisodeEnded,
    Observation,
    OutcomeKind,
    ProgressNote,
    RunBegan,
    SyncArena,
    actions,
)
from orchestrator.sandbox.engine.containers import Labels

pytestmark = [pytest.mark.docker, pytest.mark.browser]

README = Path(__file__).parents[3] / "README.md"
ORDERS = "http://shop.arena.test/accounts/orders/"
BRUGES = "http://wiki.arena.test/wiki/A/Bruges"
BELLS = "demo/wiki-bells-of-bruges"


def my_agent(observation: Observation) -> actions.Action:
    """Look at the page that holds the answer, and give it."""
    if observation.step > 0:
        return actions.Stop(answer="£44.95" if "shop" in observation.url else "47")
    return actions.Goto(url=ORDERS if "shop" in observation.url else BRUGES)


def containers_of(pid: int) -> list[str]:
    """Return the containers of a process's episodes."""
    found = on_engine(lambda engine: engine.containers({Labels.OWNER: None}))
    mine = f"episodes-{pid}-"
    return [one.name for one in found if one.labels.get(Labels.OWNER, "").startswith(mine)]


def test_the_lines_of_the_readme_play_an_episode(capsys: pytest.CaptureFixture[str]) -> None:
    text = README.read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(async with Arena\(\).*?)```", text, re.DOTALL)
    assert len(block.strip().splitlines()) == 5
    program = f"async def main():\n{textwrap.indent(block, '    ')}"
    names: dict[str, Callable[..., object]] = {"Arena": Arena, "my_agent": my_agent}
    exec(compile(program, str(README), "exec"), names)  # noqa: S102  it is the README's own
    asyncio.run(names["main"]())  # type: ignore[arg-type]
    assert capsys.readouterr().out == "success\n"
    assert containers_of(os.getpid()) == []


async def test_a_script_plays_episodes_one_after_the_other_and_keeps_their_evidence(
    tmp_path: Path,
) -> None:
    """The synchronous face, inside a running loop as in a notebook; the pool is kept and grows."""
    tasks = ["demo/shop-latest-order-total", BELLS, "demo/shop-latest-order-total"]
    receipts = []
    with SyncArena() as arena:
        for number, task in enumerate(tasks):
            with arena.episode(task, agent="scripted", out=tmp_path / str(number)) as episode:
                observation = episode.reset()
                assert episode.assignment.task == episode.task.id
                while not episode.is_over:
                    observation = episode.step(my_agent(observation), thought="I know").observation
                assert episode.score().outcome.kind is OutcomeKind.SUCCESS
            receipts.append(episode.evidence().receipts)
            report = arena.runs.read(tmp_path / str(number))
            assert (report.lock.agent.name, report.pending) == ("scripted", 0)
            (scored,) = arena.runs.score(tmp_path / str(number))
            assert (str(scored.score.outcome), scored.is_same) == ("success", True)
            assert scored.evidence.steps[1].thought == "I know"
            assert (tmp_path / str(number) / "evidence" / scored.folder / "step-001.webp").is_file()
    first, _, second = receipts
    assert (first[0].site, first[0].strategy) == ("shop", "start")
    assert second[0].strategy in {"clean", "rewind"}
    assert second[0].golden == second[0].after
    assert await asyncio.to_thread(containers_of, os.getpid()) == []


async def test_what_breaks_inside_the_block_leaves_no_container_behind(tmp_path: Path) -> None:
    async def broken() -> None:
        async with Arena() as arena, arena.episode(BELLS, out=tmp_path / "run") as episode:
            await episode.reset()
            await episode.step(actions.Goto(url=BRUGES))
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await broken()
    assert await asyncio.to_thread(containers_of, os.getpid()) == []
    report = Arena().runs.read(tmp_path / "run")
    assert (report.pending, len(report.episodes)) == (1, 0)


KILLED = f"""
from orchestrator import SyncArena
arena = SyncArena().open()
episode = arena.episode("{BELLS}")
episode.reset()
print("playing", flush=True)
input()
"""


async def test_what_a_killed_process_left_is_removed_by_the_next_one() -> None:
    killed = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        KILLED,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert killed.stdout is not None
    async with asyncio.timeout(120):
        assert await killed.stdout.readline() == b"playing\n"
    left = await asyncio.to_thread(containers_of, killed.pid)
    assert len(left) == 1
    killed.send_signal(signal.SIGKILL)
    await killed.wait()
    assert await asyncio.to_thread(containers_of, killed.pid) == left
    events: list[ArenaEvent] = []
    async with Arena(on_event=events.append) as arena, arena.episode(BELLS) as episode:
        await episode.reset()
    notes = [event.text for event in events if isinstance(event, ProgressNote)]
    assert f"removed what a killed process left: {left[0]}" in notes
    assert await asyncio.to_thread(containers_of, killed.pid) == []


class Scripted:
    """An agent of a user's own, made by its class."""

    def __init__(self, assignment: Assignment) -> None:
        assert "carillon" in assignment.intent

    async def decide(self, observation: Observation) -> Decision:
        return Decision(my_agent(observation))


async def test_an_agent_of_ones_own_is_run_over_tasks_and_the_run_goes_on_with_it(
    tmp_path: Path,
) -> None:
    suite, events = str(write_suite(tmp_path, bells("one"), bells("two"))), list[ArenaEvent]()
    stop = asyncio.Event()

    def on_event(event: ArenaEvent) -> None:
        events.append(event)
        if isinstance(event, EpisodeEnded):
            stop.set()

    async with Arena(on_event=on_event) as arena:
        with pytest.raises(InterruptedRunError, match="what had finished is kept"):
            await arena.run(Scripted, suite=suite, out=tmp_path / "run", stop=stop)
        (began,) = [event for event in events if isinstance(event, RunBegan)]
        assert (began.folder, began.episodes) == (tmp_path / "run", 2)
        assert arena.runs.read(began.folder).pending == 1
        report = await arena.runs.resume(began.folder, agent=Scripted)
    assert report.pending == 0
    assert [str(episode.score.outcome) for episode in report.episodes] == ["success", "success"]
    assert report.lock.agent.name.endswith(":Scripted")


async def test_the_function_of_the_readme_is_an_agent_and_what_is_none_begins_no_run(
    tmp_path: Path,
) -> None:
    suite, out = str(write_suite(tmp_path, bells("one"))), tmp_path / "run"
    async with Arena() as arena:
        with pytest.raises(PluginError, match="`observation` or `assignment`"):
            await arena.run(lambda seen: actions.Stop(answer=seen.title), suite=suite, out=out)
        assert not out.exists()

        report = await arena.run(my_agent, suite=suite, out=out)
    assert [str(episode.score.outcome) for episode in report.episodes] == ["success"]
    assert report.lock.agent.name.endswith(":my_agent")


def test_a_client_of_cdp_plays_an_episode_of_the_python_api(tmp_path: Path) -> None:
    from playwright.sync_api import Error as PlaywrightError  # noqa: PLC0415  the test's client
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with SyncArena() as arena, sync_playwright() as playwright:
        with arena.episode(BELLS, endpoint="cdp", out=tmp_path / "run") as episode:
            episode.reset()
            browser = playwright.chromium.connect_over_cdp(episode.cdp_url)
            page = browser.contexts[0].pages[0]
            page.goto(BRUGES)
            score = episode.finish("47")
            assert score.outcome.kind is OutcomeKind.SUCCESS, score.because
            with pytest.raises(PlaywrightError, match="has been closed"):  # the client was let go
                page.goto(BRUGES)
            browser.close()
        with arena.episode(BELLS) as plain:
            plain.reset()
            with pytest.raises(UsageError, match="no endpoint"):
                plain.finish("47")
    assert [step.action for step in episode.evidence().steps][1:] == [
        actions.Goto(url=BRUGES),
        actions.Stop(answer="47"),
    ]
