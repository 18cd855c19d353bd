"""A write to a live site is stopped, kept, and scored by the request that was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from quick_cases import ONE_QUICK
from support.worlds.live_origin import HOST, live_episode

from arena_core.actions import Click, Goto, Press, Stop, Type

if TYPE_CHECKING:
    from support.worlds.live_origin import LiveOrigin

    from evaluators.evidence import Evidence
    from orchestrator.browser.observation import Observation
    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ORDER: dict[str, Any] = {
    "name": "ordered",
    "when": "end",
    "locate": {
        "by": "network",
        "url": "wiki:/order",
        "method": "POST",
        "body": {"item": "tea"},
        "blocked": True,
        "read": "found",
    },
    "match": {"how": "exact", "value": "true"},
}
SENT = {**ORDER, "name": "sent", "locate": {**ORDER["locate"], "blocked": False, "status": "any"}}
START = """<form method=post action=/order ENCTYPE><input name=item aria-label=item>
    <input name=cvc type=hidden value=hunter2><button>Order</button></form>
    <button onclick="fetch('/order', {method: 'POST', body: JSON.stringify({item: 'tea'}),
      headers: {'content-type': 'application/json'}})">Quick order</button>
    <button form=other>Same</button>
    <form id=other method=post action=/order><input type=hidden name=item value=tea></form>"""


def element(seen: Observation, role: str, name: str) -> int:
    return next(node.id for node in seen.nodes if (node.role, node.name) == (role, name))


async def play(
    browser: Browser, origin: LiveOrigin, how: str, *, enctype: str = "", text: str = "tea"
) -> tuple[str, Evidence]:
    origin.page("/", START.replace("ENCTYPE", enctype))
    async with live_episode(browser, origin, checks=[ORDER]) as episode:
        seen = await episode.reset()
        match how:
            case "click" | "enter":
                field = element(seen, "textbox", "item")
                await episode.step(Type(element=field, text=text))
                button = element(seen, "button", "Order")
                await episode.step(Press(keys="Enter") if how == "enter" else Click(element=button))
            case "nothing":
                pass
            case _:
                await episode.step(Click(element=element(seen, "button", how)))
        await episode.step(Stop())
        score = await episode.score()
        return str(score.outcome), episode.evidence()


@ONE_QUICK
@pytest.mark.parametrize(
    ("how", "enctype"),
    [
        ("click", ""),
        ("click", "enctype=multipart/form-data"),
        ("enter", ""),
        ("Quick order", ""),
        ("Same", ""),
    ],
)
async def test_every_way_to_make_the_write_passes_and_none_is_sent(
    browser: Browser, origin: LiveOrigin, how: str, enctype: str
) -> None:
    outcome, evidence = await play(browser, origin, how, enctype=enctype)
    assert outcome == "success"
    assert [one.method for one in origin.asked if one.path == "/order"] == []
    [kept] = [one for one in evidence.network or () if one.logical == "wiki:/order"]
    assert (kept.blocked, kept.status) == ("live sites are read-only in this task", None)
    assert "hunter2" not in evidence.model_dump_json()


@ONE_QUICK
@pytest.mark.parametrize(("how", "text"), [("nothing", ""), ("click", ""), ("click", "jam")])
async def test_less_does_not_pass(
    browser: Browser, origin: LiveOrigin, how: str, text: str
) -> None:
    outcome, _ = await play(browser, origin, how, text=text)
    assert outcome == "failure"


async def test_what_was_stopped_passes_no_check_that_wants_it_sent(
    browser: Browser, origin: LiveOrigin
) -> None:
    origin.page("/", START)
    async with live_episode(browser, origin, checks=[SENT]) as episode:
        seen = await episode.reset()
        await episode.step(Click(element=element(seen, "button", "Same")))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "failure"


async def test_the_agent_is_shown_that_the_write_was_stopped_and_need_not_repeat_it(
    browser: Browser, origin: LiveOrigin
) -> None:
    origin.page("/", START)
    async with live_episode(browser, origin, checks=[ORDER]) as episode:
        seen = await episode.reset()
        done = await episode.step(Click(element=element(seen, "button", "Same")))
        shown = done.observation.text
    assert "This request was not sent: live sites are read-only in this task." in shown
    assert "It was noted as it was made. To send it again changes nothing." in shown


async def test_what_a_page_sends_by_itself_is_not_the_agents(
    browser: Browser, origin: LiveOrigin
) -> None:
    sends = (
        "<script>fetch('/order', {method: 'POST', body: new URLSearchParams('item=tea')})</script>"
    )
    origin.page("/", sends)
    origin.page("/more", sends)
    async with live_episode(browser, origin, checks=[ORDER]) as episode:
        await episode.reset()
        await episode.step(Goto(url=f"https://{HOST}/more"))
        await episode.step(Stop())
        score = await episode.score()
        blocked = [one for one in episode.evidence().network or () if one.blocked]
    assert str(score.outcome) == "failure"
    assert [one.step for one in blocked] == [0, 1]
