"""`arena doctor`: what is missing here, and not what nobody asked for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.api.doctor import DoctorCheck, _images, _memory
from orchestrator.authoring.scaffold.writer import PublishedSites, write_published
from orchestrator.sandbox.engine.containers import Labels
from sites.registry import SiteRegistry, load_registry

LOADED = "own/webarena-shopping:1"


class Images:
    """An engine with some images, by tag with their labels."""

    def __init__(self, **labels: dict[str, str]) -> None:
        self._labels = {
            {"shop": "arena/shop:1", "loaded": LOADED}[name]: one for name, one in labels.items()
        }

    async def image(self, tag: str) -> object | None:
        labels = self._labels.get(tag)
        if labels is None:
            return None
        return SimpleNamespace(id=tag, tag=tag, labels=labels, size_bytes=10**6)


@pytest.fixture
def registry(tmp_path: Path) -> SiteRegistry:
    write_published(PublishedSites.WEBARENA, tmp_path)
    return load_registry([tmp_path])


async def looked_at(engine: Any, registry: SiteRegistry) -> dict[str, DoctorCheck]:
    return {one.name: one async for one in _images(engine, registry)}


async def test_images_that_nobody_built_or_loaded_are_missing_to_nobody(
    registry: SiteRegistry,
) -> None:
    checks = await looked_at(Images(), registry)
    assert [one.name for one in checks.values() if one.is_missing] == []
    assert checks["image arena/shop:1"].hint == "arena build shop"
    assert checks[f"image {LOADED}"].hint.startswith("arena load webarena-shopping ")


async def test_an_image_that_was_built_and_is_out_of_date_is_missing(
    registry: SiteRegistry,
) -> None:
    stale = {Labels.GOLDEN: "g", Labels.SOURCE: "another"}
    checks = await looked_at(Images(shop=stale), registry)
    assert [one.name for one in checks.values() if one.is_missing] == ["image arena/shop:1"]
    checks = await looked_at(Images(shop={}), registry)
    assert checks["image arena/shop:1"].found == "built, but not sealed"


async def test_an_image_that_was_loaded_and_sealed_is_no_stale_build(
    registry: SiteRegistry,
) -> None:
    sealed = {Labels.GOLDEN: "g", Labels.SOURCE: "of the archive"}
    checks = await looked_at(Images(loaded=sealed), registry)
    assert checks[f"image {LOADED}"].state == "ok"


async def test_memory_is_reckoned_for_the_sites_that_are_here(registry: SiteRegistry) -> None:
    small: Any = SimpleNamespace(memory_bytes=2 * 2**30)
    nothing, loaded = Images(), Images(loaded={Labels.GOLDEN: "g"})
    assert not (await _memory(nothing, small, registry)).is_missing  # type: ignore[arg-type]
    assert (await _memory(loaded, small, registry)).is_missing  # type: ignore[arg-type]
