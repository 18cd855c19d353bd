from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from arena_core.errors import ArenaError, ImageError, PrerequisiteError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images import build
from orchestrator.sandbox.images.build import ensure_base

pytestmark = pytest.mark.docker


@pytest.fixture
async def tag(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The name of a base image that no registry has."""
    name = f"127.0.0.1:9/arena-test/base-{secrets.token_hex(4)}:1"
    monkeypatch.setattr(build, "BASE_TAG", name)
    yield name
    await engine.remove_image(name)


@pytest.fixture
def folder_with(tmp_path: Path) -> Callable[[str], Path]:
    """A docker/ folder whose base/build.sh does what the test says."""

    def write(script: str) -> Path:
        (tmp_path / "base").mkdir()
        (tmp_path / "base" / "build.sh").write_text(script)
        return tmp_path

    return write


async def test_where_no_registry_answers_the_base_is_built_under_the_same_tag(
    engine: Engine, tag: str, folder_with: Callable[[str], Path]
) -> None:
    folder = folder_with('echo "bootstrapping" >&2\ndocker tag debian:bookworm-slim "$1"\n')
    lines: list[str] = []

    image = await ensure_base(engine, folder, lines.append)

    assert image.tag == tag
    assert "bootstrapping" in lines
    assert any("no registry" in line for line in lines)


async def test_a_base_that_is_there_is_taken_without_a_word(engine: Engine, tmp_path: Path) -> None:
    lines: list[str] = []

    await ensure_base(engine, tmp_path, lines.append)

    assert lines == []


@pytest.mark.parametrize(("code", "leaf"), [(4, PrerequisiteError), (5, ImageError)])
@pytest.mark.usefixtures("tag")
async def test_a_base_that_cannot_be_built_shows_the_last_lines(
    engine: Engine, folder_with: Callable[[str], Path], code: int, leaf: type[ArenaError]
) -> None:
    folder = folder_with(f"seq -f 'line %g' 30; exit {code}\n")

    with pytest.raises(leaf, match=r"line 30") as failed:
        await ensure_base(engine, folder, lambda _: None)

    assert "line 9\n" not in failed.value.message
    assert "bootstrap.sh" in failed.value.hint
