"""MiniWoB++ on its real pages: started, solved, left, and scored again from evidence."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
import requests
import yaml
from quick_cases import SLOW
from support.agents.arena_process import arena
from support.runs.run_at import RunAt

from evaluators.evidence import Ended
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import load_registry
from tasks.loader import load_suite
from tasks.schema import Suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

# One of each kind: buttons, boxes, typing, icons without a name, colours, a calendar, a menu;
# of the pointer: a list sorted by dragging, a line drawn, a slider, a text highlighted;
# and of what the accessibility tree does not tell: a polygon on a canvas, a side of a cube.
SOLVED = (
    "count-sides",
    "drag-cube",
    "drag-sort-numbers",
    "draw-line",
    "highlight-text-2",
    "use-slider",
    "choose-date",
    "click-checkboxes-soft",
    "click-color",
    "email-inbox-forward-nl",
    "enter-text",
    "grid-coordinate",
    "search-engine",
    "social-media-some",
)
NO_MACHINERY = {"DOCKER_HOST": "unix:///nonexistent", "ARENA_CHROMIUM": "/nonexistent/chromium"}


def write(folder: Path, *tasks: object) -> Path:
    path = folder / "wob.yaml"
    suite = {"suite": "wob", "version": 1, "title": "Pages", "tasks": list(tasks)}
    path.write_text(yaml.safe_dump(suite), encoding="utf-8")
    return path


def written(page: str, seed: int) -> dict[str, object]:
    suite: Suite = load_suite(f"miniwob@{seed}")
    found = next(task for task in suite.tasks if task.id == f"{page}-s{seed}")
    return found.model_dump(mode="json", exclude_unset=True)


async def test_the_suite_names_exactly_the_pages_that_the_site_has() -> None:
    registry = load_registry()
    engine = await Engine.connect()
    async with (
        engine,
        SlotPool.open(engine, registry, ["miniwob"], f"wob-{os.getpid()}") as slot_pool,
        slot_pool.lease(["miniwob"]) as slot,
    ):
        client = slot.replicas["miniwob"].endpoint
        front = await asyncio.to_thread(
            requests.get, f"http://{client.host}:{client.port}/", timeout=30
        )
    there = {
        link.partition(".html")[0]
        for link in front.text.split('href="/miniwob/')
        if ".html" in link
    }
    named = {task.miniwob.page for task in load_suite("miniwob").tasks if task.miniwob}
    assert named == {page for page in there if "<" not in page}


def test_the_oracle_solves_pages_by_rules_and_evidence_alone_scores_them(
    run: RunAt, tmp_path: Path
) -> None:
    suite = write(tmp_path, *(written(page, 7) for page in SOLVED))
    played = run.play(suite, "--workers", "2", "--json")
    assert played.code == 0, played.err
    outcomes = {task: outcome for task, _, _, outcome in run.ledger()}
    assert outcomes == {f"{page}-s7": "success" for page in SOLVED}
    kept = run.evidence("enter-text-s7")
    assert kept.ended is Ended.PAGE_ENDED
    assert kept.miniwob is not None
    assert (kept.miniwob.raw, kept.miniwob.seed) == (1.0, 7)
    assert kept.miniwob.utterance.startswith("Enter ")
    parted = run.evidence("email-inbox-forward-nl-s7").miniwob
    assert parted is not None
    assert parted.fields is not None
    assert '"by"' in parted.fields

    scored = arena("score", "run", "--json", cwd=run.cwd, env=NO_MACHINERY)
    assert scored.code == 0, scored.err
    assert {one["outcome"] for one in scored.document} == {"success"}


@SLOW
def test_a_page_that_is_loaded_again_or_not_solved_is_a_failure_that_says_so(
    run: RunAt, tmp_path: Path
) -> None:
    page = "miniwob:/miniwob/click-test.html"
    press = {"do": "click", "role": "button", "name": "Click Me!"}
    again = [{"do": "goto", "page": page}, press, {"do": "stop"}]
    wrong = [{"do": "click", "role": "button", "name": "TWO"}, press, {"do": "stop"}]
    suite = write(
        tmp_path,
        {**written("click-test", 7), "reference": again},
        {**written("click-test-2", 7), "reference": wrong},
        {**written("click-button", 7), "reference": [{"do": "stop"}]},
    )
    assert run.play(suite).code == 0
    assert [outcome for _, _, _, outcome in run.ledger()] == ["failure"] * 3
    left = run.evidence("click-test-s7")
    assert left.ended is Ended.PAGE_LEFT
    assert "left, reloaded or closed" in (left.ended_because or "")
    assert [step.index for step in left.steps] == [0, 1]
    lost = run.evidence("click-test-2-s7")
    assert lost.ended is Ended.PAGE_ENDED
    assert lost.miniwob is not None
    assert lost.miniwob.raw == -1.0
    assert [step.index for step in lost.steps] == [0, 1]
    assert run.evidence("click-button-s7").ended is Ended.STOPPED


@pytest.mark.slow
def test_every_page_starts_and_none_is_solved_by_doing_nothing(run: RunAt, tmp_path: Path) -> None:
    tasks = load_suite("miniwob@3").tasks
    suite = write(tmp_path, *(task.model_dump(mode="json", exclude_unset=True) for task in tasks))
    played = run.play(suite, "--agent", "idle", "--workers", "2", "--no-screenshots")
    assert played.code == 0, played.err
    outcomes = {task: outcome for task, _, state, outcome in run.ledger() if state == "finished"}
    assert outcomes == {task.id: "failure" for task in tasks}
