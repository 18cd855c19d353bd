from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.episode.block_detection import detect_block
from sites.atlas import Atlas, load_atlas
from sites.upstreams import Upstreams

ATLAS = load_atlas(())
LIVE = "https://en.wikipedia.org/wiki/Kettle"


@dataclass
class SmallEnvironment:
    """What of a stage the door looks at."""

    upstreams: Upstreams
    atlas: Atlas = ATLAS


def small_environment(world: World = World.ONLINE, *sites: str) -> Any:
    return SmallEnvironment(ATLAS.upstreams(sites or ("wiki",), world))


@pytest.mark.parametrize("status", [401, 403, 429, 451, 503])
def test_a_live_start_page_that_bars_the_browser_is_blocked(status: int) -> None:
    fault = detect_block(small_environment(), [(LIVE, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.BLOCKED
    assert str(status) in fault.message
    assert LIVE in fault.message


@pytest.mark.parametrize("status", [404, 410])
def test_a_live_start_page_that_is_gone_has_drifted(status: int) -> None:
    fault = detect_block(small_environment(), [(LIVE, 200), (LIVE, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.DRIFTED


@pytest.mark.parametrize("status", [200, 304, 500, None])
def test_other_answers_let_the_agent_in(status: int | None) -> None:
    assert detect_block(small_environment(), [(LIVE, status)]) is None


def test_a_replica_never_blocks() -> None:
    page = "http://wiki.arena.test/"
    assert detect_block(small_environment(World.OFFLINE), [(page, 403)]) is None
    assert detect_block(small_environment(World.OFFLINE), [(LIVE, 403)]) is None
    page = "http://tools.arena.test/"
    assert detect_block(small_environment(World.ONLINE, "tools", "wiki"), [(page, 403)]) is None


def test_a_start_page_that_leads_away_from_every_site_is_blocked_where_one_is_live() -> None:
    away = "https://consent.example/"
    assert detect_block(small_environment(), [(away, 403)]) is not None
    assert detect_block(small_environment(World.ONLINE, "tools"), [(away, 403)]) is None
    assert detect_block(small_environment(World.OFFLINE), [(away, 403)]) is None
