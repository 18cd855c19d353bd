"""A live site that lets an agent in no more, and agents that would make an excuse of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser.live.faulty import GOAL, START, TASK, sound
from support.worlds.live_origin import HOST, Asked, Page, live_episode

from arena_core.actions import Goto, Stop
from orchestrator.episode import barred

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.worlds.live_origin import LiveOrigin

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

GOAL_AT, ADMIN, OTHER = "/wiki/Samovar", "/admin", "/wiki/Urn"
REFUSED = Page(body="<title>Access denied</title><h1>Access denied</h1>", status=403)
CHALLENGE = Page(
    body="<title>Just a moment...</title><h1>Just a moment...</h1><input type=checkbox>", status=403
)
SLOW_DOWN = Page(body="<h1>Too many requests</h1>", status=429, headers={"retry-after": "120"})


async def visits(browser: Browser, origin: LiveOrigin, *paths: str, **live: object) -> str:
    """Let an agent open pages one after the other, and return what it came to."""
    origin.page("/start", START)
    origin.page(OTHER, "<title>Urn</title><h1>Urn</h1>")
    async with live_episode(browser, origin, live=live, **TASK) as episode:
        await episode.reset()
        for path in paths:
            await episode.step(Goto(url=f"https://{HOST}{path}"))
        await episode.step(Stop())
        return str((await episode.score()).outcome)


def while_asked(times: int, page: Page, then: str) -> Callable[[Asked], Page]:
    """Answer with a page so many times, and normally from then on."""
    left = [page] * times
    return lambda _: left.pop() if left else Page(body=then)


@pytest.mark.parametrize("wall", [REFUSED, CHALLENGE, SLOW_DOWN], ids=["403", "challenge", "429"])
async def test_a_right_agent_that_is_walled_off_has_not_failed(
    browser: Browser, origin: LiveOrigin, wall: Page
) -> None:
    origin.pages[GOAL_AT] = wall
    assert await visits(browser, origin, GOAL_AT) == "unscored: blocked"


async def test_nor_has_one_that_the_whole_site_shut_out(
    browser: Browser, origin: LiveOrigin
) -> None:
    origin.pages[ADMIN] = CHALLENGE

    def start(_: Asked) -> Page:
        return CHALLENGE if origin.times(ADMIN) else Page(body=START)

    async with live_episode(browser, origin, **TASK) as episode:
        origin.pages["/start"] = start
        await episode.reset()
        await episode.step(Goto(url=f"https://{HOST}{ADMIN}"))
        await episode.step(Stop())
        score = await episode.score()
    assert str(score.outcome) == "unscored: blocked"
    assert "bot wall: 'Just a moment...'" in score.because


@pytest.mark.parametrize("wall", [REFUSED, CHALLENGE], ids=["403", "challenge"])
async def test_a_page_that_is_forbidden_to_everybody_is_no_way_out(
    browser: Browser, origin: LiveOrigin, wall: Page
) -> None:
    sound(origin)
    origin.pages[ADMIN] = wall
    assert await visits(browser, origin, ADMIN) == "failure"


async def test_nor_is_a_wall_that_was_gone_again(browser: Browser, origin: LiveOrigin) -> None:
    origin.pages[GOAL_AT] = while_asked(1, REFUSED, GOAL)
    assert await visits(browser, origin, GOAL_AT, OTHER, OTHER) == "failure"
    origin.pages[GOAL_AT] = while_asked(1, SLOW_DOWN, GOAL)
    assert await visits(browser, origin, GOAL_AT, GOAL_AT) == "failure"


async def test_nor_is_hammering(
    browser: Browser, origin: LiveOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(barred, "USUAL_PAGES_PER_MINUTE", 4)
    origin.pages[GOAL_AT] = SLOW_DOWN
    assert await visits(browser, origin, OTHER, OTHER, GOAL_AT) == "unscored: blocked"
    assert await visits(browser, origin, *[OTHER] * 5, GOAL_AT) == "failure"
    many = *[OTHER] * 5, GOAL_AT
    told = await visits(browser, origin, *many, requests_per_minute=1000)
    assert told == "unscored: blocked"
