from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.containers import Labels
from orchestrator.images.building import Happened
from orchestrator.images.contexts import context_files, context_tar
from orchestrator.images.golden import is_sealed
from orchestrator.images.pulling import pull
from orchestrator.reset.fingerprint import take_fingerprint
from sites.errors import ImageError

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


async def fetch(bakery: Any, reference: str | None) -> Any:
    image = {"tag": bakery.tag, "published": reference}
    if reference is None:
        image["build"] = {"dockerfile": "kiosk/Dockerfile", "context": ["kiosk"]}
    site = bakery.site(image=image)
    [outcome] = await pull(
        bakery.engine, [site], take=take_fingerprint, on_line=bakery.lines.append
    )
    return outcome


async def test_a_published_golden_image_is_taken_as_it_is(
    bakery: Any, published: Callable[[str], str]
) -> None:
    [built] = await bakery.build(bakery.site())

    reference = published(bakery.tag)
    outcome = await fetch(bakery, reference)
    again = await fetch(bakery, reference)

    assert outcome.happened is Happened.PULLED
    assert outcome.golden == built.golden
    assert again.happened is Happened.UNCHANGED
    assert not any("seal" in line for line in bakery.lines[-2:])
    await drop(bakery, reference)


async def test_a_published_image_that_is_not_sealed_is_sealed_here(
    bakery: Any, published: Callable[[str], str]
) -> None:
    await bakery.build(bakery.site())
    unsealed = f"{bakery.tag}-plain"
    context = context_tar(context_files(bakery.site().image.build, bakery.folder), b"")
    await bakery.engine.build(unsealed, context, "kiosk/Dockerfile", {}, lambda _: None)

    reference = published(unsealed)
    outcome = await fetch(bakery, reference)

    image = await bakery.engine.image(bakery.tag)
    assert outcome.happened is Happened.PULLED
    assert is_sealed(image)
    assert image.labels[Labels.GOLDEN] == outcome.golden
    await drop(bakery, reference)


async def test_an_image_that_no_registry_has_is_reported_as_built_locally(bakery: Any) -> None:
    outcome = await fetch(bakery, None)

    assert outcome.happened is Happened.LOCAL
    [line] = bakery.lines
    assert f"`arena build {bakery.name}`" in line


async def test_a_registry_that_does_not_answer_is_named_and_the_image_stays(bakery: Any) -> None:
    await bakery.build(bakery.site())
    before = await bakery.engine.image(bakery.tag)

    with pytest.raises(ImageError, match=r"127\.0\.0\.1:9/none"):
        await fetch(bakery, "127.0.0.1:9/none:1")

    assert await bakery.engine.image(bakery.tag) == before


async def drop(bakery: Any, reference: str) -> None:
    await bakery.engine.remove_image(reference)
