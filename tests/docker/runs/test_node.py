"""A node with an engine of its own, prepared from another one's images and held to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from support.runs.second_engine import second_engine
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import ImageError, NodeDiffersError

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=8)]

WIKI: Final = "arena/wiki:1"


@pytest.fixture
def engine() -> Iterator[str]:
    with second_engine() as address:
        yield address


def arena(*words: str | Path, engine: str = "") -> subprocess.CompletedProcess[str]:
    host = {"DOCKER_HOST": engine} if engine else {}
    return subprocess.run(
        [sys.executable, "-m", "orchestrator.cli.entry", *map(str, words)],
        env={**os.environ, **host},
        capture_output=True,
        text=True,
        check=False,
    )


def docker(engine: str, *words: str) -> str:
    return subprocess.check_output(["docker", "-H", engine, *words], text=True)


def test_a_node_is_refused_until_it_has_the_other_ones_images_and_then_plays(
    engine: str, tmp_path: Path
) -> None:
    first, images = tmp_path / "first.json", tmp_path / "images"
    images.mkdir()
    (images / "README").write_text("no images")
    assert arena("node", "check", "wiki", "--write", first).returncode == 0
    assert arena("images", "save", images / "wiki.tar", "wiki").returncode == 0

    missing = arena("node", "check", "--like", first, "--json", engine=engine)
    assert missing.returncode == ImageError.exit_code
    assert [one["image"] for one in json.loads(missing.stdout)["faults"]] == [WIKI]
    assert f"arena: 1 image cannot be used: {WIKI}: not here" in missing.stderr
    assert "→ arena images save FILE on the other node" in missing.stderr
    alone = arena("node", "check", "wiki", "--write", tmp_path / "second.json", engine=engine)
    assert alone.returncode == ImageError.exit_code
    assert "→ arena build wiki" in alone.stderr
    assert not (tmp_path / "second.json").exists(), "a node that is not ready is no example"

    prepared = arena("node", "prepare", "--images", images, "--like", first, engine=engine)
    assert prepared.returncode == 0, prepared.stderr
    assert "loading 1 images" in prepared.stderr
    again = arena("node", "prepare", "--images", images, "--like", first, engine=engine)
    assert (again.returncode, "loading" in again.stderr) == (0, False)
    mistaken = arena("node", "prepare", "wiki", "--images", tmp_path / "none", engine=engine)
    assert (mistaken.returncode, "none: is not there" in mistaken.stderr) == (3, True)

    suite = write_suite(tmp_path, bells("one"))
    words = ("eval", "--suite", suite, "--out", tmp_path / "run")
    played = arena(*words, engine=engine)
    assert played.returncode == 0, played.stderr
    assert arena("node", "check", "--like", tmp_path / "run", engine=engine).returncode == 0

    docker(engine, "run", "--detach", "--network", "none", "--label", "arena.owner=x", WIKI)
    down = arena("node", "down", engine=engine)
    assert (down.returncode, down.stdout.count("removed ")) == (0, 2)
    assert docker(engine, "ps", "--all", "--quiet") == ""
    assert docker(engine, "network", "ls", "--quiet", "--filter", "name=^arena$") == ""
    assert arena("node", "down", engine=engine).returncode == 0, "with nothing there it is well"

    # Another image under the same name, which says of itself that it is as golden.
    docker(engine, "create", "--name", "other", "--network", "none", WIKI)
    docker(engine, "commit", "--message", "changed", "other", WIKI)
    refused = arena("node", "check", "--like", first, engine=engine)
    assert refused.returncode == NodeDiffersError.exit_code
    [line] = [one for one in refused.stdout.splitlines() if one.startswith("differs: ")]
    assert line.startswith(f"differs: image {WIKI} is sha256:")
    assert "arena: this node is not like node" in refused.stderr
