"""Episodes in an arm: the agent meets another world, and the checks read the site's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import pytest
from support.worlds.fake_world import WIKI, FakeReplica, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Click, Goto, Stop
from evaluators.evidence import Evidence
from evaluators.scores import Score
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.episode.episode import Episode
from orchestrator.gateway.policy import SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.gateway.variations import Variation

pytestmark = [pytest.mark.browser]

PAGE: Final = (
    "<html><head><title>Page</title></head><body><h1>Kettle</h1><p>No terms here.</p></body></html>"
)


# The words of a page, and how many elements of whatever kind an arm might leave in it.
READ: Final = "document.body.innerText + document.querySelectorAll('head *, body *').length"
FRESH: Final = "document.documentElement.outerHTML"


def check(name: str, at: str, script: str, value: str) -> dict[str, object]:
    where = {"by": "page", "at": at, "script": script}
    match = {"how": "exact", "value": value}
    return {"name": name, "when": "end", "locate": where, "match": match}


WIDE: Final = "String(innerWidth)"

CHECKS: Final = [
    check("own", "own", READ, "Kettle\n\nNo terms here.3"),
    check("fresh", "wiki:/wiki/A/Kettle", FRESH, PAGE),
    check("window", "wiki:/wiki/A/Kettle", WIDE, "1280"),
]
NARROW: Final = check("narrow", "own", WIDE, "390")


class Pages(BaseHTTPRequestHandler):
    """A site whose pages browsers may keep for an hour."""

    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "max-age=3600")
        self.send_header("etag", '"1"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@asynccontextmanager
async def opened(*vary: str, checks: Sequence[object] = CHECKS) -> AsyncIterator[Episode]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    replica: Any = FakeReplica(SocketAddress("127.0.0.1", server.server_port))
    try:
        async with launch(BrowserOptions()) as browser:
            environment = replace(
                FakeWorld().environment(),
                browser=browser,
                replicas={"wiki": replica},
                open_gateway=Gateway.open,
            )
            spec = attempt_at(browsing_task(checks=list(checks)))
            varied = replace(spec, vary=tuple(map(Variation.parse, vary)))
            async with Episode(varied, environment) as episode:
                yield episode
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


async def played(*vary: str) -> tuple[Score, Evidence, list[str]]:
    """Return what an agent got that looks at one article: its score, evidence, and what it saw."""
    async with opened(*vary) as episode:
        seen = [await episode.reset()]
        snapshot = await episode.snapshot()  # reads what the agent will see next
        assert snapshot is not None
        seen.append((await episode.step(Goto(url=f"{WIKI}/wiki/A/Kettle"))).observation)
        await episode.step(Stop())
        score = await episode.score()
        names = [" ".join(node.name for node in one.nodes) for one in seen]
        return score, episode.evidence(), names


@pytest.mark.parametrize("other", ["look=dark", "network=slow@20"])
async def test_an_arm_changes_what_the_agent_meets_and_no_check_reads_it(other: str) -> None:
    clean, evidence, seen = await played()
    assert str(clean.outcome) == "success", clean.because
    assert evidence.varied == ()
    varied, evidence, seen_varied = await played(other, "page=notice@2")
    assert str(varied.outcome) == "success", varied.because
    assert {one.variation: one.count for one in evidence.varied} == {
        str(Variation.parse(other)): evidence.varied[0].count,
        "page=notice@2,v1": 1,
    }
    assert evidence.varied[0].count >= 2
    assert [one.values for one in evidence.located] == [
        one.values for one in (await played())[1].located
    ]
    assert "Dismiss notice" not in " ".join(seen)
    assert "Dismiss notice" not in seen_varied[0]
    assert "Dismiss notice" in seen_varied[1]


async def test_the_agents_window_is_a_phones_and_that_of_a_checks_page_is_not() -> None:
    async with opened("look=mobile", checks=[*CHECKS, NARROW]) as episode:
        await episode.reset()
        look = await episode.snapshot()  # from a context beside the agent's
        await episode.step(Goto(url=f"{WIKI}/wiki/A/Kettle"))
        await episode.step(Stop())
        score = await episode.score()
    assert str(score.outcome) == "success", score.because
    assert look is not None
    assert {one.check: one.values for one in look.located}["window"] == ("1280",)
    assert [(one.variation, one.count) for one in episode.evidence().varied] == [
        ("look=mobile@v1", 2)
    ]


@pytest.mark.parametrize(
    ("arm", "dialog", "button"),
    [
        ("page=wall@2", "Before you continue", "Accept all"),
        ("page=wall@2", "Before you continue", "Reject all"),
        ("page=notice@2", "Notice", "Dismiss notice"),
    ],
)
async def test_a_click_on_what_the_arm_laid_over_a_page_stands_for_none_on_the_site(
    arm: str, dialog: str, button: str
) -> None:
    any_button = {"by": "element", "event": "click", "role": "button", "read": "role"}
    clicked = {"name": "clicked", "when": "step", "locate": any_button}
    checks = [*CHECKS, clicked | {"match": {"how": "exact", "value": "button"}}]
    async with opened(arm, checks=checks) as episode:
        await episode.reset()
        over = (await episode.step(Goto(url=f"{WIKI}/wiki/A/Kettle"))).observation
        assert ("dialog", dialog) in {(node.role, node.name) for node in over.nodes}
        [shut] = [node.id for node in over.nodes if node.name == button]
        seen = (await episode.step(Click(element=shut))).observation
        await episode.step(Stop())
        score = await episode.score()
    assert seen.last_error is None
    assert dialog not in {node.name for node in seen.nodes}
    assert [one.acted for one in episode.evidence().steps] == [()] * 4
    unmet = {one.check for one in score.verdicts if str(one.status) == "unmet"}
    assert unmet == {"clicked"}


async def test_a_wall_that_stays_lets_no_check_read_another_page() -> None:
    async with opened("page=wall") as episode:
        seen = await episode.reset()
        assert "Kettle" not in {node.name for node in seen.nodes}  # what is behind is inert
        await episode.step(Stop())
        score = await episode.score()
    assert str(score.outcome) == "success", score.because


async def test_an_arm_without_effect_is_void_and_neither_a_success_nor_a_failure() -> None:
    score, evidence, _ = await played("look=dark", "page=notice@9")
    assert str(score.outcome) == "unscored: void_arm"
    assert "page=notice@9,v1 had no effect" in score.because
    assert score.completion is None
    assert [(one.variation, one.count) for one in evidence.varied] == [
        ("look=dark@v1", 2),
        ("page=notice@9,v1", 0),
    ]


ALWAYS: Final = "network=flaky@100"
ARTICLE: Final = "wiki:/article/Kettle"
ADDRESS: Final = "location.pathname"


def asked_for() -> list[dict[str, object]]:
    """Return checks that a page which was asked for and refused must not meet."""
    by_url = {"by": "url"}
    last = {"by": "page", "at": {"last_url": "/wiki/"}, "script": FRESH}
    return [
        check("visited", "", "", ARTICLE) | {"when": "step", "locate": by_url},
        check("left", "", "", f"{ARTICLE}#top") | {"locate": by_url | {"part": "full"}},
        check("address", "own", ADDRESS, "/wiki/A/Kettle"),
        check("address-at-step", "own", ADDRESS, "/wiki/A/Kettle") | {"when": "step"},
        check("last", "", "", PAGE) | {"locate": last},
        check("sent", "", "", "1") | {"locate": {"by": "network", "url": ARTICLE}},
    ]


async def test_a_page_that_was_refused_is_none_that_was_visited() -> None:
    async with opened(ALWAYS, checks=asked_for()) as episode:
        start = await episode.reset()
        assert "Kettle" in {node.name for node in start.nodes}  # never refused
        seen = (await episode.step(Goto(url=f"{WIKI}/wiki/A/Kettle#top"))).observation
        assert {"Service unavailable", "Try again"} <= {node.name for node in seen.nodes}
        look = await episode.snapshot()
        await episode.step(Stop())
        score = await episode.score()
    evidence = episode.evidence()
    assert [step.status for step in evidence.steps] == [200, 503, 503]
    assert {str(one.status) for one in score.verdicts} == {"unmet"}
    assert look is not None
    assert not any(one.values for one in look.located if one.check in {"address", "last"})
    assert evidence.fault is None
    assert [(one.variation, one.count) for one in evidence.varied] == [(f"{ALWAYS},seed=0,v1", 1)]


async def test_asking_again_leads_to_the_page_its_fragment_kept() -> None:
    any_link = {"by": "element", "event": "click", "role": "link", "read": "role"}
    clicked = check("clicked", "", "", "link") | {"when": "step", "locate": any_link}
    async with opened(ALWAYS, checks=[*asked_for(), clicked]) as episode:
        await episode.reset()
        seen = (await episode.step(Goto(url=f"{WIKI}/wiki/A/Kettle#top"))).observation
        [again] = [node.id for node in seen.nodes if node.role == "link"]
        seen = (await episode.step(Click(element=again))).observation
        assert "Kettle" in {node.name for node in seen.nodes}
        await episode.step(Stop())
        score = await episode.score()
    assert {one.check for one in score.verdicts if str(one.status) != "met"} == {"clicked"}
