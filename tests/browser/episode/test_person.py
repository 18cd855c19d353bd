"""A person plays an episode in a real window, with a control page in a browser of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Error as PlaywrightError
from quick_cases import ONE_QUICK, SLOW
from support.people.screens import display
from support.people.scripted_person import ControlPage, Window, control_page, window
from support.worlds.fake_world import WIKI, FakeReplica, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Back, Forward, Goto, Infeasible, MouseClick, Press, Stop, Write
from arena_core.errors import BrowserError
from evaluators.evidence import ElementEvent, Ended
from evaluators.scores import score
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.external_browser import launch_external
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import PlayedAttempt
from orchestrator.episode.person.agent import PersonAgent
from orchestrator.episode.person.runner import PersonRunner, card_of
from orchestrator.gateway.policy import SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.local_pages import serving
from orchestrator.local_pages.human.desk import ControlDesk, consent

__all__ = ["display", "window"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("display")]

ANSWER = {
    "name": "answer",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 1891},
}
NODE = {
    "name": "article",
    "when": "step",
    "required": True,
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "wiki:/article/Kettle"},
}
SECRET = "correct-horse-battery"
PAGE = """<!doctype html><title>Page</title><h1>{path}</h1>
<p><a href=/wiki/A/Kettle>Kettle</a></p>
<form action=/wiki/A/Found>
<p><label>Words <input name=words></label></p>
<p><label>Secret <input type=password name=secret></label></p>
<p><label for=tick>I tick</label> <input type=checkbox id=tick></p>
<p><select name=pick><option>one<option>two</select></p>
<p><button type=button id=plain>Press</button></p>
<input type=submit value=Send>
</form>
<script>
const forge = () => {
  document.querySelector("#plain").click();
  const forged = new MouseEvent("click", { bubbles: true, cancelable: true });
  document.querySelector("a").dispatchEvent(forged);
  history.pushState(0, "", "/wiki/A/Forged" + Math.random());
};
if (location.search.includes("forge")) addEventListener("load", () => setTimeout(forge));
</script>
"""


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.replace("{path}", self.path.partition("?")[0]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    yield server.server_port
    server.shutdown()
    serving.join()
    server.server_close()


@dataclass
class Sitting:
    """An episode under way, its desk and the person's control page."""

    desk: ControlDesk
    control: ControlPage
    window: Window
    playing: asyncio.Task[PlayedAttempt]


@asynccontextmanager
async def sitting(site: int, window: Window, **task: Any) -> AsyncIterator[Sitting]:
    replica: Any = FakeReplica(SocketAddress("127.0.0.1", site))
    chosen = browsing_task(**task)
    async with (
        ControlDesk.open(asyncio.Event()) as desk,
        control_page(desk.url) as control,
        launch_external(BrowserOptions(headless=False)) as browser,
    ):
        environment = replace(
            FakeWorld().environment(),
            browser=browser,
            replicas={"wiki": replica},
            open_gateway=Gateway.open,
            is_shared=True,
        )
        agent = PersonAgent(person="P07", consent=consent(), desk=desk)

        async def play() -> PlayedAttempt:
            assert await desk.agrees()
            assert await desk.invite(card_of(chosen, agent))
            runner = PersonRunner(agent=agent, interrupted=desk.stop)
            return await runner.play(Episode(attempt_at(chosen), environment))

        playing = asyncio.create_task(play())
        await control.asks("consent")
        await control.says("agree")
        await control.starts()
        yield Sitting(desk, control, window, playing)
        if not playing.done():
            desk.stop.set()
            await playing


def actions_of(played: PlayedAttempt) -> list[Any]:
    return [step.action for step in played.evidence().steps[1:]]


def kinds_of(played: PlayedAttempt) -> list[str]:
    return [action.kind for action in actions_of(played) if action is not None]


async def test_what_a_person_does_is_one_step_for_each_action_as_an_agent_has_them(
    site: int, window: Window
) -> None:
    async with sitting(site, window, checks=[ANSWER, NODE]) as at:
        page = window.page
        await page.click("label >> text=Words")
        await page.keyboard.type("co")
        await window.noticed()  # the page has settled: what follows is the same action
        await page.keyboard.type("pper")
        await page.click("text=Secret")
        await page.keyboard.type(SECRET)
        await page.click("text=I tick")
        await page.click("#plain")
        await page.click("text=Kettle")
        await page.wait_for_url("**/Kettle")
        await at.control.says("done", answer="1891")
        played = await at.playing
    evidence = played.evidence()
    assert not played.interrupted
    assert kinds_of(played) == ["write", *["mouse_click"] * 4, "stop"]
    assert actions_of(played)[0] == Write(text="copper")
    assert actions_of(played)[-1] == Stop(answer="1891")
    assert (evidence.ended, evidence.answer) == (Ended.STOPPED, "1891")
    assert evidence.steps[-2].logical == "wiki:/article/Kettle"
    assert evidence.person is not None
    assert 0 < evidence.person.seconds <= evidence.seconds
    assert SECRET not in evidence.model_dump_json()
    assert not any(SECRET.encode() in content for content in played.files.values())
    scored = score(browsing_task(checks=[ANSWER, NODE]).checks, evidence)
    assert (str(scored.outcome), scored.steps) == ("success", 6)


async def test_keys_are_actions_too_and_enter_sends_a_form_once(site: int, window: Window) -> None:
    async with sitting(site, window) as at:
        await window.page.focus("[name=pick]")
        await window.page.keyboard.press("ArrowDown")
        await window.page.focus("[name=words]")
        await window.page.keyboard.type("tin")
        await window.page.keyboard.press("Enter")
        await window.page.wait_for_url("**/Found?**")
        await at.control.says("done")
        played = await at.playing
    assert actions_of(played) == [Write(text="two"), Write(text="tin"), Press(keys="Enter"), Stop()]
    events = [one.event for one in played.evidence().steps[3].acted]
    assert events[-2:] == [ElementEvent.CLICK, ElementEvent.SUBMIT]


async def test_what_a_script_of_the_page_forges_adds_no_action(site: int, window: Window) -> None:
    async with sitting(site, window, start=["wiki:/wiki/A/Start?forge"]) as at:
        await window.page.wait_for_url("**/Kettle")  # where a forged click led
        await window.page.click("#plain")
        await at.control.says("done", answer="1")
        played = await at.playing
    assert [one for one in kinds_of(played) if one != "stop"] == ["mouse_click"]
    acted = [one for step in played.evidence().steps for one in step.acted]
    assert [(one.path, one.trusted) for one in acted] == [("#plain", True)]


async def test_a_tab_that_the_person_opens_and_acts_in_is_the_current_one(
    site: int, window: Window
) -> None:
    async with sitting(site, window) as at:
        first = window.page
        async with first.context.expect_page() as opened:
            await first.click("text=Kettle", button="middle")
        second = await opened.value
        await second.wait_for_load_state()
        await first.click("#plain")
        await window.noticed()
        assert window.page is first
        await second.click("#plain")
        await window.noticed()
        assert window.page is second
        await at.control.says("done")
        played = await at.playing
    clicks = [one for one in actions_of(played) if isinstance(one, MouseClick)]
    assert [one.button for one in clicks] == ["middle", "left", "left"]
    assert played.evidence().steps[-2].logical == "wiki:/article/Kettle"


async def test_what_the_windows_own_buttons_do_is_an_action_each(site: int, window: Window) -> None:
    kettle = f"{WIKI}/wiki/A/Kettle"
    async with sitting(site, window, checks=[NODE]) as at:
        page = window.page
        await page.goto(kettle)  # as by the browser's own bar
        await window.noticed()
        for press in (page.reload, page.go_back, page.go_forward):
            await press()
            await window.noticed()
        await page.goto(f"{kettle}#top")
        await window.noticed()
        await at.control.says("done")
        played = await at.playing
    went = [*actions_of(played)[:-1]]
    assert went == [
        Goto(url=kettle),
        Goto(url=kettle),
        Back(),
        Forward(),
        Goto(url=f"{kettle}#top"),
    ]
    visits = [one.logical for step in played.evidence().steps[1:] for one in step.visits]
    assert visits[:4] == [*["wiki:/article/Kettle"] * 2, "wiki:/", "wiki:/article/Kettle"]
    assert str(score(browsing_task(checks=[NODE]).checks, played.evidence()).outcome) == "success"


BY_ITSELF = {
    "reload": "sessionStorage.x || (sessionStorage.x = 1, location.reload())",
    "address": "location = '/wiki/A/Kettle'",
    "within": "history.pushState(0, '', '/wiki/A/Tea'), location.hash = 'x', history.back()",
    "popup": "open('/wiki/A/Kettle', 'helper')",
}


@ONE_QUICK
@pytest.mark.parametrize("what", ["reload", "address", "within", "popup"])
async def test_what_a_page_does_by_itself_is_no_action(
    site: int, window: Window, what: str
) -> None:
    async with sitting(site, window) as at:
        await window.page.evaluate(f"setTimeout(() => {{ {BY_ITSELF[what]} }})")
        await asyncio.sleep(1)  # nothing says that a page does nothing more
        await window.noticed()
        await window.page.click("#plain")
        await at.control.says("done")
        played = await at.playing
    assert [one for one in kinds_of(played) if one != "stop"] == ["mouse_click"]


async def test_a_button_of_a_page_that_goes_back_counts_once(site: int, window: Window) -> None:
    async with sitting(site, window) as at:
        await window.page.click("text=Kettle")
        await window.page.wait_for_url("**/Kettle")
        await window.noticed()
        back = "() => { document.querySelector('#plain').onclick = () => history.back() }"
        await window.page.evaluate(back)
        await window.page.click("#plain")
        await window.page.wait_for_url(f"{WIKI}/")
        await at.control.says("done")
        played = await at.playing
    assert kinds_of(played) == ["mouse_click", "mouse_click", "stop"]


async def test_a_link_into_another_tab_is_one_action(site: int, window: Window) -> None:
    async with sitting(site, window) as at:
        page = window.page
        await page.evaluate("document.querySelector('a').target = 'helper'")
        for _ in range(2):
            await page.bring_to_front()
            await page.click("text=Kettle")
            await window.noticed()
        await at.control.says("done")
        played = await at.playing
    assert kinds_of(played) == ["mouse_click", "mouse_click", "stop"]


async def test_cannot_be_done_is_an_ending_with_a_reason(site: int, window: Window) -> None:
    async with sitting(site, window) as at:
        await at.control.says("cannot", reason="no kettle has a date")
        played = await at.playing
    assert actions_of(played) == [Infeasible(reason="no kettle has a date")]
    assert played.evidence().ended is Ended.INFEASIBLE


@SLOW
async def test_giving_up_is_a_failure(site: int, window: Window) -> None:
    async with sitting(site, window) as at:
        await at.control.says("give_up")
        played = await at.playing
    assert played.evidence().ended is Ended.AGENT_GAVE_UP
    assert not played.interrupted


async def test_time_that_is_up_ends_the_task_as_it_stands_and_a_pause_is_no_time(
    site: int, window: Window
) -> None:
    async with sitting(site, window, limits={"seconds": 4}) as at:
        await at.control.says("pause")
        await at.control.page.wait_for_selector("#clock.stands")
        assert window.clock().is_paused
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(at.playing), 4.5)
        await window.page.click("#plain")  # acting ends the pause
        await at.control.page.wait_for_selector("#clock:not(.stands)")
        played = await at.playing
    evidence = played.evidence()
    assert (evidence.ended, evidence.ended_because) == (Ended.DEADLINE, "4 s were over")
    assert evidence.person is not None
    assert evidence.person.pauses == 1
    assert evidence.person.paused > 4 > evidence.person.seconds - 0.5 > 3


async def test_who_stops_for_today_leaves_the_task_to_be_played_again(
    site: int, window: Window
) -> None:
    async with sitting(site, window) as at:
        await window.page.click("#plain")
        await at.control.says("stop")
        played = await at.playing
    assert played.interrupted
    assert played.evidence().ended is None


@ONE_QUICK
@pytest.mark.parametrize("what", ["tab", "browser"])
async def test_who_closes_the_window_has_not_failed(site: int, window: Window, what: str) -> None:
    async with sitting(site, window) as at:
        page = window.page
        with suppress(PlaywrightError):  # it was in the middle of that
            await (page.close() if what == "tab" else page.context.close())
        played = await asyncio.wait_for(at.playing, 60)
        await at.control.page.wait_for_selector("#note:visible")
    assert played.interrupted
    assert played.evidence().fault is not None


async def test_no_page_of_a_task_reaches_the_control_page(
    site: int, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[str] = []
    refusal = serving._refusal

    def counted(request: web.Request, host: str, token: str) -> str | None:
        reached.extend(["/"] if request.path == "/" else [])
        return refusal(request, host, token)

    monkeypatch.setattr(serving, "_refusal", counted)
    async with sitting(site, window) as at:
        assert reached == ["/"]  # by the person's own browser
        page = window.page
        await page.evaluate("url => fetch(url, { mode: 'no-cors' }).catch(() => 0)", at.desk.url)
        answer = await page.goto(at.desk.url)
        assert answer is not None
        assert answer.status == 403  # the gateway's, which knows no such host
        async with launch_external(BrowserOptions()) as other:
            with pytest.raises(BrowserError):  # past the gateway, in the network of a browser
                await asyncio.wait_for(other.dial(int(at.desk.url.split(":")[2].split("/")[0])), 60)
        assert reached == ["/"]
