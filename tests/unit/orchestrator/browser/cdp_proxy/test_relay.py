"""One client's messages through the proxy, without a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orchestrator.browser.cdp_proxy.agent_commands import Act, Attempt
from orchestrator.browser.cdp_proxy.relay import Relay
from orchestrator.browser.cdp_proxy.rules import SessionFacts
from orchestrator.browser.tabs.watcher import WORLD

Message = dict[str, Any]


@dataclass
class Wire:
    """An end that keeps what it is sent."""

    sent: list[Message] = field(default_factory=list)

    async def send_str(self, data: str) -> None:
        self.sent.append(json.loads(data))

    def take(self) -> list[Message]:
        found, self.sent = self.sent, []
        return found


@dataclass
class Clock:
    """An episode that writes down what it learns."""

    over: str | None = None
    acts_seen: list[Act] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def connected(self) -> None:
        self.log.append("connected")

    async def acts(self, act: Act) -> str | None:
        self.acts_seen.append(act)
        return self.over

    def acted(self) -> None:
        self.log.append("acted")

    def scripts(self, *, is_over: bool) -> None:
        self.log.append("script over" if is_over else "script")

    def changes_cookies(self) -> None:
        self.log.append("cookies")

    def makes_answers(self) -> None:
        self.log.append("answers")

    def refused(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)


class Line:
    """A relay between two ends."""

    def __init__(self, target: str = "") -> None:
        self.client, self.browser, self.clock = Wire(), Wire(), Clock()
        self.hung_up = False
        self.relay = Relay(
            client=self.client,
            browser=self.browser,
            observer=self.clock,
            known=SessionFacts(downloads=Path("/files")),
            target=target,
            hang_up=self._hang_up,
        )

    def _hang_up(self) -> None:
        self.hung_up = True

    async def ask(self, method: str, session: str = "", **params: Any) -> list[Message]:
        """Send a command of the client's; return what the browser was sent."""
        message: Message = {"id": 1, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self.relay.from_client(json.dumps(message))
        return self.browser.take()

    async def says(self, message: Message | str) -> list[Message]:
        """Let the browser say something; return what the client was sent."""
        text = message if isinstance(message, str) else compact(message)
        await self.relay.from_browser(text)
        return self.client.take()

    async def attach(self, session: str, target: str = "T") -> None:
        info = {"targetId": target, "type": "page", "url": "about:blank"}
        params = {"sessionId": session, "targetInfo": info, "waitingForDebugger": False}
        assert await self.says({"method": "Target.attachedToTarget", "params": params})


def compact(message: Message) -> str:
    """As Chromium writes it."""
    return json.dumps(message, separators=(",", ":"))


def context(number: int, name: str = "", session: str = "") -> Message:
    made = {"id": number, "name": name, "uniqueId": f"-1.{number}", "origin": ""}
    event: Message = {"method": "Runtime.executionContextCreated", "params": {"context": made}}
    return {**event, "sessionId": session} if session else event


async def test_a_command_and_its_answer_go_through() -> None:
    line = Line()
    assert await line.ask("Browser.getVersion") == [
        {"id": 1, "method": "Browser.getVersion", "params": {}}
    ]
    answer = {"id": 1, "result": {"product": "Chrome"}}
    assert await line.says(answer) == [answer]


async def test_a_message_is_written_anew_so_that_nothing_is_read_in_two_ways() -> None:
    line = Line("T")
    twice = '{"id":1,"method":"Runtime.evaluate","method":"Browser.getVersion","params":{}}'
    await line.relay.from_client(twice)
    assert line.browser.take() == [{"id": 1, "method": "Browser.getVersion", "params": {}}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "1",
        "{}",
        '{"id":1}',
        '{"id":"1","method":"Page.enable"}',
        '{"id":1,"method":7}',
        '{"id":1,"method":"Page.enable","params":[]}',
        '{"id":1,"method":"Page.enable","sessionId":3}',
        '{"id":1073741825,"method":"Page.enable"}',
        '{"id":true,"method":"Page.enable"}',
    ],
)
async def test_what_is_no_command_is_answered_and_goes_nowhere(text: str) -> None:
    line = Line()
    await line.relay.from_client(text)
    assert "error" in line.client.take()[0]
    assert not line.browser.take()


async def test_contexts_of_arena_are_not_told_and_cannot_be_named() -> None:
    line = Line("T")
    await line.ask("Runtime.enable")
    assert await line.says(context(4)) == [context(4)]
    assert await line.says(context(5, WORLD)) == []
    assert await line.ask("Runtime.evaluate", contextId=5, expression="1") == []
    assert "Cannot find context" in line.client.take()[0]["error"]["message"]
    assert line.clock.attempts[0].method == "Runtime.evaluate"
    assert await line.ask("Runtime.evaluate", contextId=4, expression="1")
    gone = {"method": "Runtime.executionContextDestroyed", "params": {"executionContextId": 5}}
    assert await line.says(gone) == []


@pytest.mark.parametrize(
    "event",
    [
        {"method": "Runtime.executionContextDestroyed", "params": {"executionContextId": 4}},
        {"method": "Runtime.executionContextsCleared", "params": {}},
    ],
)
async def test_who_lets_go_late_of_a_page_that_was_left_has_attempted_nothing(
    event: Message,
) -> None:
    """Playwright releases what it held of a page after the page has gone."""
    line = Line("T")
    await line.ask("Runtime.enable")
    await line.says(context(4))
    await line.says(context(5, WORLD))
    await line.says(event)
    for named in ({"objectId": "7.4.1"}, {"contextId": 4}, {"uniqueContextId": "-1.4"}):
        assert await line.ask("Runtime.evaluate", **named) == []
        assert "Cannot find context" in line.client.take()[-1]["error"]["message"]
    assert line.clock.attempts == []
    await line.says(context(4, WORLD))  # of another process, whose numbers begin anew
    for named in ({"objectId": "7.4.1"}, {"objectId": "7.5.1"}):
        await line.ask("Runtime.evaluate", **named)
    assert len(line.clock.attempts) == 2


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Runtime.consoleAPICalled", {"executionContextId": 5, "args": []}),
        ("Runtime.bindingCalled", {"executionContextId": 5, "name": "x", "payload": ""}),
        ("Runtime.exceptionThrown", {"exceptionDetails": {"executionContextId": 5}}),
    ],
)
async def test_events_of_arenas_contexts_are_dropped(method: str, params: Message) -> None:
    line = Line("T")
    await line.ask("Runtime.enable")
    await line.says(context(5, WORLD))
    assert await line.says({"method": method, "params": params}) == []
    other = json.loads(json.dumps(params).replace("5", "6"))
    assert await line.says({"method": method, "params": other})


async def test_a_context_that_is_named_without_asking_for_contexts_is_looked_up_first() -> None:
    """A client that never enables Runtime could guess the number of Arena's world."""
    line = Line("T")

    async def answer(data: str) -> None:
        message = json.loads(data)
        line.browser.sent.append(message)
        if message["method"] == "Runtime.enable":
            await line.relay.from_browser(compact(context(4)))
            await line.relay.from_browser(compact(context(5, WORLD)))
            await line.relay.from_browser(compact({"id": message["id"], "result": {}}))

    line.browser.send_str = answer  # type: ignore[method-assign]
    assert [one["method"] for one in await line.ask("Runtime.evaluate", contextId=5)] == [
        "Runtime.enable"
    ]
    assert "Cannot find context" in line.client.take()[0]["error"]["message"]
    asked = await line.ask("Runtime.callFunctionOn", objectId="7.4.1")
    assert [one["method"] for one in asked] == ["Runtime.callFunctionOn"]
    assert line.client.take() == []  # it asked for no events
    await line.ask("Runtime.enable")
    assert line.client.take()[0] == context(4)


async def test_sessions_that_were_never_announced_do_not_exist() -> None:
    line = Line()
    assert await line.ask("Page.enable", session="forged") == []
    assert line.client.take()[0]["error"]["code"] == -32001
    await line.attach("S")
    assert await line.ask("Page.enable", session="S")
    await line.says(
        {"method": "Target.detachedFromTarget", "params": {"sessionId": "S", "targetId": "T"}}
    )
    assert await line.ask("Page.enable", session="S") == []


async def test_the_browsers_own_surfaces_are_neither_shown_nor_attached_to() -> None:
    line = Line()
    info = {"targetId": "UI", "type": "browser_ui", "url": "chrome://omnibox/"}
    shown = {"targetId": "T", "type": "page", "url": "about:blank"}
    await line.ask("Target.getTargets")
    (answer,) = await line.says({"id": 1, "result": {"targetInfos": [info, shown]}})
    assert answer["result"]["targetInfos"] == [shown]
    assert await line.ask("Target.attachToTarget", targetId="UI", flatten=True) == []
    params = {"sessionId": "S", "targetInfo": info, "waitingForDebugger": False}
    line.client.take()
    assert await line.says({"method": "Target.attachedToTarget", "params": params}) == []
    assert line.browser.take()[0]["method"] == "Target.detachFromTarget"
    assert await line.ask("Page.enable", session="S") == []


async def test_what_acts_is_told_before_it_is_sent_and_when_it_is_answered() -> None:
    line = Line()
    await line.attach("S", "T")
    assert await line.ask("Input.dispatchMouseEvent", "S", type="mousePressed", x=1, y=2)
    assert (line.clock.acts_seen[0].kind, line.clock.acts_seen[0].target) == ("mouse", "T")
    assert line.clock.log == []
    await line.says({"id": 1, "result": {}, "sessionId": "S"})
    assert line.clock.log == ["acted"]


async def test_what_acts_is_refused_where_the_episode_says_so() -> None:
    line = Line("T")
    line.clock.over = "20 steps were used up"
    assert await line.ask("Page.navigate", url="http://shop.arena.test/") == []
    assert line.client.take()[0]["error"]["message"] == "20 steps were used up"


async def test_scripts_are_told_from_their_beginning_to_their_end() -> None:
    line = Line("T")
    await line.ask("Runtime.evaluate", expression="1")
    await line.says({"id": 1, "result": {}})
    assert line.clock.log == ["script", "script over"]


@pytest.mark.parametrize("how", ["leaves", "detaches"])
async def test_what_a_client_left_behind_is_under_way_no_longer(how: str) -> None:
    """No answer will come: the step would wait for it for ever, and each event be a script's."""
    line = Line()
    await line.attach("S", "T")
    await line.ask("Runtime.evaluate", "S", expression="new Promise(() => 0)", awaitPromise=True)
    assert line.clock.log == ["script"]
    if how == "leaves":
        line.relay.close()
    else:
        params = {"sessionId": "S", "targetId": "T"}
        await line.says({"method": "Target.detachedFromTarget", "params": params})
    assert line.clock.log == ["script", "script over"]
    await line.says({"id": 1, "result": {}, "sessionId": "S"})
    line.relay.close()
    assert line.clock.log == ["script", "script over"]


async def test_a_press_whose_page_is_gone_is_answered() -> None:
    line = Line()
    await line.attach("S", "T")
    await line.attach("S2", "T2")
    await line.ask("Input.dispatchMouseEvent", "S", type="mousePressed", x=1, y=2)
    params = {"sessionId": "S2", "targetId": "T2"}
    await line.says({"method": "Target.detachedFromTarget", "params": params})
    assert line.clock.log == []  # another session's
    params = {"sessionId": "S", "targetId": "T"}
    await line.says({"method": "Target.detachedFromTarget", "params": params})
    assert line.clock.log == ["acted"]


async def test_a_frozen_client_can_do_nothing_and_hears_nothing() -> None:
    line = Line("T")
    line.relay.frozen = "the episode is over"
    assert await line.ask("Runtime.evaluate", expression="1") == []
    assert "over" in line.client.take()[0]["error"]["message"]
    assert await line.says({"method": "Page.loadEventFired", "params": {}}) == []
    assert await line.says(context(4)) == []


async def test_a_client_that_closes_the_browser_only_leaves_it() -> None:
    line = Line()
    assert await line.ask("Browser.close") == []
    assert line.client.take() == [{"id": 1, "result": {}}]
    assert line.hung_up
