"""What a login that fails makes of an episode: the site's matter here, drift on the web."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from arena_core.errors import LoginError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.episode.faults import login_fault, start_fault
from sites.registry import SiteRegistry, load_registry
from sites.upstreams import Upstreams

ATLAS = load_registry(())
LIVE = "https://en.wikipedia.org/wiki/Kettle"


@dataclass
class SmallEnvironment:
    """What of a stage the door looks at."""

    upstreams: Upstreams
    registry: SiteRegistry = ATLAS


def small_environment(world: World = World.ONLINE, *sites: str) -> Any:
    return SmallEnvironment(ATLAS.upstreams(sites or ("wiki",), world))


@pytest.mark.parametrize("status", [401, 403, 429, 451, 503])
def test_a_live_start_page_that_bars_the_browser_is_blocked(status: int) -> None:
    fault = start_fault(small_environment(), [(LIVE, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.BLOCKED
    assert str(status) in fault.message
    assert LIVE in fault.message


@pytest.mark.parametrize("status", [404, 410])
def test_a_live_start_page_that_is_gone_has_drifted(status: int) -> None:
    fault = start_fault(small_environment(), [(LIVE, 200), (LIVE, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.DRIFTED


@pytest.mark.parametrize("status", [200, 304, None])
@pytest.mark.parametrize("world", list(World))
def test_other_answers_let_the_agent_in(world: World, status: int | None) -> None:
    assert start_fault(small_environment(world), [(LIVE, status)]) is None


@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_a_replicas_start_page_that_answers_with_an_error_is_not_found(status: int) -> None:
    page = "http://wiki.arena.test/nowhere"
    fault = start_fault(small_environment(World.OFFLINE), [(page, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.NOT_FOUND_AT_START
    assert f"wiki:/nowhere answered {status}" in fault.message
    page = "http://tools.arena.test/"
    fault = start_fault(small_environment(World.ONLINE, "tools", "wiki"), [(page, status)])
    assert fault is not None
    assert fault.reason is UnscoredReason.NOT_FOUND_AT_START


def test_an_error_of_a_live_start_page_that_is_no_wall_is_not_found() -> None:
    fault = start_fault(small_environment(), [(LIVE, 500)])
    assert fault is not None
    assert fault.reason is UnscoredReason.NOT_FOUND_AT_START


def test_a_start_page_that_leads_away_from_every_site_is_blocked_where_one_is_live() -> None:
    away = "https://consent.example/"
    for environment, reason in (
        (small_environment(), UnscoredReason.BLOCKED),
        (small_environment(World.ONLINE, "tools"), UnscoredReason.NOT_FOUND_AT_START),
        (small_environment(World.OFFLINE), UnscoredReason.NOT_FOUND_AT_START),
    ):
        fault = start_fault(environment, [(away, 403)])
        assert fault is not None
        assert fault.reason is reason


@pytest.mark.parametrize(
    ("world", "site", "reason"),
    [
        (World.OFFLINE, "shop", UnscoredReason.INFRA),
        (World.ONLINE, "shop", UnscoredReason.DRIFTED),
        (World.ONLINE, "tools", UnscoredReason.INFRA),
        (World.ONLINE, "", UnscoredReason.INFRA),
    ],
)
def test_a_login_that_fails_is_drift_only_at_a_live_origin(
    world: World, site: str, reason: UnscoredReason
) -> None:
    environment: Any = SimpleNamespace(upstreams=ATLAS.upstreams(["shop", "tools"], world))
    fault = login_fault(environment, LoginError("could not log in", site=site))
    assert (fault.reason, fault.message) == (reason, "could not log in")
    assert fault.unreachable is None


def test_a_live_origin_that_does_not_answer_a_login_has_not_drifted() -> None:
    for world, silent in ((World.ONLINE, "shop"), (World.OFFLINE, None)):
        environment: Any = SimpleNamespace(upstreams=ATLAS.upstreams(["shop"], world))
        error = LoginError("no connection", site="shop", is_unanswered=True)
        fault = login_fault(environment, error)
        assert (fault.reason, fault.unreachable) == (UnscoredReason.INFRA, silent)
