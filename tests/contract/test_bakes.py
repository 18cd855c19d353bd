"""Two bakes of the same sources give the same state, to the last row and byte."""

from __future__ import annotations

import pytest
from support.sites.every_site import ATLAS, EVERY_SITE, every

from orchestrator.authoring.site_check.checkup import AGAIN, broken_bakes
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Build, Site

pytestmark = pytest.mark.docker


def build_of(site: Site) -> Build:
    assert site.image.build is not None
    return site.image.build


@every(lambda site: site.database)
def test_an_image_that_bakes_a_database_can_be_baked_again(site: Site) -> None:
    dockerfile = docker_folder() / build_of(site).dockerfile
    assert f"\n{AGAIN}\n" in dockerfile.read_text(encoding="utf-8")


@pytest.mark.slow
@EVERY_SITE
async def test_a_second_bake_starts_with_the_same_state(engine: Engine, site: Site) -> None:
    assert await broken_bakes(engine, ATLAS, site) == ()
