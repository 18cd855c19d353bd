"""Which browser an episode of a program's, or of a service's client, is played in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.tasks.small_suites import bells, write_suite
from support.worlds.worldless import WorldlessArena

from arena_core.errors import UsageError
from orchestrator import Arena
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.serve.host import EpisodeHost
from orchestrator.serve.messages import CreateEpisode

REMOTE = "cdp:ws://127.0.0.1:9/devtools/browser/opensesame"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, bells("one", worlds=["offline", "online"]))


def asked_of(arena: Arena) -> list[Any]:
    return [episode._maker.asked for episode in arena._episodes._open]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["headless-shell", "chromium", "headed"])
async def test_each_browser_of_this_machine_plays_in_either_world(suite: Path, kind: str) -> None:
    arena = WorldlessArena()
    for world in ("offline", "online"):
        arena.episode(f"{suite}/one", world=world, browser=kind)
    named = {one.choice.settings.browser.kind for one in asked_of(arena)}
    assert named == {BrowserKind(kind)}


async def test_one_at_an_address_plays_live_sites_and_no_name_is_none(suite: Path) -> None:
    arena = WorldlessArena()
    arena.episode(f"{suite}/one", world="online", browser=REMOTE)
    declared = {"use": REMOTE, "country": "DE"}
    arena.episode(f"{suite}/one", world="online", browser=declared)
    arena.episode(f"{suite}/one", world="online")
    browsers = [one.choice.settings.browser for one in asked_of(arena)]
    assert sorted(one.country or "" if one else "none" for one in browsers) == ["", "DE", "none"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"browser": "firefox"}, "is no browser"),
        ({"browser": REMOTE}, "reaches no replica"),
        ({"browser": REMOTE, "world": "online", "staged": True}, "reaches no staged origin"),
        ({"browser": REMOTE, "world": "online", "endpoint": "cdp"}, "no network of its own"),
        ({"browser": "chromium", "headless": False}, "two browsers"),
        ({"browser": "cdp:wss://example.com?key=${ARENA_UNSET}"}, "reaches no replica"),
        (
            {"browser": "cdp:wss://example.com?key=${ARENA_UNSET}", "world": "online"},
            "needs the variable ARENA_UNSET",
        ),
    ],
)
async def test_a_browser_that_cannot_play_there_is_refused_before_anything_starts(
    suite: Path, more: dict[str, Any], why: str
) -> None:
    arena = WorldlessArena()
    with pytest.raises(UsageError, match=why) as refused:
        arena.episode(f"{suite}/one", **more)
    assert "opensesame" not in str(refused.value)
    assert arena.worlds == []


async def test_a_service_plays_all_its_episodes_in_its_browser(suite: Path) -> None:
    async with WorldlessArena() as arena:
        host = EpisodeHost(arena, slots=1, idle_s=60, browser=REMOTE)
        with pytest.raises(UsageError, match="reaches no replica"):
            await host.begin(CreateEpisode(task=f"{suite}/one"))
        await host.begin(CreateEpisode.model_validate({"task": f"{suite}/one", "world": "online"}))
        [asked] = asked_of(arena)
        assert asked.choice.settings.browser.kind is BrowserKind.CDP
        await host.close()


def test_no_client_chooses_the_browser() -> None:
    with pytest.raises(ValueError, match="browser"):
        CreateEpisode.model_validate({"task": "demo/one", "browser": "headed"})


@pytest.mark.parametrize("browser", ["firefox", "cdp:ws://example.com", "cdp:wss://a?k=${UNSET_}"])
def test_a_service_with_a_browser_that_is_none_does_not_begin(browser: str) -> None:
    with pytest.raises(UsageError):
        EpisodeHost(WorldlessArena(), slots=1, idle_s=60, browser=browser)
