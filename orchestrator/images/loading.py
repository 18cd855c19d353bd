"""Loading: an image out of a file that `docker save` wrote, sealed here."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.engine.containers import Labels
from orchestrator.engine.engine import Engine
from orchestrator.images.building import BuildOutcome, BuildResult
from orchestrator.images.pulling import sealed_from_others
from orchestrator.images.recipes import Recipe
from orchestrator.images.sealing import StateT, Take, TakeRows
from orchestrator.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from sites.manifest import Site


async def load(
    engine: Engine,
    site: Site,
    archive: Path,
    *,
    take: Take[StateT],
    take_rows: TakeRows,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> BuildResult:
    """Load a site's image from a file and seal it under the manifest's tag.

    Args:
        engine: the engine.
        site: whose image it is.
        archive: what `docker save` wrote, packed or not; it holds one image.
        take: takes the fingerprint of a running container.
        take_rows: takes its rows.
        on_line: gets lines of progress.
        on_work: gets the steps.

    Raises:
        InputError: the file cannot be read, or is no such archive.
        ImageError: it holds several images, or its image cannot be sealed.
    """
    began = time.monotonic()
    recipe = Recipe(image=site.image, site=site, staged=False)
    on_work(WorkPlanned(1))
    on_work(WorkStep(recipe.label, "loading"))
    on_line(f"{recipe.label}: loading {archive}")
    tag = site.image.tag
    before = await engine.image(tag)
    loaded = await engine.load(archive, f"{tag}-pulled")
    try:
        image = await sealed_from_others(
            engine, site, loaded, take=take, take_rows=take_rows, on_line=on_line
        )
    finally:
        await engine.remove_image(loaded.tag)
    on_work(WorkEnded(recipe.label))
    is_same = before is not None and before.id == image.id
    return BuildResult(
        recipe=recipe,
        outcome=BuildOutcome.UNCHANGED if is_same else BuildOutcome.LOADED,
        seconds=time.monotonic() - began,
        size_bytes=image.size_bytes,
        golden=image.labels.get(Labels.GOLDEN),
    )
