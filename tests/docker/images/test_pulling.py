from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW

from arena_core.errors import ImageError
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.golden import is_sealed
from orchestrator.sandbox.images.build import BuildOutcome
from orchestrator.sandbox.images.contexts import context_files, context_tar
from orchestrator.sandbox.images.published_images import pull_images

pytestmark = pytest.mark.docker


@pytest.fixture
def published() -> Iterator[Callable[[str], str]]:
    """Move a local image into a registry, and return the reference it has there."""
    place = Path(__file__).with_name("registry.py")
    spec = importlib.util.spec_from_file_location("arena_test_registry", place)
    assert spec is not None
    assert spec.loader is not None
    registry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(registry)
    opened: list[Any] = []

    def move(tag: str) -> str:
        saved = subprocess.run(["docker", "save", tag], capture_output=True, check=True, timeout=60)
        subprocess.run(["docker", "rmi", tag], capture_output=True, check=True, timeout=60)
        serving = registry.serving(saved.stdout)
        address: str = serving.__enter__()
        opened.append(serving)
        return f"{address}/{tag}"

    yield move
    for serving in opened:
        serving.__exit__(None, None, None)


async def fetch(trial: Any, reference: str | None) -> Any:
    image = {"tag": trial.tag, "published": reference}
    if reference is None:
        image["build"] = {"dockerfile": "kiosk/Dockerfile", "context": ["kiosk"]}
    site = trial.site(image=image)
    [outcome] = await pull_images(trial.engine, [site], on_line=trial.lines.append)
    return outcome


@SLOW
async def test_a_published_golden_image_is_taken_as_it_is(
    trial: Any, published: Callable[[str], str]
) -> None:
    [built] = await trial.build(trial.site())

    reference = published(trial.tag)
    outcome = await fetch(trial, reference)
    again = await fetch(trial, reference)

    assert outcome.outcome is BuildOutcome.PULLED
    assert outcome.golden == built.golden
    assert again.outcome is BuildOutcome.UNCHANGED
    assert not any("seal" in line for line in trial.lines[-2:])
    await drop(trial, reference)


@SLOW
async def test_a_published_image_that_is_not_sealed_is_sealed_here(
    trial: Any, published: Callable[[str], str]
) -> None:
    await trial.build(trial.site())
    unsealed = f"{trial.tag}-plain"
    context = context_tar(context_files(trial.site().image.build, trial.folder), b"")
    await trial.engine.build(unsealed, context, "kiosk/Dockerfile", {}, lambda _: None)

    reference = published(unsealed)
    outcome = await fetch(trial, reference)

    image = await trial.engine.image(trial.tag)
    assert outcome.outcome is BuildOutcome.PULLED
    assert is_sealed(image)
    assert image.labels[Labels.GOLDEN] == outcome.golden
    await drop(trial, reference)


@SLOW
async def test_an_image_that_is_nowhere_is_reported_as_not_here(trial: Any) -> None:
    outcome = await fetch(trial, None)

    assert outcome.outcome is BuildOutcome.ABSENT
    [line] = trial.lines
    assert f"`arena build {trial.name}`" in line


async def test_a_registry_that_does_not_answer_is_named_and_the_image_stays(trial: Any) -> None:
    await trial.build(trial.site())
    before = await trial.engine.image(trial.tag)

    with pytest.raises(ImageError, match=r"127\.0\.0\.1:9/none"):
        await fetch(trial, "127.0.0.1:9/none:1")

    assert await trial.engine.image(trial.tag) == before


async def drop(trial: Any, reference: str) -> None:
    await trial.engine.remove_image(reference)
