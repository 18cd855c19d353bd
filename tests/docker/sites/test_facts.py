"""The built sites tell one truth: no fact that stands on two of them differs."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from orchestrator.authoring.site_check.facts import RunningSites, Sources, check_facts, read_facts
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=2)]


@dataclass
class Altered:
    """Running sites, with one word of one page replaced."""

    sources: Sources
    path: str
    word: str
    planted: str

    async def page(self, site: str, path: str) -> str:
        text = await self.sources.page(site, path)
        return text.replace(self.word, self.planted) if path == self.path else text

    async def rows(self, site: str, sql: str) -> list[str]:
        return list(await self.sources.rows(site, sql))


async def test_no_fact_of_the_built_sites_contradicts_another_and_planted_ones_are_found() -> None:
    facts = read_facts()
    names = sorted(facts.sites)
    async with (
        await Engine.connect() as engine,
        SlotPool.open(engine, load_registry(), names, f"facts-{os.getpid()}") as pool,
        pool.lease(names) as slot,
    ):
        sites = RunningSites(slot.replicas)
        report = await check_facts(facts, sites)
        assert [str(one) for one in report.breaches] == []
        assert report.read >= 112
        planted = Altered(
            sites, "/visitors-guide/museums/kettle-museum/", "Chapel Lane", "Oak Road"
        )
        found = (await check_facts(facts, planted)).breaches
        assert [(one.fact, one.subject) for one in found] == [("street", "Kettle Museum")]
