from __future__ import annotations

import pytest

from arena_core.errors import ImageError
from arena_core.worlds import World
from orchestrator.engine.engine import Engine
from orchestrator.runner.agent_choice import choose_agent
from orchestrator.runner.lock_writer import make_lock
from orchestrator.runner.request import RunRequest
from sites.atlas import Atlas, load_atlas
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]


async def test_a_run_without_its_image_is_refused_before_it_leaves_a_folder() -> None:
    suite = load_suite("demo")
    request = RunRequest(
        suite=suite,
        tasks=suite.tasks[:1],
        worlds=(World.OFFLINE,),
        agent=choose_agent("idle").maker,
        agent_lock=choose_agent("idle").lock,
    )
    wiki = load_atlas().site("wiki")
    nowhere = wiki.image.model_copy(update={"tag": "arena/never-built:1"})
    atlas = Atlas({"wiki": wiki.model_copy(update={"image": nowhere})})
    async with await Engine.connect() as engine:
        with pytest.raises(ImageError, match="arena/never-built:1"):
            await make_lock(request, atlas, engine)
