"""What an Arena does without an engine: open, list, read, refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs.made_run import make_run

from arena_core.errors import EngineMissingError, TaskError, UnknownNameError, UsageError
from orchestrator import Arena, ArenaEvent, RunSpec, SyncArena, WarningNote


@pytest.fixture(autouse=True)
def _no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")  # the SDK leaks a Unix socket that fails


@SLOW
def test_suites_tasks_and_sites_are_listed_without_opening() -> None:
    arena = Arena()
    assert {"demo", "arena-120", "miniwob"} <= set(arena.suites.names())
    assert len(arena.suites.tasks("demo")) == 20
    assert [task.id for task in arena.suites.tasks("demo", ["shop-latest-*"])] == [
        "shop-latest-order-total"
    ]
    assert [site.name for site in arena.sites.list(suite="demo")] == ["shop", "wiki"]


@SLOW
def test_a_task_is_named_with_its_suite() -> None:
    arena = Arena()
    assert arena.suites.task("demo/shop-latest-order-total").id == "shop-latest-order-total"
    with pytest.raises(UsageError, match="its suite is missing"):
        arena.suites.task("shop-latest-order-total")
    with pytest.raises(UsageError, match=r"fits 1[0-9] tasks"):
        arena.suites.task("demo/shop-*")
    with pytest.raises(UnknownNameError, match="no task 'nothing' in suite 'demo'"):
        arena.suites.task("demo/nothing")
    with pytest.raises(UnknownNameError, match="unknown suite 'nowhere'"):
        arena.suites.task("nowhere/nothing")


@SLOW
def test_a_run_is_read_and_scored_without_opening(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    arena = Arena()
    report = arena.runs.read(folder.path)
    assert report.lock == arena.runs.read_lock(folder.path)
    assert len(arena.runs.score(folder.path)) == 11
    page = arena.runs.report(report, tmp_path / "page.html")
    assert "<html" in page.read_text(encoding="utf-8")
    assert arena.runs.report(report) == folder.report_path


@SLOW
async def test_an_engine_is_asked_only_by_what_needs_it() -> None:
    async with Arena() as arena:
        assert (await arena.suites.lint("demo")).errors == ()
        with pytest.raises(EngineMissingError):
            await arena.sites.status()


async def test_what_needs_an_open_arena_says_so() -> None:
    arena = Arena()
    with pytest.raises(UsageError, match="not open"):
        await arena.sites.status()
    async with arena:
        with pytest.raises(UsageError, match="open already"):
            await arena.__aenter__()
    with pytest.raises(UsageError, match="not open"):
        await arena.sites.status()
    with pytest.raises(UsageError, match="not open"):
        SyncArena().sites.status()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"worlds": ["nowhere"]}, "worlds.0: must be 'offline' or 'online'"),
        ({"worlds": []}, "worlds: must have at least 1 entry"),
        ({"repeats": 0}, "repeats: must be at least 1 .found 0"),
        ({"workers": 0}, "workers: must be a number from 1, or auto .found 0"),
        ({"spares": -1}, "spares: must be at least 0 .found -1"),
        ({"staged": True}, "no effect without --online"),
        ({"strategy": "swap", "spares": 0}, "needs a spare"),
        ({"worker": 2}, "worker: unknown field; did you mean 'workers'?"),
        ({"max_usd": 0}, "^max_usd: must be greater than 0"),
        ({"memory": "lots"}, "no amount of memory"),
        ({"agent": "idle", "options": {"seed": 1}}, "--seed has no effect"),
    ],
)
async def test_a_run_that_makes_no_sense_is_refused_before_anything_begins(
    arguments: dict[str, object], said: str, tmp_path: Path
) -> None:
    async with Arena() as arena:
        with pytest.raises(UsageError, match=said):
            await arena.run(**arguments)  # type: ignore[arg-type]
    assert not (tmp_path / "arena-runs").exists()


@pytest.mark.parametrize(
    ("patterns", "asked", "said"),
    [(["wiki-*"], {}, "patterns"), ((), {"suite": "demo", "workers": 2}, "suite, workers")],
)
async def test_beside_a_whole_specification_nothing_else_of_a_run_is_taken(
    patterns: list[str], asked: dict[str, object], said: str
) -> None:
    async with Arena() as arena:
        with pytest.raises(UsageError, match=f"a RunSpec says all of a run: {said} beside it"):
            await arena.run(RunSpec(agent="idle"), patterns, **asked)  # type: ignore[arg-type]


async def test_tasks_with_mistakes_are_refused_with_their_place(tmp_path: Path) -> None:
    suite = tmp_path / "mine.yaml"
    suite.write_text("suite: mine\nversion: 1\ntitle: Mine\ntasks: []\nwrong: 1\n", "utf-8")
    async with Arena() as arena:
        with pytest.raises(TaskError, match=r"mine\.yaml:5"):
            await arena.run(suite=str(suite))


def test_a_site_of_ones_own_that_cannot_be_used_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "mine" / "broken").mkdir(parents=True)
    (tmp_path / "mine" / "broken" / "site.yaml").write_text("name: broken\n", "utf-8")
    heard: list[ArenaEvent] = []
    arena = Arena(sites=[tmp_path / "mine"], on_event=heard.append)
    assert "shop" in arena.registry.sites
    assert "broken" not in arena.registry.sites
    (event,) = heard
    assert isinstance(event, WarningNote)
    assert event.text.startswith("site 'broken' of your own is left out: ")


@SLOW
def test_the_synchronous_face_opens_calls_and_closes() -> None:
    with SyncArena() as arena:
        assert "demo" in arena.suites.names()
        assert arena.suites.lint("demo").errors == ()
        with pytest.raises(EngineMissingError):
            arena.sites.status()
    arena.open()
    arena.close()
    arena.close()


def test_plug_ins_and_schemas_need_no_engine_and_no_block() -> None:
    found = {(one.noun, one.plugin.name): one.fault for one in Arena().plugins()}
    assert found["agent", "oracle"] == ""
    assert json.loads(SyncArena().schema("suite"))["title"].startswith("Arena suite")
    with pytest.raises(UsageError, match="there is no schema 'runs'") as caught:
        Arena().schema("runs")
    assert "suite, site, run, study, evidence, lock" in caught.value.hint
