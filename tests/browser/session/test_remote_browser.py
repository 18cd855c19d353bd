"""A browser that somebody else started: watched as Arena's own, kept to the policy, left alive."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.worlds.fake_world import ATLAS, FakeWorld, attempt_at, browsing_task
from support.worlds.running_chromium import RunningChromium, running_chromium

from arena_core.actions import Click, Goto, Stop
from arena_core.errors import BrowserError, GatewayError, StateError
from arena_core.worlds import World
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.kinds import BrowserKind, RemoteAddress
from orchestrator.browser.process.remote import RemoteBrowser, _reaches, connect, open_browser
from orchestrator.episode.episode import Episode
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.policy import Policy
from orchestrator.gateway.recorded import RecordedDocuments
from sites.registry import SiteRegistry

if TYPE_CHECKING:
    from browser.session.conftest import Site

    from evaluators.evidence import Evidence

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not shutil.which("chromium"), reason="no full browser here"),
]
NODES = [
    {
        "name": "article",
        "when": "step",
        "locate": {"by": "url"},
        "match": {"how": "exact", "value": "wiki:/article/Kettle"},
    },
    {
        "name": "link",
        "when": "step",
        "locate": {"by": "element", "event": "click", "role": "link"},
        "match": {"how": "exact", "value": "Kettle"},
    },
    {
        "name": "heading",
        "when": "end",
        "locate": {"by": "page", "at": "own", "selector": "h1"},
        "match": {"how": "exact", "value": "Kettle"},
    },
]
START = "<title>Start</title><a href=/wiki/Kettle>Kettle</a><form method=post action=/w><button>b"


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[RunningChromium]:
    with running_chromium(tmp_path / "profile", "data:text/html,<title>theirs") as running:
        yield running


@pytest.fixture
def site(outer_site: Site) -> Site:
    """What their browser visits is in this machine's network."""
    return outer_site


def live_at(origin: str, pace_s: float = 0.0) -> SiteRegistry:
    """Return the sites, with the wiki's live origin on this machine."""
    wiki = ATLAS.site("wiki")
    assert wiki.live is not None
    live = wiki.live.model_copy(update={"origin": origin, "pace_s": pace_s})
    return replace(ATLAS, sites={**ATLAS.sites, "wiki": wiki.model_copy(update={"live": live})})


@asynccontextmanager
async def episode_in(
    running: RunningChromium,
    site: Site,
    kind: BrowserKind = BrowserKind.CDP,
    **more: object,
) -> AsyncIterator[tuple[RemoteBrowser, Episode]]:
    registry = live_at(site.base)
    site.page(START)
    site.page("<title>Kettle</title><h1>Kettle</h1>", "/wiki/Kettle")
    async with connect(RemoteAddress.parse(running.url), kind) as browser:
        environment = replace(
            FakeWorld().environment(World.ONLINE),
            registry=registry,
            upstreams=registry.upstreams(["wiki"], World.ONLINE),
            browser=browser,
            open_gateway=browser.open_gateway,
        )
        task = browsing_task(**{"checks": NODES, "worlds": ["online"], **more})
        episode = Episode(attempt_at(task), environment)
        try:
            yield browser, episode
        finally:
            await episode.close()


def element(seen: Any, role: str) -> int:
    return next(int(node.id) for node in seen.nodes if node.role == role)


async def test_an_episode_there_is_watched_scored_and_closed_and_the_browser_lives_on(
    theirs: RunningChromium, site: Site
) -> None:
    before = theirs.pages()
    async with episode_in(theirs, site) as (browser, episode):
        assert (browser.kind, browser.not_isolated) == (BrowserKind.CDP, "it runs elsewhere")
        assert browser.build.product.startswith(("Chrome/", "HeadlessChrome/"))
        assert "Chrome/" in browser.build.user_agent
        seen = await episode.reset()
        assert seen.url == f"{site.base}/"
        assert len(theirs.pages()) == len(before) + 1
        await episode.step(Click(element=element(seen, "link")))
        await episode.step(Stop())
        score = await episode.score()
        await episode.close()
        evidence = episode.evidence()
        assert theirs.pages() == before
    assert str(score.outcome) == "success"
    assert [str(one.status) for one in score.verdicts] == ["met"] * 3
    assert [acted.name for acted in evidence.steps[1].acted] == ["Kettle"]
    assert evidence.steps[1].requests >= 1
    assert theirs.is_running
    assert theirs.pages() == before


async def test_a_host_of_no_site_is_refused_and_noted_as_a_gateway_would(
    theirs: RunningChromium, site: Site
) -> None:
    other = site.base.replace("127.0.0.1", "localhost")
    async with episode_in(theirs, site) as (_, episode):
        await episode.reset()
        site.page(f"<h1>here</h1><img src={other}/p.png>", "/wiki/Picture")
        await episode.step(Goto(url=f"{other}/elsewhere"))
        await episode.step(Goto(url=f"{site.base}/wiki/Picture"))
        await episode.step(Stop())
        evidence = episode.evidence()
    assert site.asked("/elsewhere") == site.asked("/p.png") == 0
    assert site.asked("/wiki/Picture") == 1
    note = next(one for one in refused(evidence, 1) if one.url == f"{other}/elsewhere")
    assert note.refused == "localhost is not a site of this task"
    assert evidence.steps[1].status == 403
    assert evidence.steps[1].visits[0].logical is None
    assert [note.url for note in refused(evidence, 2)] == [f"{other}/p.png"]


def refused(evidence: Evidence, step: int) -> list[Any]:
    return [note for note in evidence.steps[step].notes if note.refused]


async def test_live_sites_stay_read_only_there(theirs: RunningChromium, site: Site) -> None:
    async with episode_in(theirs, site) as (_, episode):
        seen = await episode.reset()
        await episode.step(Click(element=element(seen, "button")))
        evidence = episode.evidence()
    assert site.asked("/w") == 0
    assert [(note.method, note.refused) for note in evidence.steps[1].notes] == [
        ("POST", "live sites are read-only in this task")
    ]


async def test_a_write_that_a_task_allows_is_sent_and_noted(
    theirs: RunningChromium, site: Site
) -> None:
    site.page("<h1>written</h1>", "/w")
    async with episode_in(theirs, site, live_writes=True) as (_, episode):
        seen = await episode.reset()
        await episode.step(Click(element=element(seen, "button")))
        evidence = episode.evidence()
    assert site.asked("/w") == 1
    assert [(note.method, note.may_write) for note in evidence.steps[1].notes] == [("POST", True)]


async def test_a_lost_connection_is_a_fault_of_the_world_and_no_failure(
    theirs: RunningChromium, site: Site
) -> None:
    async with episode_in(theirs, site) as (browser, episode):
        seen = await episode.reset()
        theirs.kill()
        result = await episode.step(Click(element=element(seen, "link")))
        assert result.is_over
        score = await episode.score()
        assert not browser.is_alive
    assert str(score.outcome) == "unscored: infra"
    fault = episode.evidence().fault
    assert fault is not None
    assert f"the connection to the browser at {theirs.url} was lost" in fault.message


async def test_a_site_that_cannot_be_reached_from_there_is_no_failure_either(
    theirs: RunningChromium, site: Site
) -> None:
    async with episode_in(theirs, site) as (_, episode):
        for answer in site.answers.values():
            answer.headers = {"connection": "close"}  # none stays open
        await episode.reset()
        site.close()
        await episode.step(Goto(url=f"{site.base}/wiki/Kettle"))
        score = await episode.score()
    assert str(score.outcome) == "unscored: infra"
    fault = episode.evidence().fault
    assert fault is not None
    assert "site 'wiki': its live origin failed" in fault.message


async def test_its_own_pages_are_left_alone(theirs: RunningChromium, site: Site) -> None:
    """A page of somebody else's goes wherever it likes while an episode is played."""
    site.page("<h1>written</h1>", "/their-write")
    async with episode_in(theirs, site) as (browser, episode):
        await episode.reset()
        wire = await browser._browser.contexts[0].new_page()
        await wire.goto(f"{site.base.replace('127.0.0.1', 'localhost')}/wiki/Kettle")
        sent = await wire.evaluate("fetch('/their-write', {method: 'POST'}).then(r => r.status)")
        await wire.close()
    assert sent == 200
    assert site.requests.count(("POST", "/their-write")) == 1


async def test_the_profiles_cookies_for_the_sites_go_along_and_stay_as_they_are(
    theirs: RunningChromium, site: Site
) -> None:
    """Its owner is logged in; of evidence, whoever reads it could not log in."""
    check = {
        "name": "asked",
        "when": "end",
        "locate": {"by": "network", "url": "wiki:/article/Kettle"},
    }
    wanted = [*NODES, {**check, "match": {"how": "found"}}]
    set_cookie = {"set-cookie": "lang=changed; Path=/; Max-Age=900"}
    async with connect(RemoteAddress.parse(theirs.url)) as owner:
        profile = owner._browser.contexts[0]
        await profile.add_cookies(
            [
                {"name": "lang", "value": "norsk", "url": site.base},
                {"name": "sid", "value": "swordfish", "url": site.base, "httpOnly": True},
                {"name": "sid", "value": "elsewhere-1", "domain": "bank.example", "path": "/"},
            ]
        )
        before, pages = await profile.cookies(), theirs.pages()
        for kind in (BrowserKind.PROFILE, BrowserKind.CDP):
            async with episode_in(theirs, site, kind, checks=wanted) as (
                browser,
                episode,
            ):
                site.answers["/wiki/Kettle"].headers |= set_cookie
                seen = await episode.reset()
                await episode.step(Click(element=element(seen, "link")))
                context = browser._browser.contexts[-1]
                held = {one["name"]: one["value"] for one in await context.cookies()}
                await episode.step(Stop())
                await episode.score()
                await episode.close()
                evidence = episode.evidence().model_dump_json()
                recorded = str(episode.evidence().network)
            expected = {"sid": "swordfish"} if kind is BrowserKind.PROFILE else {}
            assert held == {"lang": "changed", **expected}
            assert ("'cookie'" in recorded) is (kind is BrowserKind.PROFILE)
            assert ("lang=changed" in recorded) is (kind is BrowserKind.CDP)
            assert not any(
                word in evidence + recorded for word in ("norsk", "swordfish", "elsewhere")
            )
        assert await profile.cookies() == before
        assert theirs.pages() == pages


@pytest.mark.parametrize(
    ("domain", "host", "reaches"),
    [
        ("en.wiki.example", "en.wiki.example", True),
        (".wiki.example", "en.wiki.example", True),
        (".wiki.example", "wiki.example", True),
        ("wiki.example", "en.wiki.example", False),
        (".iki.example", "wiki.example", False),
        (".example.org", "wiki.example", False),
    ],
)
async def test_a_cookie_goes_where_the_browser_would_send_it(
    domain: str, host: str, *, reaches: bool
) -> None:
    assert _reaches(domain, host) is reaches


async def test_what_it_cannot_be_given_is_refused(theirs: RunningChromium) -> None:
    async with connect(RemoteAddress.parse(theirs.url)) as browser:
        with pytest.raises(StateError, match="no gateway answers the browser"):
            async with browser.open_gateway(Policy(()), bind="x", recorded=RecordedDocuments()):
                pass
        with pytest.raises(GatewayError, match="reaches live sites alone"):
            async with browser.open_gateway(Policy(()), bind="x", arm=Arm(())):
                pass


async def test_an_address_where_nobody_answers_is_one_line_without_its_secret() -> None:
    url = "ws://ada:swordfish-9@127.0.0.1:9/devtools/browser/0f9b1c2d3e4f?apiKey=bb_live_123456"
    options = BrowserOptions(remote=RemoteAddress.parse(url))
    with pytest.raises(BrowserError) as caught:
        async with asyncio.timeout(30), open_browser(options):
            pass
    said = caught.value.message
    assert said.startswith("the browser at ws://127.0.0.1:9/… cannot be used: ")
    assert "\n" not in said
    assert not any(part in said for part in ("swordfish", "0f9b1c2d3e4f", "bb_live"))
    assert caught.value.__cause__ is None
