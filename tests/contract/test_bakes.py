"""Two bakes of the same sources give the same state, to the last row and byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from every_site import ATLAS, EVERY_SITE, every

from orchestrator.engine.containers import (
    ImageInfo,
    Labels,
)
from orchestrator.engine.engine import Engine
from orchestrator.images.base import ensure_base
from orchestrator.images.contexts import ca_bundle, context_tar, docker_folder
from orchestrator.images.golden import ROWS_LABEL
from orchestrator.images.recipes import RecipeBook, recipes_of
from orchestrator.images.sealing import serving
from orchestrator.reset.fingerprint import take_fingerprint
from sites.manifest import Build, Site

pytestmark = pytest.mark.docker

# The line of a Dockerfile right before the one that bakes: another value bakes once more.
AGAIN: Final = "ARG AGAIN="


def build_of(site: Site) -> Build:
    assert site.image.build is not None
    return site.image.build


@every(lambda site: site.database)
def test_an_image_that_bakes_a_database_can_be_told_to_bake_it_again(site: Site) -> None:
    dockerfile = docker_folder() / build_of(site).dockerfile
    assert f"\n{AGAIN}\n" in dockerfile.read_text(encoding="utf-8")


@pytest.mark.slow
@EVERY_SITE
async def test_a_second_bake_starts_with_the_same_state(engine: Engine, site: Site) -> None:
    sealed = await engine.image(site.image.tag)
    assert sealed is not None
    image = await baked_again(engine, site)
    try:
        async with serving(engine, site, image.id) as container:
            found = await take_fingerprint(engine, site, container)
        assert found.digest == sealed.labels[Labels.GOLDEN]
    finally:
        await engine.remove_image(image.tag)


async def baked_again(engine: Engine, site: Site) -> ImageInfo:
    """Build a site's image with its bake repeated, whatever the engine has in its cache."""
    build = build_of(site)
    base = await ensure_base(engine, docker_folder(), lambda _: None)
    book = RecipeBook(ATLAS, docker_folder(), base.id)
    (recipe,) = recipes_of(site, staged=False)
    files = tuple(
        replace(one, content=one.content.replace(f"{AGAIN}\n".encode(), f"{AGAIN}2\n".encode()))
        if one.path == build.dockerfile
        else one
        for one in book.files(recipe)
    )
    context = context_tar(files, ca_bundle())
    # The labels of the sealed image that it may start FROM are not its own.
    labels = {Labels.GOLDEN: "", ROWS_LABEL: "", Labels.SITE: site.name}
    tag = f"arena-test/{site.name}-again:1"
    return await engine.build(tag, context, build.dockerfile, labels, lambda _: None)
