"""What the images on this machine say of sites' data: their tables, and golds that no row holds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from arena_core.errors import ArenaError, EngineMissingError
from evaluators.fields import When
from evaluators.lint import Finding, Severity
from evaluators.locators.base import Subject
from evaluators.matchers.answer import AnswerMatcher
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import ROWS_LABEL, golden_of, golden_rows
from sites.manifest import DatabaseEngine, Site
from sites.registry import SiteRegistry
from tasks.lint.sql import SiteTables, Tables
from tasks.schema import Task, located_checks
from tasks.sources import SuiteSource

_COLUMN: Final = re.compile(r"^  `((?:[^`]|``)+)` ", re.MULTILINE)
ABSENT: Final = "a gold that stands nowhere in the data of its sites"
_NAMED: Final = "text"  # of the types of answers, what a site has word for word
_GIVEN: Final = frozenset({"value", "any_of", "all_of"})


async def known_tables(tasks: Iterable[Task], registry: SiteRegistry) -> Tables:
    """Return the tables of the sites whose databases the checks of tasks look at.

    What is not on this machine is not known: without an engine, or where a site's image is not
    built or was sealed by another version, there is nothing about it.
    """
    wanted = sorted({site for task in tasks for site in _asked(task)} & registry.sites.keys())
    if not wanted:
        return {}
    try:
        engine = await Engine.connect()
    except EngineMissingError:
        return {}
    async with engine:
        found = {name: await _tables(engine, registry.site(name)) for name in wanted}
    return {name: tables for name, tables in found.items() if tables is not None}


def _asked(task: Task) -> Iterator[str]:
    """Yield the sites whose tables a task's checks name."""
    for _, check in located_checks(task):
        yield from (way.locate.tables_of for way in check.ways if way.locate.tables_of is not None)
        yield from (one.site for _, one in check.asked if one.sql is not None)


async def _tables(engine: Engine, site: Site) -> SiteTables | None:
    from orchestrator.sandbox.delta.golden_rows import GoldenRows  # noqa: PLC0415  only for this check

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
    return [name.replace("``", "`") for name in _COLUMN.findall(definition)]


def _views(golden: bytes) -> frozenset[str]:
    objects = json.loads(golden).get("objects", ())
    return frozenset(str(one["name"]) for one in objects if one.get("kind") == "view")


async def absent_golds(
    source: SuiteSource, tasks: Iterable[Task], registry: SiteRegistry
) -> tuple[Finding, ...]:
    """Return a note for each imported task whose gold no row of its sites' databases holds.

    Golds are texts that an answer names; numbers and the like may be computed from the data. Of a
    site without sealed rows on this machine nothing is known, nor of a task that plays on one.
    """
    golds = {task.id: (task, gold) for task in tasks if (gold := frozenset(_golds(task)))}
    if not golds:
        return ()
    wanted: dict[str, set[str]] = {}
    for task, gold in golds.values():
        for name in registry.sites.keys() & set(task.sites):
            wanted.setdefault(name, set()).update(gold)
    missing = await _missing(wanted, registry)
    places = {task.id: number for number, task in enumerate(source.suite.tasks)}
    return tuple(
        Finding(Severity.NOTE, task.id, source.where(places[task.id], ("checks",)), ABSENT)
        for task, gold in golds.values()
        if missing.keys() >= set(task.sites)
        and any(all(one in missing[name] for name in task.sites) for one in gold)
    )


def _golds(task: Task) -> Iterator[str]:
    """Yield the texts that the end checks of an imported task expect of the answer."""
    if task.original is None:
        return
    for check in task.checks:
        for way in check.ways if check.when is When.END else ():
            match = way.match
            if way.locate.subject is not Subject.ANSWER or not isinstance(match, AnswerMatcher):
                continue
            if match.type == _NAMED:
                yield from _texts(match.model_dump(mode="json", include=set(_GIVEN)))


def _texts(found: object) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for one in found.values() if isinstance(found, dict) else found:
            yield from _texts(one)


async def _missing(
    wanted: dict[str, set[str]], registry: SiteRegistry
) -> dict[str, frozenset[str]]:
    """Return by site the texts that none of its rows holds; only sites whose rows are known."""
    try:
        engine = await Engine.connect()
    except EngineMissingError:
        return {}
    async with engine:
        files = {name: await _rows(engine, registry.site(name)) for name in wanted}
    return {
        name: await asyncio.to_thread(_not_in, path, frozenset(wanted[name]))
        for name, path in files.items()
        if path is not None
    }


async def _rows(engine: Engine, site: Site) -> Path | None:
    image = await engine.image(site.image.tag)
    if image is None or not image.labels.get(ROWS_LABEL):
        return None
    try:
        return await golden_rows(engine, image)
    except ArenaError:
        return None  # the image cannot be used as it is: whoever starts it says so


def _not_in(path: Path, texts: frozenset[str]) -> frozenset[str]:
    from orchestrator.sandbox.delta.golden_rows import GoldenRows  # noqa: PLC0415  only for this check

    left = {text: json.dumps(text, ensure_ascii=False)[1:-1].casefold() for text in texts}
    with GoldenRows.opened(path) as rows:
        for batch in rows.texts():
            held = batch.casefold()
            left = {text: form for text, form in left.items() if form not in held}
            if not left:
                break
    return frozenset(left)
