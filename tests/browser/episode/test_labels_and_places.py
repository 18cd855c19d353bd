"""Episodes whose pages call controls otherwise, or hold their parts elsewhere, for agents alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import pytest
from support.worlds.fake_world import WIKI, FakeReplica, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Click, Goto, Select, Stop, Type
from orchestrator.browser.observation import Node, Observation
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.episode.episode import Episode
from orchestrator.gateway.policy import SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.gateway.variations import Variation

pytestmark = [pytest.mark.browser]

TABLE: Final = {"Search": "Suchen", "Buy": "Kaufen", "Name": "Bezeichnung", "Late": "Spät"}
SHOP: Final = """<html><head><title>Search</title></head><body>
<h1>Buy</h1><p>Search</p><p contenteditable="true" aria-label="Words">Search</p>
<form action="/found"><label for="q">  Name </label><input id="q" name="q" placeholder="Search">
<select name="s" aria-label="Name"><option>Search</option><option>Buy</option></select>
<textarea name="t" title="Buy">Search</textarea>
<input type="submit" name="how" value="Search"><input type="submit" value="Buy">
<button name="go" value="Search">Search</button></form>
<a href="/late"><b>Late</b> 3</a><a href="/long">A <b>search</b> for words</a>
<script>
  addEventListener('load', () => {
    const late = document.createElement('button');
    late.textContent = 'Buy';
    late.id = 'late';
    document.body.append(late);
    const stubborn = document.createElement('button');
    stubborn.append('Late');
    const back = () => { if (stubborn.textContent !== 'Late') stubborn.textContent = 'Late'; };
    const all = { subtree: true, childList: true, characterData: true };
    new MutationObserver(back).observe(stubborn, all);
    document.body.append(stubborn);
  });
</script></body></html>"""
LATE: Final = "<html><body><iframe srcdoc='<button>Buy</button>'></iframe></body></html>"
PLAIN: Final = "<html><body><h1>Kettle</h1><p>Buy</p></body></html>"
STACK: Final = """<html><head><style>aside{width:200px} .row{display:flex}</style></head><body>
<header class="top"><h2>Head</h2></header><nav><a href="/">Menu</a></nav>
<div class="row"><aside><h2>Side</h2></aside><div><h2>Middle</h2></div></div>
<footer><h2>Foot</h2></footer></body></html>"""
PARTS: Final = "<header><h2>Head</h2></header><p>Text</p><footer><h2>Foot</h2></footer>"
UNMOVED: Final = {
    "/words": f"<body>Words {PARTS}</body>",
    "/grid": f"<body style='display:grid'>{PARTS}</body>",
    "/row": f"<body style='display:flex'>{PARTS}</body>",
    "/article": f"<body><h1>News</h1><article>{PARTS}</article></body>",
    "/floats": f"<body><h1 style='float:left'>News</h1>{PARTS}</body>",
    "/beside": f"<body><nav><div style='float:left'>Menu</div></nav><p>x</p>{PARTS}</body>",
    "/inline": f"<body><b>News</b>{PARTS}</body>",
}
WRAPPED: Final = """<body><div id="wrapper" style="display:flex;flex-direction:column">
<div id="top-menu" style="position:fixed"><h2>Fixed</h2></div><div id="header"><h2>Head</h2></div>
<div><h2>Middle</h2></div></div></body>"""
PAGES: Final = {"/shop": SHOP, "/late": LATE, "/stack": STACK, "/wrapped": WRAPPED, **UNMOVED}
FRESH: Final = "document.documentElement.outerHTML"


@asynccontextmanager
async def served() -> AsyncIterator[tuple[SocketAddress, list[str]]]:
    """Serve the pages; yield where, and what is asked for."""
    asked: list[str] = []

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = PAGES.get(self.path, PLAIN).encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    try:
        yield SocketAddress("127.0.0.1", server.server_port), asked
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@asynccontextmanager
async def opened(
    *vary: str, page: str = "/shop", checks: Sequence[object] = ()
) -> AsyncIterator[tuple[Episode, Observation, list[str]]]:
    """Yield an episode that is at a page, what is seen there, and what was asked of the site."""
    async with served() as (address, asked), launch(BrowserOptions()) as browser:
        replica: Any = FakeReplica(address)
        environment = replace(
            FakeWorld().environment(),
            browser=browser,
            replicas={"wiki": replica},
            open_gateway=Gateway.open,
        )
        more: dict[str, object] = {"labels": {"mine": TABLE}}
        spec = attempt_at(browsing_task(**more, **({"checks": list(checks)} if checks else {})))
        varied = replace(spec, vary=tuple(map(Variation.parse, vary)))
        async with Episode(varied, environment) as episode:
            await episode.reset()
            seen = (await episode.step(Goto(url=WIKI + page))).observation
            yield episode, seen, asked


def check(name: str, locate: dict[str, object], value: object, when: str = "end") -> object:
    return {
        "name": name,
        "when": when,
        "locate": locate,
        "match": {"how": "exact", "value": value},
    }


def named(seen: Observation, role: str) -> list[str]:
    return [node.name for node in seen.nodes if node.role == role]


def node(seen: Observation, role: str, name: str) -> Node:
    return next(one for one in seen.nodes if (one.role, one.name) == (role, name))


def counts(episode: Episode) -> list[int]:
    return [one.count for one in episode.evidence().varied]


async def test_controls_have_their_new_names_and_other_words_stay() -> None:
    async with opened("labels=mine") as (episode, seen, _):
        assert named(seen, "heading") == ["Kaufen"]
        # One that sends its text, one that does not, one that sends a value, two that came late.
        assert named(seen, "button") == ["Search", "Kaufen", "Suchen", "Kaufen", "Late"]
        assert named(seen, "link") == ["Spät 3", "A search for words"]  # no part of a title
        assert "Bezeichnung" in named(seen, "textbox")
        assert named(seen, "combobox") == ["Bezeichnung"]
        assert {"Search", "Buy"} <= set(named(seen, "option"))
        assert named(seen, "paragraph")[:1] == ["Search"]
        assert counts(episode) == [1]  # the start page has no such control


async def test_what_a_form_sends_is_what_it_sends_in_the_clean_arm() -> None:
    sent = []
    for vary, button in (((), "Search"), (("labels=mine",), "Suchen")):
        async with opened(*vary) as (episode, seen, asked):
            field = node(seen, "textbox", "Bezeichnung" if vary else "Name")
            await episode.step(Type(element=field.id, text="Buy Search Name"))
            choice = node(seen, "combobox", "Bezeichnung" if vary else "Name")
            await episode.step(Select(element=choice.id, option="Buy"))
            go = [one for one in seen.nodes if (one.role, one.name) == ("button", button)]
            await episode.step(Click(element=go[-1].id))
            sent.append([path for path in asked if path.startswith("/found")])
    assert sent[0] == sent[1] == ["/found?q=Buy+Search+Name&s=Buy&t=Search&go=Search"]


TITLE: Final = "A search for words"
CLICKED: Final[dict[str, object]] = {"by": "element", "event": "click", "named": "Buy"}
OWN: Final = {"by": "page", "at": "own"}


async def test_checks_meet_the_names_that_the_site_gave() -> None:
    checks = [
        check("clicked", {**CLICKED, "role": "button", "read": "text"}, "Buy", "step"),
        check("by-new-name", {**CLICKED, "named": "Kaufen", "read": "role"}, "button", "step"),
        check("at-step", {**OWN, "script": "late.textContent"}, "Buy", "step"),
        check("own", {**OWN, "selector": "h1, label, a"}, ["Buy", "Name", "Late 3", TITLE]),
        check("attribute", {**OWN, "selector": "#q", "attribute": "placeholder"}, "Search"),
        check("words", {**OWN, "script": "document.body.innerText.includes('Kaufen')"}, "false"),
        check("fresh", {"by": "page", "at": "wiki:/shop", "selector": "h1"}, "Buy"),
    ]
    async with opened("labels=mine", checks=checks) as (episode, seen, _):
        look = await episode.snapshot()
        assert look is not None
        assert {one.check: one.values for one in look.located}["own"] == (
            "Buy",
            "Name",
            "Late 3",
            TITLE,
        )
        late = [one for one in seen.nodes if (one.role, one.name) == ("button", "Kaufen")][-1]
        after = (await episode.step(Click(element=late.id))).observation
        assert after.last_error is None
        assert "Kaufen" in named(after, "button")  # while a check looked it was not
        await episode.step(Stop())
        score = await episode.score()
    unmet = {one.check for one in score.verdicts if str(one.status) != "met"}
    assert unmet == {"by-new-name"}, score.because


async def test_what_is_in_a_frame_is_renamed_and_counts() -> None:
    async with opened("labels=mine", page="/late") as (episode, seen, _):
        assert named(seen, "button") == ["Kaufen"]
        assert counts(episode) == [1]


@pytest.mark.parametrize("vary", ["labels=mine", "page=moved"])
async def test_pages_without_anything_to_alter_make_the_arm_void(vary: str) -> None:
    async with opened(vary, page="/plain") as (episode, _, _):
        await episode.step(Stop(answer="1891"))
        assert str((await episode.score()).outcome) == "unscored: void_arm"
        assert counts(episode) == [0]


WORDS: Final = "Head\nMenu\nSide\nMiddle\nFoot"


async def headings(vary: str) -> list[str]:
    checks = [
        check("own", {**OWN, "selector": "h2"}, ["Head", "Side", "Middle", "Foot"]),
        check("text", {**OWN, "script": "document.body.innerText"}, WORDS),
        check("tree", {**OWN, "script": FRESH}, STACK),
        check("fresh", {"by": "page", "at": "wiki:/stack", "script": FRESH}, STACK),
    ]
    async with opened(vary, page="/stack", checks=checks) as (episode, seen, _):
        clicked = await episode.step(Click(element=node(seen, "link", "Menu").id))
        assert clicked.observation.last_error is None
        await episode.step(Goto(url=f"{WIKI}/stack"))
        await episode.step(Stop())
        score = await episode.score()
        assert str(score.outcome) == "success", score.because
        assert counts(episode) == [2 if vary.startswith("page") else 0]
    return named(seen, "heading")


async def test_parts_of_a_page_are_read_elsewhere_and_checks_read_it_as_it_was() -> None:
    orders = {tuple(await headings(f"page=moved@seed={seed}")) for seed in range(4)}
    assert len(orders) > 1
    assert orders <= {
        ("Middle", "Side", "Head", "Foot"),
        ("Foot", "Middle", "Side", "Head"),
        ("Middle", "Side", "Foot", "Head"),
    }


@pytest.mark.parametrize("page", UNMOVED)
async def test_a_page_whose_parts_do_not_lie_in_one_stack_is_left_alone(page: str) -> None:
    async with opened("page=moved", page=page) as (episode, seen, _):
        assert named(seen, "heading")[-2:] == ["Head", "Foot"]
        assert counts(episode) == [0]


async def test_parts_inside_a_wrapper_are_moved_and_one_that_is_fixed_stays() -> None:
    async with opened("page=moved", page="/wrapped") as (episode, seen, _):
        assert named(seen, "heading") == ["Fixed", "Middle", "Head"]
        assert counts(episode) == [1]
