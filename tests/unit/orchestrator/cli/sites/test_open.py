"""`arena open`: a page by its site and path, or by its logical URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended
from support.tasks.small_suites import BRUGES, bells, write_suite
from support.worlds.fake_world import IMAGE
from support.worlds.worldless import WorldlessArena

from arena_core.actions import Goto
from arena_core.errors import StateError, UnknownNameError, UsageError
from orchestrator import save_checkpoint
from orchestrator.api.opened import OpenArena
from orchestrator.sandbox import inventory

Call = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _shop_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def engine(_: OpenArena) -> None:
        return None

    async def running(_: Any, registry: Any, name: str, slot: int) -> Any:
        assert registry.site(name).name == "shop"
        assert slot == 0
        return SimpleNamespace(endpoint="127.0.0.1:4711")

    monkeypatch.setattr(OpenArena, "engine", engine)
    monkeypatch.setattr(inventory, "running_replica", running)


@ONE_QUICK
@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("shop",), ""),
        (("shop", "/basket/"), "basket/"),
        (("shop:/basket/",), "basket/"),
        (("shop:/",), ""),
        (("shop:/product/16/kettle?a=1",), "catalogue/kettle_16/?a=1"),
    ],
)
def test_a_page_is_named_by_site_and_path_or_by_its_logical_url(
    call: Call, words: tuple[str, ...], path: str
) -> None:
    ended = call("open", *words, "--print")
    assert ended.code == 0, ended.err
    assert ended.out == f"http://127.0.0.1:4711/{path}\n"


def test_two_paths_are_one_too_many(call: Call) -> None:
    assert call("open", "shop:/basket/", "/", "--print").code == UsageError.exit_code


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """The file of a checkpoint after the first step of a task on the wiki."""
    suite = write_suite(tmp_path, bells("one"))
    path = tmp_path / "a.arena-checkpoint"
    async with WorldlessArena() as arena, arena.episode(f"{suite}/one") as episode:
        await episode.reset()
        await episode.step(Goto(url=BRUGES))
        save_checkpoint(await episode.checkpoint("at bruges\x1b[2J"), path)
    return path


def test_a_file_is_described_and_nothing_is_opened(call: Call, file: Path) -> None:
    ended = call("open", file, "--json")
    assert ended.code == 0, ended.err
    told = ended.document
    assert (told["task"].rpartition("/")[2], told["step"]) == ("one", 1)
    assert told["sites"] == {"wiki": {"state": None, "image_id": IMAGE}}
    assert [tab["url"] for tab in told["tabs"]] == [BRUGES]
    ended = call("open", file, "--print")
    assert f"after step 1 of the episode {told['root']}\n" in ended.out
    assert f'tab 1: {BRUGES} "Page" (current)\n' in ended.out
    assert "\x1b" not in ended.out


@ONE_QUICK
@pytest.mark.parametrize(
    ("words", "error", "why"),
    [
        (("{file}", "/basket/"), UsageError, "no effect beside the file"),
        (("{file}", "--slot", "1"), UsageError, "no effect beside the file"),
        (("shop", "--json"), UsageError, "for the file of a checkpoint"),
        (("shop", "--suite", "demo"), UsageError, "for the file of a checkpoint"),
        (("./none.arena-checkpoint",), StateError, "No such file"),
        (("{suite}",), StateError, "not the file of a checkpoint"),
        (("{file}", "--suite", "demo"), UnknownNameError, "no task 'one' in suite 'demo'"),
        (("{file}", "--suite", "nowhere"), UnknownNameError, "nowhere"),
        (("{file}", "--suite", "{other}"), UsageError, "another definition"),
    ],
)
def test_what_cannot_be_opened_is_one_clear_line(
    call: Call, file: Path, words: tuple[str, ...], error: Any, why: str
) -> None:
    other = file.with_name("other")
    other.mkdir()
    places = {
        "file": file,
        "suite": file.with_name("small.yaml"),
        "other": write_suite(other, bells("one", intent="How many bells?")),
    }
    ended = call("open", *(word.format(**places) for word in words))
    assert ended.code == error.exit_code, ended.err
    assert why in ended.err
    assert "Traceback" not in ended.err
