"""What a live site is asked for: within its limits, by a declared sender, from listed hosts."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from support.worlds.live_origin import HOST, live_episode

from arena_core.actions import Goto, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from browser.live.conftest import StartOrigin
    from support.worlds.live_origin import LiveOrigin

    from orchestrator.browser.process.launch import Browser
    from orchestrator.episode.episode import Episode

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NODE: dict[str, Any] = {
    "name": "article",
    "when": "end",
    "locate": {"by": "page", "at": "own", "selector": "h1"},
    "match": {"how": "exact", "value": "Kettle"},
}


@asynccontextmanager
async def visiting(browser: Browser, origin: LiveOrigin, **live: Any) -> AsyncIterator[Episode]:
    origin.page("/", "<title>Start</title>")
    origin.page("/wiki/Kettle", "<title>Kettle</title><h1>Kettle</h1>")
    async with live_episode(browser, origin, checks=[NODE], live=live) as episode:
        yield episode


async def test_what_a_quota_keeps_from_an_agent_is_no_failure_of_it(
    browser: Browser, origin: LiveOrigin
) -> None:
    async with visiting(browser, origin, quota=1) as episode:
        await episode.reset()
        done = await episode.step(Goto(url=f"https://{HOST}/wiki/Kettle"))
        assert done.is_over
        score = await episode.score()
        evidence = episode.evidence()
    assert str(score.outcome) == "unscored: blocked"
    assert evidence.fault is not None
    assert evidence.fault.message == (f"the run's quota of 1 requests to {HOST} is used up")
    assert origin.times("/wiki/Kettle") == 0
    [host] = evidence.hosts
    assert (host.requests, host.client_errors) == (1, 0)


async def test_a_start_page_beyond_the_quota_is_the_quotas_doing_too(
    browser: Browser, origin: LiveOrigin
) -> None:
    async with visiting(browser, origin, quota=1) as episode:
        origin.page("/", "", headers={"location": "/wiki/Kettle"}, status=302)
        await episode.reset()
        assert episode.is_over
        fault = episode.evidence().fault
    assert fault is not None
    assert "quota" in fault.message


async def test_a_site_learns_who_comes_where_its_manifest_says_so(
    browser: Browser, origin: LiveOrigin
) -> None:
    async with visiting(browser, origin, identify="Study/1.0 (+mailto:a@b.example)") as episode:
        await episode.reset()
    async with visiting(browser, origin) as episode:
        await episode.reset()
    told, usual = [one.user_agent for one in origin.asked if one.path == "/"]
    assert told == f"{usual} Study/1.0 (+mailto:a@b.example)"
    assert usual.startswith("Mozilla/5.0")


async def test_pages_read_from_listed_third_parties_and_write_to_none(
    browser: Browser, origin: LiveOrigin, start_origin: StartOrigin
) -> None:
    cdn = start_origin(name="cdn.example")
    cdn.page("/a.js", "document.title = 'with script'", kind="text/javascript")
    page = "".join(
        f"<script src=https://{host}/a.js></script>" for host in ("cdn.example", "ads.example")
    )
    page += "<script>fetch('https://cdn.example/track', {method: 'POST', mode: 'no-cors'})</script>"
    resolves = {"cdn.example": cdn, "ads.example": cdn}
    origin.page("/wiki/Kettle", page)
    async with live_episode(
        browser,
        origin,
        checks=[NODE],
        live={"third_parties": ["cdn.example"]},
        resolves=resolves,
    ) as episode:
        origin.page("/", "<title>Start</title>")
        await episode.reset()
        done = await episode.step(Goto(url=f"https://{HOST}/wiki/Kettle"))
        await episode.step(Stop())
        evidence = episode.evidence()
    assert done.observation.title == "with script"
    assert [(one.method, one.path) for one in cdn.asked] == [("GET", "/a.js")]
    refused = {note.url: note.refused for note in evidence.steps[1].notes if note.refused}
    assert refused["https://cdn.example/track"] == "live sites are read-only in this task"
    assert refused["ads.example:443"] == "ads.example is not a site of this task"
    by_host = {one.host: (one.requests, one.writes_stopped) for one in evidence.hosts}
    assert by_host["cdn.example"] == (1, 1)


async def test_the_evidence_says_what_each_host_got(browser: Browser, origin: LiveOrigin) -> None:
    async with visiting(browser, origin) as episode:
        origin.page("/wiki/Busy", "slow down", status=429, headers={"retry-after": "5"})
        await episode.reset()
        for page in ("Kettle", "Busy", "None"):
            await episode.step(Goto(url=f"https://{HOST}/wiki/{page}"))
        await episode.close()
        [host] = episode.evidence().hosts
    assert (host.host, host.requests) == (HOST, len(origin.asked))
    assert host.client_errors >= 2
    assert (host.rate_limited, host.server_errors, host.writes_stopped) == (1, 0, 0)
    assert host.bytes > sum(len(one) for one in ("slow down", "nothing here"))
