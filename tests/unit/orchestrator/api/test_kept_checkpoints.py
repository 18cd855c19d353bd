"""Episodes that begin at the file of a checkpoint, in worlds without engine and browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import ONE_QUICK
from support.tasks.small_suites import BRUGES, bells, write_suite
from support.worlds.fake_world import ATLAS, FakeWorld
from support.worlds.worldless import WorldlessArena

from arena_core.actions import Goto, Stop
from arena_core.errors import StateError, TaskError, UnknownNameError, UsageError
from orchestrator import Arena, load_checkpoint, save_checkpoint
from orchestrator.api.opened import OpenArena


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, bells("one"), bells("two", limits={"steps": 3}))


@pytest.fixture
async def file(tmp_path: Path, suite: Path) -> Path:
    """Of an episode with other terms than its task's, after its key node."""
    path = tmp_path / "bruges.arena-checkpoint"
    async with (
        WorldlessArena() as arena,
        arena.episode(f"{suite}/one", max_steps=7, viewport=(500, 400)) as episode,
    ):
        await episode.reset()
        await episode.step(Goto(url=BRUGES))
        save_checkpoint(await episode.checkpoint("bruges"), path)
    return path


async def test_another_process_goes_on_from_it(file: Path, suite: Path) -> None:
    mark = load_checkpoint(file)
    async with (
        WorldlessArena() as arena,
        arena.episode(f"{suite}/one", checkpoint=file) as episode,
    ):
        seen = await episode.reset()
        assert (seen.url, seen.step) == (BRUGES, 1)
        assert episode.task.limits.steps == 7
        (branch,) = await episode.fork(1, at=mark)
        for one in (episode, branch):
            await one.step(Stop(answer="47"))
            score = await one.score()
            assert str(score.outcome) == "success", score.because
            told = one.evidence().branch
            assert told is not None
            assert (told.root, told.checkpoint, told.step) == (mark.root, "bruges", 1)
            assert [step.index for step in one.evidence().steps] == [0, 1, 2]
        assert arena.worlds[0].sessions[0].options.viewport == (500, 400)
        await branch.close()


async def test_a_page_that_does_not_come_back_equal_is_no_score(file: Path, suite: Path) -> None:
    async with WorldlessArena() as arena:
        arena.prepared = [FakeWorld(title="Another"), FakeWorld(title="Another")]
        async with arena.episode(f"{suite}/one", checkpoint=file) as episode:
            await episode.reset()
            assert episode.is_over
            assert str((await episode.score()).outcome) == "unscored: fork"


@ONE_QUICK
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"max_steps": 3}, "max_steps beside the checkpoint 'bruges'"),
        ({"viewport": (500, 400)}, "viewport beside"),
        ({"seed": 1}, "seed beside"),
        ({"state": "full-basket"}, "state beside"),
        ({"endpoint": "cdp"}, "endpoint beside"),
        ({"observations": ("aria",)}, "shows axtree"),
    ],
)
async def test_what_the_checkpoint_says_is_not_asked_for(
    file: Path, suite: Path, asked: dict[str, Any], why: str
) -> None:
    async with WorldlessArena() as arena:
        with pytest.raises(UsageError, match=why):
            arena.episode(f"{suite}/one", checkpoint=file, **asked)


async def test_another_task_is_refused(file: Path, suite: Path, tmp_path: Path) -> None:
    async with WorldlessArena() as arena:
        with pytest.raises(UsageError, match="is of 'one' offline, and the episode of 'two'"):
            arena.episode(f"{suite}/two", checkpoint=file)
        with pytest.raises((UnknownNameError, TaskError), match="none"):
            arena.episode(f"{suite}/none", checkpoint=file)
        write_suite(tmp_path, bells("one", intent="How many bells? All of them."))
        with pytest.raises(UsageError, match="another definition"):
            arena.episode(f"{suite}/one", checkpoint=file)
        out_of_bounds = replace(load_checkpoint(file), seed=2**40)
        with pytest.raises(UsageError, match="seed"):
            arena.episode(f"{suite}/one", checkpoint=out_of_bounds)
        with pytest.raises(StateError, match="No such file"):
            arena.episode(f"{suite}/two", checkpoint=tmp_path / "none.arena-checkpoint")


async def test_another_image_is_refused_before_anything_is_started(
    file: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a site without state, whose pages stand in its image."""
    mark = load_checkpoint(file)
    assert mark.sites == {}
    asked = []

    class Engine:
        async def image(self, tag: str) -> Any:
            asked.append(tag)
            return SimpleNamespace(id=f"sha256:{'2' * 64}")

    async def engine(_: OpenArena) -> Engine:
        return Engine()

    monkeypatch.setattr(OpenArena, "engine", engine)
    async with Arena() as arena, arena.episode(f"{suite}/one", checkpoint=file) as episode:
        with pytest.raises(StateError, match=r"'wiki': the checkpoint 'bruges' is of image") as no:
            await episode.reset()
    assert asked == [ATLAS.site("wiki").image.tag]
    assert "take it anew" in no.value.hint
