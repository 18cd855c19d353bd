"""Images that others made: pulled from a registry or loaded from a file, and sealed here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from arena_core.errors import ImageError
from arena_core.work_events import (
    OnWork,
    WorkEnded,
    WorkOutput,
    WorkPlanned,
    WorkStep,
    ignore_work,
)
from orchestrator.sandbox.engine.containers import ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import is_sealed
from orchestrator.sandbox.images.build import BuildOutcome, BuildResult
from orchestrator.sandbox.images.recipes import Recipe, recipes_of, taken_hash
from orchestrator.sandbox.images.seal import seal
from sites.manifest import Site


async def pull_images(
    engine: Engine,
    sites: Iterable[Site],
    *,
    staged: bool = False,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> tuple[BuildResult, ...]:
    """Pull the published images of sites, one after the other; the others are only reported."""
    recipes = [recipe for site in sites for recipe in recipes_of(site, staged=staged)]
    on_work(WorkPlanned(len(recipes)))
    results: list[BuildResult] = []
    for recipe in recipes:
        on_work(WorkStep(recipe.label, "pulling"))
        results.append(await _pull(engine, recipe, on_line=on_line, on_work=on_work))
        on_work(WorkEnded(recipe.label))
    return tuple(results)


async def _pull(
    engine: Engine,
    recipe: Recipe,
    *,
    on_line: Callable[[str], None],
    on_work: OnWork,
) -> BuildResult:
    began = time.monotonic()
    reference = recipe.image.published
    if reference is None:
        on_line(f"{recipe.label}: no registry has it; `{recipe.command}` brings it here")
        image = await engine.image(recipe.image.tag)
        outcome = BuildOutcome.ABSENT if image is None else BuildOutcome.LOCAL
    else:
        on_line(f"{recipe.label}: pulling {reference}")
        image, outcome = await _fetched(
            engine,
            recipe,
            reference,
            on_line=on_line,
            on_work=on_work,
        )
    return BuildResult.of(recipe, outcome, began, image)


async def _fetched(
    engine: Engine,
    recipe: Recipe,
    reference: str,
    *,
    on_line: Callable[[str], None],
    on_work: OnWork,
) -> tuple[ImageInfo, BuildOutcome]:
    """Pull one image and make sure that it is sealed, before it gets the manifest's tag."""
    tag = recipe.image.tag

    def output(line: str) -> None:
        on_work(WorkOutput(recipe.label, line))

    before = await engine.image(tag)
    pulled = await engine.pull(reference, f"{tag}-pulled", output)
    try:
        if recipe.staged:
            await engine.tag(pulled.id, tag)
            image = await engine.image(tag) or pulled
        else:
            image = await sealed_from_others(engine, recipe.site, pulled, on_line=on_line)
    finally:
        await engine.remove_image(pulled.tag)
    same = before is not None and before.id == image.id
    return image, BuildOutcome.UNCHANGED if same else BuildOutcome.PULLED


async def sealed_from_others(
    engine: Engine,
    site: Site,
    taken: ImageInfo,
    *,
    on_line: Callable[[str], None],
) -> ImageInfo:
    """Give an image that was pulled or loaded the manifest's tag, sealed where it is not yet.

    What was sealed here before, from the same image and in the same way, stays as it is.
    """
    if is_sealed(taken):
        of = taken.labels.get(Labels.SITE)
        if of != site.name:
            message = f"this is the sealed image of site '{of}', not of '{site.name}'"
            raise ImageError(message, hint=f"name the site '{of}', or another image")
        await engine.tag(taken.id, site.image.tag)
        return await engine.image(site.image.tag) or taken
    source = taken.labels.get(Labels.SOURCE) or taken_hash(site, taken.id)
    there = await engine.image(site.image.tag)
    if there is not None and is_sealed(there) and there.labels.get(Labels.SOURCE) == source:
        on_line(f"{site.name}: sealed from this image before")
        return there
    return await seal(engine, site, taken, source, on_line=on_line)


async def load_image(
    engine: Engine,
    site: Site,
    archive: Path,
    *,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> BuildResult:
    """Load a site's image from a file and seal it under the manifest's tag."""
    began = time.monotonic()
    recipe = Recipe(image=site.image, site=site, staged=False)
    on_work(WorkPlanned(1))
    on_work(WorkStep(recipe.label, "loading"))
    on_line(f"{recipe.label}: loading {archive}")
    tag = site.image.tag
    before = await engine.image(tag)
    loaded = await engine.load(archive, f"{tag}-pulled")
    try:
        image = await sealed_from_others(engine, site, loaded, on_line=on_line)
    finally:
        await engine.remove_image(loaded.tag)
    on_work(WorkEnded(recipe.label))
    is_same = before is not None and before.id == image.id
    outcome = BuildOutcome.UNCHANGED if is_same else BuildOutcome.LOADED
    return BuildResult.of(recipe, outcome, began, image)
