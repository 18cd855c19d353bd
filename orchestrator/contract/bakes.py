"""Two bakes of the same sources give the same state, to the last row and byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from orchestrator.engine.containers import ImageInfo, Labels
from orchestrator.engine.engine import Engine
from orchestrator.images.base import ensure_base
from orchestrator.images.contexts import ca_bundle, context_tar, docker_folder
from orchestrator.images.golden import ROWS_LABEL, is_sealed
from orchestrator.images.recipes import RecipeBook, recipes_of
from orchestrator.images.sealing import serving
from orchestrator.reset.fingerprint import take_fingerprint
from sites.atlas import Atlas
from sites.manifest import Site

# The line of a Dockerfile right before the one that bakes: another value bakes once more.
AGAIN: Final = "ARG AGAIN="


async def broken_bakes(engine: Engine, atlas: Atlas, site: Site) -> tuple[str, ...]:
    """Return whether a second bake of a site's sealed image starts with another state.

    Raises:
        ImageError: the second build failed.
    """
    sealed = await engine.image(site.image.tag)
    if sealed is None or not is_sealed(sealed):
        return (f"image {site.image.tag} was never sealed",)
    image = await _baked_again(engine, atlas, site)
    try:
        async with serving(engine, site, image.id) as container:
            found = await take_fingerprint(engine, site, container)
    finally:
        await engine.remove_image(image.tag)
    golden = sealed.labels[Labels.GOLDEN]
    return () if found.digest == golden else (f"its state is {found.digest}, not {golden}",)


async def _baked_again(engine: Engine, atlas: Atlas, site: Site) -> ImageInfo:
    """Build a site's image with its bake repeated, whatever the engine has in its cache."""
    base = await ensure_base(engine, docker_folder(), lambda _: None)
    book = RecipeBook(atlas, docker_folder(), base.id)
    recipe, *_ = recipes_of(site, staged=False)
    dockerfile = recipe.image.build.dockerfile if recipe.image.build else ""
    files = tuple(
        replace(one, content=one.content.replace(f"{AGAIN}\n".encode(), f"{AGAIN}2\n".encode()))
        if one.path == dockerfile
        else one
        for one in book.files(recipe)
    )
    # The labels of the sealed image that it may start FROM are not its own.
    labels = {Labels.GOLDEN: "", ROWS_LABEL: "", Labels.SITE: site.name}
    tag = f"arena-again/{site.name}:1"
    return await engine.build(
        tag, context_tar(files, ca_bundle()), dockerfile, labels, lambda _: None
    )
