"""The tables of sites, as the images on this machine carry them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from arena_core.errors import ArenaError, EngineMissingError
from orchestrator.engine.engine import Engine
from orchestrator.images.golden import ROWS_LABEL, golden_of, golden_rows
from sites.atlas import Atlas
from sites.manifest import DatabaseEngine, Site
from tasks.check_rules import located_checks
from tasks.schema import Task
from tasks.site_tables import SiteTables, Tables

_COLUMN: Final = re.compile(r"^  `((?:[^`]|``)+)` ", re.MULTILINE)


async def known_tables(tasks: Iterable[Task], atlas: Atlas) -> Tables:
    """Return the tables of the sites whose databases the checks of tasks look at.

    What is not on this machine is not known: without an engine, or where a site's image is not
    built or was sealed by another version, there is nothing about it.
    """
    wanted = sorted({site for task in tasks for site in _asked(task)} & atlas.sites.keys())
    if not wanted:
        return {}
    try:
        engine = await Engine.connect()
    except EngineMissingError:
        return {}
    async with engine:
        found = {name: await _tables(engine, atlas.site(name)) for name in wanted}
    return {name: tables for name, tables in found.items() if tables is not None}


def _asked(task: Task) -> Iterator[str]:
    """Yield the sites whose tables a task's checks name."""
    for _, check in located_checks(task):
        yield from (way.locate.tables_of for way in check.ways if way.locate.tables_of is not None)
        if check.computed is not None and check.computed.sql is not None:
            yield check.computed.site


async def _tables(engine: Engine, site: Site) -> SiteTables | None:
    from orchestrator.delta.golden_rows import GoldenRows  # noqa: PLC0415  only for this check

    image = await engine.image(site.image.tag)
    if image is None or not image.labels.get(ROWS_LABEL):
        return None
    try:
        golden = await golden_of(engine, image)
        with GoldenRows.opened(await golden_rows(engine, image)) as rows:
            shapes = {name: table.shape for name, table in rows.tables().items()}
    except ArenaError:
        return None  # the image cannot be used as it is: whoever starts it says so
    state = {name: [column.name for column in shape.columns] for name, shape in shapes.items()}
    return SiteTables(
        state=state,
        volatile={
            name: [one for one in _defined(shape.definition) if one not in state[name]]
            for name, shape in shapes.items()
        },
        unlisted=site.fingerprint.volatile_tables | _views(golden.document) | _half_known(site),
        engine=site.database.engine if site.database else DatabaseEngine.MARIADB,
    )


def _half_known(site: Site) -> frozenset[str]:
    """Return the tables of which only the columns that are state are known."""
    if site.database is not None and site.database.engine is DatabaseEngine.MARIADB:
        return frozenset()
    return frozenset(site.fingerprint.volatile_columns)


def _defined(definition: str) -> list[str]:
    """Return the columns of the statement that creates a table."""
    return [name.replace("``", "`") for name in _COLUMN.findall(definition)]


def _views(golden: bytes) -> frozenset[str]:
    """Return the names of the views that a golden state names."""
    objects = json.loads(golden).get("objects", ())
    return frozenset(str(one["name"]) for one in objects if one.get("kind") == "view")
