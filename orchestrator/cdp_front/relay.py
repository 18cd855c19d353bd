"""One client's connection: its commands judged, its answers and events without what is Arena's."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from orchestrator.cdp_front.clock import (
    Act,
    Attempt,
    EpisodeClock,
    act_of,
    changes_cookies,
    is_script,
)
from orchestrator.cdp_front.rules import (
    Harmless,
    Known,
    Refuse,
    is_hidden,
    judge,
    names_contexts,
)
from orchestrator.cdp_front.worlds import Worlds

_OWN_IDS: Final = 1 << 30  # what the front asks in a client's sessions has ids from here on
_ANSWER_S: Final = 15.0
_OVER: Final = "the episode is over"
_SHOWN: Final = 200
_ANSWER = re.compile(r'\{"id":(\d+),')
_SESSION = re.compile(r'"sessionId":"([^"]+)"\}$')
_PARSED: Final = ('{"method":"Runtime.', '{"method":"Target.')

Message = dict[str, Any]


class Wire(Protocol):
    """One end of a connection."""

    async def send_str(self, data: str) -> None:
        """Send one message."""


@dataclass(slots=True)
class _Session:
    """What is known of one flat session of a client."""

    target: str = ""
    worlds: Worlds = field(default_factory=Worlds)


class Relay:
    """Carries one client's messages to the browser and back.

    Args:
        client: where answers and events go.
        browser: where commands go.
        clock: learns what acts.
        downloads: the folder that downloads go to.
        may_rewrite_requests: see `rules.Known`.
        target: the page that the connection is to; empty for the browser.
        hang_up: called where the client asked to close the browser.
    """

    def __init__(
        self,
        *,
        client: Wire,
        browser: Wire,
        clock: EpisodeClock,
        downloads: Path,
        may_rewrite_requests: bool,
        target: str,
        hang_up: Callable[[], None],
    ) -> None:
        self._client = client
        self._browser = browser
        self._clock = clock
        self._downloads = downloads
        self._may_rewrite_requests = may_rewrite_requests
        self._hang_up = hang_up
        self._sessions: dict[str, _Session] = {"": _Session(target)}
        self._hidden: set[str] = set()
        self._asked: dict[tuple[str, int], Callable[[Message], None]] = {}
        self._own: dict[int, asyncio.Future[Message]] = {}
        self._count = _OWN_IDS
        self.is_frozen = False

    async def from_client(self, text: str) -> None:
        """Take one message of the client's."""
        try:
            message = json.loads(text)
            number, method = message["id"], message["method"]
            params, session = message.get("params", {}), message.get("sessionId", "")
        except (ValueError, TypeError, LookupError):
            await self._client.send_str('{"error":{"code":-32700,"message":"no CDP command"}}')
            return
        if not (
            type(number) is int
            and 0 <= number < _OWN_IDS
            and isinstance(method, str)
            and isinstance(params, dict)
            and isinstance(session, str)
        ):
            await self._client.send_str('{"error":{"code":-32600,"message":"no CDP command"}}')
            return
        await self._command(number, method, params, session)

    async def from_browser(self, text: str) -> None:
        """Take one message of the browser's."""
        if text.startswith(_PARSED):
            await self._event(text)
            return
        answered = _ANSWER.match(text)
        if answered is None:
            if not self.is_frozen:
                await self._client.send_str(text)
            return
        number = int(answered[1])
        if number >= _OWN_IDS:
            waiting = self._own.pop(number, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(json.loads(text))
            return
        session = _SESSION.search(text, max(0, len(text) - 100))
        key = (session[1] if session else "", number)
        if (look := self._asked.pop(key, None)) is not None:
            message = json.loads(text)
            look(message)
            text = json.dumps(message)
        await self._client.send_str(text)

    def close(self) -> None:
        """Give up what is waited for: no command of a client that has left is under way."""
        for waiting in self._own.values():
            waiting.cancel()
        self._give_up(lambda _: True)

    def _give_up(self, concerned: Callable[[str], bool]) -> None:
        """Take commands of sessions as answered that no answer will come for."""
        for key in [key for key in self._asked if concerned(key[0])]:
            self._asked.pop(key)({})

    async def _command(self, number: int, method: str, params: Message, session: str) -> None:
        if self.is_frozen:
            await self._refuse(number, session, _OVER)
            return
        state = self._sessions.get(session)
        if state is None:
            await self._refuse(number, session, "Session with given id not found.", code=-32001)
            return
        if names_contexts(params) and not state.worlds.is_watched:
            await self._watch(session, state)
        known = Known(
            contexts=state.worlds.contexts,
            unique_contexts=state.worlds.unique_contexts,
            former_contexts=state.worlds.former_contexts,
            downloads=self._downloads,
            may_rewrite_requests=self._may_rewrite_requests,
        )
        verdict = judge(method, params, known)
        if isinstance(verdict, Refuse):
            if verdict.is_attempt:
                self._clock.refused(Attempt(method, _shown(params), verdict.why))
            await self._refuse(number, session, verdict.why)
            return
        if isinstance(verdict, Harmless):
            await self._answer(number, session, {"result": {}})
            self._hang_up()
            return
        await self._send(number, method, dict(verdict.params or params), session, state)

    async def _send(
        self, number: int, method: str, params: Message, session: str, state: _Session
    ) -> None:
        target = str(params.get("targetId", "")) or state.target
        if target in self._hidden:
            await self._refuse(number, session, "No target with given id found")
            return
        act = act_of(method, params, target)
        if act is not None and (why := await self._clock.acts(act)) is not None:
            await self._refuse(number, session, why)
            return
        if changes_cookies(method):
            self._clock.changes_cookies()
        if method == "Runtime.enable":
            await self._tell_contexts(state, session)
        elif method == "Runtime.disable":
            state.worlds.is_told = False
            await self._answer(number, session, {"result": {}})
            return
        self._expect(number, method, session, act)
        message: Message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self._browser.send_str(json.dumps(message))

    def _expect(self, number: int, method: str, session: str, act: Act | None) -> None:
        """Say what is to be done when the answer comes."""
        look: Callable[[Message], None] | None = None
        if act is not None:
            look = lambda _: self._clock.acted()  # noqa: E731
        elif is_script(method):
            self._clock.scripts(is_over=False)
            look = lambda _: self._clock.scripts(is_over=True)  # noqa: E731
        elif method == "Target.getTargets":
            look = self._without_hidden
        if look is not None:
            self._asked[session, number] = look

    async def _event(self, text: str) -> None:
        event: Message = json.loads(text)
        method, params = event["method"], event["params"]
        session = event.get("sessionId", "")
        if method.startswith("Runtime."):
            state = self._sessions.get(session)
            is_shown = state is not None and state.worlds.shows(method, params)
        else:
            is_shown = await self._target_event(method, params)
        if is_shown and not self.is_frozen:
            await self._client.send_str(text)

    async def _target_event(self, method: str, params: Message) -> bool:
        """Follow the client's sessions; whether it may see the event."""
        target = params.get("targetInfo", {})
        if target and is_hidden(target):
            self._hidden.add(target["targetId"])
            if method == "Target.attachedToTarget":
                await self._ask("Target.detachFromTarget", {"sessionId": params["sessionId"]}, "")
            return False
        if method == "Target.attachedToTarget":
            self._sessions[params["sessionId"]] = _Session(target["targetId"])
        elif method == "Target.detachedFromTarget":
            self._give_up(lambda session: session == params["sessionId"])
            return self._sessions.pop(params["sessionId"], None) is not None
        return params.get("targetId", "") not in self._hidden

    def _without_hidden(self, message: Message) -> None:
        result = message.get("result", {})
        if "targetInfos" in result:
            shown = [one for one in result["targetInfos"] if not is_hidden(one)]
            self._hidden.update(one["targetId"] for one in result["targetInfos"] if is_hidden(one))
            result["targetInfos"] = shown

    async def _tell_contexts(self, state: _Session, session: str) -> None:
        """Send the events that a client missed while only the front watched."""
        for params in [] if state.worlds.is_told else state.worlds.told():
            event: Message = {"method": "Runtime.executionContextCreated", "params": params}
            if session:
                event["sessionId"] = session
            await self._client.send_str(json.dumps(event))
        state.worlds.is_watched = True

    async def _watch(self, session: str, state: _Session) -> None:
        """Learn of the session's contexts, which a client that names one need not have."""
        state.worlds.is_watched = True
        waiting = await self._ask("Runtime.enable", {}, session)
        async with asyncio.timeout(_ANSWER_S):
            await waiting

    async def _ask(self, method: str, params: Message, session: str) -> asyncio.Future[Message]:
        self._count += 1
        waiting: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._own[self._count] = waiting
        message: Message = {"id": self._count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self._browser.send_str(json.dumps(message))
        return waiting

    async def _refuse(self, number: int, session: str, why: str, code: int = -32000) -> None:
        await self._answer(number, session, {"error": {"code": code, "message": why}})

    async def _answer(self, number: int, session: str, content: Mapping[str, Any]) -> None:
        message = {"id": number, **content}
        if session:
            message["sessionId"] = session
        await self._client.send_str(json.dumps(message))


def _shown(params: Mapping[str, Any]) -> str:
    return json.dumps(params)[:_SHOWN]
