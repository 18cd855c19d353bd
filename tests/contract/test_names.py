"""Names that the page watcher reports on the sites' pages are those that Chromium computes."""

from __future__ import annotations

import pytest
from support.sites.every_site import EVERY_SITE, Shared
from support.worlds.named_by_chromium import differences, opened

from orchestrator.authoring.site_check.pages import starts_of
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

pytestmark = [pytest.mark.docker, pytest.mark.browser]

_PAGES = 8


@EVERY_SITE
async def test_the_watcher_names_what_is_on_a_page_as_chromium_does(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    wrong: dict[str, list[str]] = {}
    async with opened(site.host, str(replica.endpoint)) as page:
        for path in starts_of(replica)[:_PAGES]:
            await page.goto(f"http://{site.host}{path}", wait_until="load")
            if found := await differences(page):
                wrong[path] = found
    assert wrong == {}
