"""What the linter can know of a site's tables, from the image on this machine."""

from __future__ import annotations

import pytest

from orchestrator.authoring.proof.site_data import known_tables
from sites.manifest import Site
from sites.registry import SiteRegistry
from tasks.schema import Suite

pytestmark = pytest.mark.docker

SUITE = Suite.model_validate(
    {
        "suite": "mine",
        "version": 1,
        "title": "Mine",
        "tasks": [
            {
                "id": "look",
                "family": "navigation",
                "intent": "Look at the kiosk.",
                "sites": ["kiosk"],
                "start": ["kiosk:/"],
                "checks": [
                    {
                        "name": "nothing",
                        "when": "end",
                        "worlds": ["offline"],
                        "locate": {"by": "db_delta", "site": "kiosk"},
                        "match": {"how": "delta", "changes": []},
                    }
                ],
                "reference": [{"do": "stop"}],
            }
        ],
    }
)


async def test_tables_come_with_their_columns_that_are_state(registry: SiteRegistry) -> None:
    tables = (await known_tables(SUITE.tasks, registry))["kiosk"]
    assert tables.state == {"account": ["name", "password"], "note": ["id", "author", "text"]}


async def test_a_site_whose_image_is_not_here_is_not_known(kiosk: Site) -> None:
    image = kiosk.image.model_copy(update={"tag": "arena-test/not-here:1"})
    absent = kiosk.model_copy(update={"image": image})
    assert await known_tables(SUITE.tasks, SiteRegistry({"kiosk": absent})) == {}
