"""A live site's question about consent is answered before the agent begins, or keeps it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from quick_cases import ONE_QUICK
from support.worlds.live_origin import live_episode

from arena_core.actions import Stop

if TYPE_CHECKING:
    from support.worlds.live_origin import LiveOrigin

    from evaluators.evidence import Evidence
    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

REJECT = {"consent": [{"role": "button", "name": "Reject all"}]}
WALL = """<title>Start</title><h1>Kettles</h1>
    <div id=wall style="position:fixed; inset:0; background:white">
    We value your privacy: cookies <button onclick="CLICK">Reject all</button></div>"""
COVER = "<div style='position:fixed; inset:0; z-index:9; background:white'></div>"
CLICKED: dict[str, Any] = {
    "name": "clicked",
    "when": "step",
    "required": True,
    "locate": {"by": "element", "event": "click", "role": "button"},
    "match": {"how": "exact", "value": "Reject all"},
}
HEADING: dict[str, Any] = {
    "name": "heading",
    "when": "end",
    "locate": {"by": "page", "at": "own", "selector": "h1"},
    "match": {"how": "exact", "value": "Kettles"},
}


async def begin(
    browser: Browser, origin: LiveOrigin, page: str, *checks: dict[str, Any], **live: Any
) -> tuple[str, str, Evidence]:
    """Open the start page and stop; what the agent saw, the outcome, the evidence."""
    origin.page("/", page)
    async with live_episode(browser, origin, checks=checks or [HEADING], live=live) as episode:
        seen = await episode.reset()
        if not episode.is_over:
            await episode.step(Stop())
        score = await episode.score()
        return seen.text, str(score.outcome), episode.evidence()


async def test_a_wall_is_gone_when_the_agent_begins_and_the_evidence_says_so(
    browser: Browser, origin: LiveOrigin
) -> None:
    page = WALL.replace("CLICK", "document.cookie = 'ok=1'; this.parentNode.remove()")
    text, outcome, evidence = await begin(browser, origin, page, **REJECT)
    assert "Reject all" not in text
    assert outcome == "success"
    assert [(one.site, one.name) for one in evidence.consent] == [("wiki", "Reject all")]


async def test_a_click_of_arenas_is_none_of_the_agents(
    browser: Browser, origin: LiveOrigin
) -> None:
    page = WALL.replace("CLICK", "this.parentNode.remove()")
    _, outcome, evidence = await begin(browser, origin, page, CLICKED, **REJECT)
    assert outcome == "failure"
    assert evidence.steps[0].acted == ()


async def test_without_a_wall_or_without_a_word_in_the_manifest_nothing_happens(
    browser: Browser, origin: LiveOrigin
) -> None:
    _, outcome, evidence = await begin(browser, origin, "<h1>Kettles</h1>", **REJECT)
    assert (outcome, evidence.consent) == ("success", ())
    text, _, evidence = await begin(browser, origin, WALL.replace("CLICK", "this.remove()"))
    assert "Reject all" in text
    assert evidence.consent == ()


@ONE_QUICK
@pytest.mark.parametrize(
    ("page", "says"),
    [
        (WALL.replace("CLICK", ""), "it is still there after the click"),
        (WALL.replace("<button", "<button disabled"), "consent, button 'Reject all': "),
        (f"{COVER}<button>Reject all</button>", "consent, button 'Reject all': "),
        (
            "<form method=post action=/consent><button>Reject all</button></form>",
            "it leads to a page that answered 403",
        ),
    ],
    ids=["deaf", "disabled", "covered", "a write"],
)
async def test_what_cannot_be_clicked_keeps_the_agent_out(
    browser: Browser, origin: LiveOrigin, page: str, says: str
) -> None:
    _, outcome, evidence = await begin(browser, origin, page, **REJECT)
    assert outcome == "unscored: blocked"
    assert evidence.fault is not None
    assert says in evidence.fault.message
    assert evidence.consent == ()
