"""The tables of sites, as the images on this machine carry them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evaluators.checks import LocateDelta
from orchestrator.engine.engine import Engine
from orchestrator.images.golden import ROWS_LABEL, golden_rows
from sites.atlas import Atlas
from sites.errors import EngineMissingError
from tasks.check_rules import located_checks
from tasks.schema import Suite


async def known_tables(suite: Suite, atlas: Atlas) -> Mapping[str, Mapping[str, Collection[str]]]:
    """Return columns by table of the sites that a suite's delta checks look at.

    What is not on this machine is not known: without an engine, or where a site's image is not
    built, there is nothing about it.
    """
    named = {
        check.locate.site
        for task in suite.tasks
        for _, check in located_checks(task)
        if isinstance(check.locate, LocateDelta)
    }
    wanted = sorted(named & atlas.sites.keys())
    if not wanted:
        return {}
    try:
        engine = await Engine.connect()
    except EngineMissingError:
        return {}
    async with engine:
        found = {name: await _tables(engine, atlas.site(name).image.tag) for name in wanted}
    return {name: tables for name, tables in found.items() if tables}


async def _tables(engine: Engine, tag: str) -> Mapping[str, Collection[str]]:
    from orchestrator.delta.golden_rows import GoldenRows  # noqa: PLC0415  only for this check

    image = await engine.image(tag)
    if image is None or ROWS_LABEL not in image.labels:
        return {}
    with GoldenRows.opened(await golden_rows(engine, image)) as rows:
        return {
            name: [column.name for column in table.shape.columns]
            for name, table in rows.tables().items()
        }
