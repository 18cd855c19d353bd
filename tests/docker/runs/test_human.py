"""A person plays tasks of the demo by hand; their run stands beside an agent's."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import ArenaProcess, arena
from support.people.screens import display
from support.people.scripted_person import ControlPage, Window, control_page, window
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, write_suite

from evaluators.evidence import Ended
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.api.arena import Arena
from orchestrator.episode.person.agent import PersonAgent
from orchestrator.local_pages.human.desk import ControlDesk, consent

__all__ = ["display", "window"]
pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.usefixtures("display")]

BELLS, GUARANTEE = "wiki-bells-of-bruges", "shop-guarantee-of-a-kettle"
SECRET = "correct-horse-battery"


@dataclass
class AtDesk:
    """A person at the desk of a run under way."""

    arena: Arena
    control: ControlPage
    playing: asyncio.Task[RunReport]


@asynccontextmanager
async def at_desk(run: Path, *tasks: str, resumes: bool = False) -> AsyncIterator[AtDesk]:
    stop = asyncio.Event()
    async with (
        ControlDesk.open(stop) as desk,
        control_page(desk.url) as control,
        Arena(on_event=desk.heard) as arena,
    ):
        agent = PersonAgent(person="P07", consent=consent(), desk=desk, limit_s=300)

        async def play() -> RunReport:
            assert await desk.agrees()
            if resumes:
                return await arena.runs.resume(run, agent=agent, headless=False, stop=stop)
            return await arena.run(agent, tasks, out=run, attempts=1, headless=False, stop=stop)

        playing = asyncio.create_task(play())
        await control.asks("consent")
        await control.says("agree")
        yield AtDesk(arena, control, playing)


async def test_a_person_stands_beside_an_agent(tmp_path: Path, window: Window) -> None:
    person, oracle = tmp_path / "person", tmp_path / "oracle"
    async with at_desk(person, BELLS, GUARANTEE) as at:
        control = at.control
        await control.starts()
        await window.page.get_by_role("link", name="Bruges", exact=True).first.click()
        await window.page.wait_for_load_state()
        await control.says("done", answer="47")
        await control.starts()
        page = window.page
        await page.get_by_role(
            "link", name="Aldermoor Lantern Stovetop Kettle 0.8 L, Brushed"
        ).first.click()
        await page.wait_for_load_state()
        await window.noticed()
        await page.goto("http://shop.arena.test/accounts/login/")
        await page.locator("input[type=password]").first.click()
        await page.keyboard.type(SECRET)
        await window.noticed()
        await control.says("cannot", reason="The page of the product names no guarantee")
        report = await at.playing
        await at.arena.run("oracle", [BELLS, GUARANTEE], out=oracle)
        found = at.arena.runs.compare([person, oracle])
        exported = at.arena.runs.export([report], "csv", tmp_path / "csv")
        at.arena.runs.export([report], "atif", tmp_path / "atif")
    assert [str(one.score.outcome) for one in report.episodes] == ["success", "success"]
    bells, guarantee = report.episodes
    assert (bells.score.steps, bells.outline.answer) == (2, "47")
    assert guarantee.outline.ended is Ended.INFEASIBLE
    assert guarantee.evidence.steps[1].logical == (
        "shop:/product/16/aldermoor-lantern-stovetop-kettle-08-l-brushed-steel"
    )
    assert report.lock.agent.name == "human (person P07)"
    assert report.lock.agent.options["consent_sha256"] == consent().sha256
    assert report.by_hand is not None
    (answer,) = found.analysis.answers
    assert "human (person P07) solved 100% and oracle 100%" in answer.sentence
    said = " ".join(found.analysis.notes)
    assert "human (person P07): median " in said
    assert "a person, for a human baseline, not an agent" in said
    rows = (exported.path / "episodes.csv").read_text(encoding="utf-8")
    assert "human (person P07)" in rows
    assert not holding(SECRET, tmp_path)


def holding(secret: str, folder: Path) -> list[Path]:
    """Return the files that hold a text, packed or not."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    assert len(files) > 10
    return [one for one in files if secret.encode() in unpacked(one)]


def unpacked(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def address(process: ArenaProcess) -> str:
    """Return where the control page is, as the terminal says it."""
    process.hear(r"control page: \S+\n")
    found: list[str] = re.findall(r"control page: (\S+)\n", "".join(process._err))
    return found[-1]


def sits_down(run: RunAt, *words: str | Path) -> ArenaProcess:
    return ArenaProcess("human", *words, "--person", "P07", "--print", cwd=run.cwd)


async def ends(process: ArenaProcess) -> int:
    return (await asyncio.to_thread(process.wait)).code


async def test_nothing_is_recorded_of_who_does_not_agree(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("one"))
    with sits_down(run, suite, "--out", "run") as process:
        async with control_page(address(process)) as control:
            await control.asks("consent")
            await control.says("refuse")
            assert await ends(process) == 0
    assert [*run.cwd.iterdir()] == []


@SLOW
async def test_who_stops_in_a_task_plays_it_once_more_later(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("one"), bells("two"), bells("three"))
    with sits_down(run, suite, "--out", "run") as process:
        async with control_page(address(process)) as control:
            await control.asks("consent")
            await control.says("agree")
            await control.starts()
            await control.says("done", answer="47")
            await control.asks("invited")
            await control.says("later")
            await control.starts()
            await control.says("stop")
            assert await ends(process) == 0
    assert run.attempts() == [("finished", "success"), ("abandoned", None)]
    other = arena("human", "--resume", "run", "--person", "P08", "--print", cwd=run.cwd)
    assert (other.code, "human (person P07), and not with" in other.err) == (2, True)
    agents = arena("eval", "--resume", "run", cwd=run.cwd)
    assert (agents.code, "arena human --resume" in agents.err) == (2, True)
    with sits_down(run, "--resume", "run") as process:
        async with control_page(address(process)) as control:
            await control.asks("consent")
            await control.says("agree")
            await control.starts()
            await control.says("done", answer="47")
            await control.starts()
            process.interrupt()
            assert await ends(process) == 130
    with sits_down(run, "--resume", "run") as process:
        async with control_page(address(process)) as control:
            await control.asks("consent")
            await control.says("agree")
            await control.starts()
            await control.says("done", answer="46")
            assert await ends(process) == 0
    assert [(task, state, how) for task, _, state, how in run.ledger()] == [
        ("one", "finished", "success"),
        ("three", "abandoned", None),
        ("two", "finished", "success"),
        ("three", "abandoned", None),
        ("three", "finished", "failure"),
    ]
    assert run.evidence("three", 3).attempt == 3
    assert await asyncio.to_thread(run.containers) == ()
