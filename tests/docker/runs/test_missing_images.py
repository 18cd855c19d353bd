from __future__ import annotations

import pytest

from arena_core.errors import ImageError
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.request import RunRequest
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry, load_registry
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]


async def test_a_run_without_its_image_is_refused_before_it_leaves_a_folder() -> None:
    suite = load_suite("demo")
    request = RunRequest(
        suite=suite,
        tasks=suite.tasks[:1],
        agent=choose_agent("idle").maker,
        agent_lock=choose_agent("idle").lock,
    )
    wiki = load_registry().site("wiki")
    nowhere = wiki.image.model_copy(update={"tag": "arena/never-built:1"})
    registry = SiteRegistry({"wiki": wiki.model_copy(update={"image": nowhere})})
    async with await Engine.connect() as engine:
        with pytest.raises(ImageError, match="arena/never-built:1"):
            await make_lock(request, registry, engine)
