"""Environments that begin at the file of a checkpoint, in worlds without engine and browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import ResetNeeded
from support.tasks.small_suites import BRUGES, bells, write_suite
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless import WorldlessArena

from arena_core.errors import StateError, UnknownNameError, UsageError
from orchestrator import load_checkpoint
from orchestrator.serve.gym import environment
from orchestrator.serve.gym.environment import ArenaEnv
from orchestrator.serve.results import EpisodeUnscored

GO = json.dumps({"kind": "goto", "url": BRUGES})
RIGHT = json.dumps({"kind": "stop", "answer": "47"})


class Environments:
    """Makes environments over worlds that it knows."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.arenas: list[WorldlessArena] = []
        self.made: list[ArenaEnv] = []

    def arena(self, **_: object) -> WorldlessArena:
        self.arenas.append(WorldlessArena())
        return self.arenas[-1]

    def env(self, *observe: str) -> ArenaEnv:
        self.made.append(ArenaEnv(self.task, observe=observe or ("axtree",)))
        return self.made[-1]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environments]:
    suite = write_suite(tmp_path, bells("one"), bells("two", limits={"steps": 3}))
    found = Environments(f"{suite}/one")
    monkeypatch.setattr(environment, "Arena", found.arena)
    yield found
    for env in found.made:
        env.close()


@pytest.fixture
def file(made: Environments, tmp_path: Path) -> Path:
    """Of an episode after its key node."""
    path = tmp_path / "bruges.arena-checkpoint"
    env = made.env()
    env.reset()
    env.step(GO)
    env.checkpoint("bruges")
    env.save_checkpoint("bruges", path)
    return path


@pytest.mark.parametrize("as_what", [Path, str, lambda path: path.read_bytes()])
def test_a_reset_begins_at_a_file_as_a_branch_of_its_root(
    made: Environments, file: Path, as_what: Any
) -> None:
    env = made.env()
    seen, info = env.reset(options={"checkpoint": as_what(file)})
    assert (seen["url"], info["task"], info["outcome"]) == (BRUGES, made.task, "")
    again, _ = env.restore("bruges")
    assert again["url"] == BRUGES
    session = env._session
    _, reward, terminated, _, info = env.step(RIGHT)
    assert (reward, terminated, info["outcome"]) == (1.0, True, "success")
    assert session is not None
    branch = session.evidence().branch
    assert branch is not None
    assert (branch.root, branch.step) == (load_checkpoint(file).root, 1)
    seen, _ = env.reset()
    assert seen["url"] != BRUGES


def test_what_cannot_be_gone_on_from_is_refused_and_the_episode_goes_on(
    made: Environments, file: Path, tmp_path: Path
) -> None:
    content = file.read_bytes()
    env = made.env()
    env.reset()
    env.step(GO)
    refused: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"checkpoint": content[:200]}, StateError, "the checkpoint's file is damaged"),
        ({"checkpoint": b""}, StateError, "damaged"),
        ({"checkpoint": tmp_path / "none"}, StateError, "No such file"),
        ({"checkpoint": 7}, UsageError, "a path or bytes, and not 7"),
        ({"checkpoint": content, "world": "online"}, UsageError, "online"),
        ({"checkpoint": content, "state": "full"}, UsageError, "state beside the checkpoint"),
        ({"checkpoint": content, "task": made.task[:-3] + "two"}, UsageError, "episode of 'two'"),
    ]
    for options, kind, why in refused:
        with pytest.raises(kind, match=why):
            env.reset(options=options)
    assert env.step(RIGHT)[1] == 1.0


def test_a_file_with_other_observations_does_not_fit_the_environments_spaces(
    made: Environments, file: Path
) -> None:
    for observe in (("axtree", "screenshot"), ("html",)):
        with pytest.raises(UsageError, match="shows axtree, and the environment other") as no:
            made.env(*observe).reset(options={"checkpoint": file})
        assert no.value.hint == "make(…, observe=('axtree',))"


def test_a_page_that_does_not_come_back_equal_has_no_reward_and_leaves_the_environment(
    made: Environments, file: Path
) -> None:
    env = made.env()
    env.reset()
    made.arenas[-1].prepared = [FakeWorld(title="Another"), FakeWorld(title="Another")]
    with pytest.raises(EpisodeUnscored, match="the page is not equal"):
        env.reset(options={"checkpoint": file})
    with pytest.raises(ResetNeeded):
        env.step(GO)
    seen, _ = env.reset(options={"checkpoint": file})
    assert seen["url"] == BRUGES
    assert made.arenas[-1].leases == ["given back", "given back", "given back"]


def test_a_checkpoint_is_saved_after_the_episode_too(made: Environments, tmp_path: Path) -> None:
    env = made.env()
    with pytest.raises(ResetNeeded):
        env.save_checkpoint("bruges", tmp_path / "none")
    env.reset()
    env.step(GO)
    env.checkpoint("bruges")
    with pytest.raises(UnknownNameError, match="no checkpoint 'other'"):
        env.save_checkpoint("other", tmp_path / "other")
    env.step(RIGHT)
    env.save_checkpoint("bruges", tmp_path / "s.arena-checkpoint")
    assert load_checkpoint(tmp_path / "s.arena-checkpoint").step == 1
