"""A new run's lock: which images are needed, and what answers for each site."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.runs.tiny_run import SUITE
from support.tasks.plugged import install
from support.worlds.live_origin import registry_with

from arena_core.errors import ImageError
from arena_core.plugins import Group
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs import lock_writer
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.browser_lock import BrowserLock
from orchestrator.runs.store.lock import RunLock
from orchestrator.sandbox.engine.containers import ImageInfo, Labels
from orchestrator.sandbox.engine.engine import EngineFacts
from sites.registry import SiteRegistry, load_registry

ATLAS = load_registry(())
CHROMIUM = BrowserLock(
    kind=BrowserKind.CHROMIUM, product="Chrome/1.2", user_agent="Mozilla/5.0", headed=False
)


class Images:
    """An engine with all images but those that are missing."""

    def __init__(self, *missing: str) -> None:
        self._missing = missing

    async def image(self, tag: str) -> object:
        if tag in self._missing:
            return None
        labels = {Labels.GOLDEN: f"state of {tag}"}
        return ImageInfo(id=f"id of {tag}", tag=tag, labels=labels, size_bytes=1)

    async def facts(self) -> EngineFacts:
        return EngineFacts(
            version="1", storage_driver="", root="", memory_bytes=1, cpus=1, clock="unknown"
        )


async def lock(
    monkeypatch: pytest.MonkeyPatch,
    *missing: str,
    staged: bool = False,
    importers: tuple[str, ...] = (),
    observations: frozenset[str] = frozenset({"axtree"}),
    registry: SiteRegistry = ATLAS,
) -> RunLock:
    async def browser_of(_: object) -> tuple[str, BrowserLock]:
        return "1.2", CHROMIUM

    monkeypatch.setattr(lock_writer, "_browser_of", browser_of)
    task = SUITE.tasks[0].model_copy(update={"sites": ("wiki", "tools"), "worlds": tuple(World)})
    agent: Any = SimpleNamespace(name="a", observations=observations)
    request = RunRequest(
        suite=SUITE,
        tasks=(task,),
        agent=agent,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.BASELINE),
        settings=RunSettings(worlds=tuple(World), staged=staged),
        importers=importers,
    )
    engine: Any = Images(*missing)
    return await make_lock(request, registry, engine)


WIKI, TOOLS = ATLAS.site("wiki"), ATLAS.site("tools")


def staged_tag() -> str:
    assert WIKI.live is not None
    assert WIKI.live.staged is not None
    return WIKI.live.staged.image.tag


async def test_a_lock_names_what_answers_and_the_images_of_what_is_in_a_container(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = await lock(monkeypatch, staged=False)
    assert live.upstreams[World.OFFLINE] == {"wiki": "replica", "tools": "replica"}
    assert live.upstreams[World.ONLINE] == {"wiki": "live", "tools": "replica"}
    assert set(live.images) == {WIKI.image.tag, TOOLS.image.tag}
    assert live.goldens == {tag: f"state of {tag}" for tag in live.images}
    assert live.clock is not None
    assert live.staged == ()

    staged = await lock(monkeypatch, staged=True)
    assert staged.upstreams[World.ONLINE] == {"wiki": "staged", "tools": "replica"}
    assert set(staged.images) == {WIKI.image.tag, TOOLS.image.tag, staged_tag()}
    assert staged.staged == ("wiki",)


async def test_a_lock_says_what_live_sites_were_told_of_the_sender(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (await lock(monkeypatch)).identified == {}
    told = registry_with(identify="MyStudy/1.0")
    made = await lock(monkeypatch, registry=told)
    assert made.identified == {"wiki": "MyStudy/1.0"}
    assert RunLock.model_validate_json(made.model_dump_json()).identified == made.identified


async def test_the_image_of_a_stand_in_is_needed_where_it_is_staged_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await lock(monkeypatch, staged_tag(), staged=False)
    with pytest.raises(ImageError, match=staged_tag()):
        await lock(monkeypatch, staged_tag(), staged=True)


async def test_a_lock_names_the_packages_of_importers_and_of_forms_of_observation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    install(tmp_path, "acme-pages", {Group.IMPORTERS: {"pages": "acme:Pages"}}, version="1.2")
    install(tmp_path, "acme-eyes", {Group.OBSERVATIONS: {"gist": "acme:GIST"}}, version="3.4")
    importlib.invalidate_caches()
    seen = frozenset({"axtree", "gist@viewport"})
    written = await lock(monkeypatch, importers=("pages",), observations=seen)
    assert {"acme-pages": "1.2", "acme-eyes": "3.4"}.items() <= written.packages.items()
    assert not {"acme-pages", "acme-eyes"} & (await lock(monkeypatch)).packages.keys()
