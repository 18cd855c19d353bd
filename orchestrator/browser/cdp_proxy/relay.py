"""One client's connection: judges its commands, and hides what is Arena's from it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from arena_core.foreign import shallow_json
from orchestrator.browser.cdp_proxy.agent_commands import (
    COOKIE_CHANGES,
    SCRIPTS,
    Act,
    Attempt,
    EpisodeObserver,
    act_of,
)
from orchestrator.browser.cdp_proxy.rules import (
    Harmless,
    Refuse,
    SessionFacts,
    is_hidden,
    judge,
    names_contexts,
)
from orchestrator.browser.tabs.watcher import WORLD

_NAMING: Final = ("executionContextId", "contextId")


class Worlds:
    """The JavaScript contexts of one session, by the browser's events.

    Attributes:
        is_watched: the events come, because the client or the proxy asked for them.
        is_subscribed: the client asked for them.
    """

    def __init__(self) -> None:
        self.is_watched = False
        self.is_subscribed = False
        self._open: dict[int, dict[str, Any]] = {}
        self._hidden: set[int] = set()
        self._former: set[int | str] = set()

    @property
    def former_contexts(self) -> frozenset[int | str]:
        """Contexts that are gone, by either id: clients let go of them late."""
        return frozenset(self._former - self._hidden)

    @property
    def contexts(self) -> frozenset[int]:
        """The contexts that are not Arena's."""
        return frozenset(self._open)

    @property
    def unique_contexts(self) -> frozenset[str]:
        """The same by their other ids."""
        return frozenset(one["context"].get("uniqueId", "") for one in self._open.values())

    def missed_events(self) -> list[dict[str, Any]]:
        """Return the events that a client missed by subscribing only now."""
        self.is_subscribed = True
        return list(self._open.values())

    def shows(self, method: str, params: dict[str, Any]) -> bool:
        """Follow a `Runtime` event; return whether the client may see it."""
        match method:
            case "Runtime.executionContextCreated":
                context = params["context"]
                if context["name"] == WORLD:
                    self._hidden.add(context["id"])
                    return False
                self._open[context["id"]] = params
            case "Runtime.executionContextDestroyed":
                gone = params["executionContextId"]
                if gone in self._hidden:
                    self._hidden.discard(gone)
                    return False
                self._close(gone)
            case "Runtime.executionContextsCleared":
                for gone in tuple(self._open):
                    self._close(gone)
                self._hidden.clear()
            case _:
                if self._is_of_arena(params):
                    return False
        return self.is_subscribed

    def _close(self, context: int) -> None:
        known = self._open.pop(context, None)
        if known is not None:
            self._former |= {context, known["context"].get("uniqueId", "")}

    def _is_of_arena(self, params: dict[str, Any]) -> bool:
        details = params.get("exceptionDetails", {})
        named = {params.get(key) for key in _NAMING} | {details.get(key) for key in _NAMING}
        return not self._hidden.isdisjoint(named)


_OWN_IDS: Final = 1 << 30  # the proxy's own calls in a client's sessions have ids from here on
_ANSWER_S: Final = 15.0
OVER: Final = "the episode is over"
_SHOWN: Final = 200
_ANSWER = re.compile(r'\{"id":(\d+),')
_SESSION = re.compile(r'"sessionId":"([^"]+)"\}$')
_MOST_DEPTH: Final = 300  # as deep as Chromium reads
_PARSED: Final = ('{"method":"Runtime.', '{"method":"Target.')

Message = dict[str, Any]


class Wire(Protocol):
    """One end of a connection."""

    async def send_str(self, data: str) -> None: ...


@dataclass(slots=True)
class _Session:
    target: str = ""
    worlds: Worlds = field(default_factory=Worlds)


class Relay:
    """Carries one client's messages to the browser and back.

    Attributes:
        target: the page that the connection is to; empty for the browser.
        hang_up: called when the client asks to close the browser.
        frozen: why every command is refused; empty while none is.
    """

    def __init__(
        self,
        *,
        client: Wire,
        browser: Wire,
        observer: EpisodeObserver,
        known: SessionFacts,
        target: str,
        hang_up: Callable[[], None],
    ) -> None:
        self._client = client
        self._browser = browser
        self._observer = observer
        self._known = known
        self._hang_up = hang_up
        self._sessions: dict[str, _Session] = {"": _Session(target)}
        self._hidden: set[str] = set()
        self._asked: dict[tuple[str, int], Callable[[str], str]] = {}
        self._own: dict[int, asyncio.Future[Message]] = {}
        self._count = _OWN_IDS
        self.frozen = ""

    async def from_client(self, text: str) -> None:
        try:
            message: Any = shallow_json(text, most_depth=_MOST_DEPTH)
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
        if text.startswith(_PARSED):
            await self._event(text)
            return
        answered = _ANSWER.match(text)
        if answered is None:
            if not self.frozen:
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
            text = look(text)
        await self._client.send_str(text)

    def close(self) -> None:
        """Give up what is awaited: a client that has left has no command under way."""
        for waiting in self._own.values():
            waiting.cancel()
        self._give_up(lambda _: True)

    def _give_up(self, concerned: Callable[[str], bool]) -> None:
        """Take commands of sessions as answered if no answer will come."""
        for key in [key for key in self._asked if concerned(key[0])]:
            self._asked.pop(key)("{}")

    async def _command(self, number: int, method: str, params: Message, session: str) -> None:
        if self.frozen:
            await self._refuse(number, session, self.frozen)
            return
        state = self._sessions.get(session)
        if state is None:
            await self._refuse(number, session, "Session with given id not found.", code=-32001)
            return
        if names_contexts(params) and not state.worlds.is_watched:
            try:
                await self._watch(session, state)
            except TimeoutError:  # for example, the client's own script keeps the page busy
                await self._refuse(number, session, "the page does not answer")
                return
        known = replace(
            self._known,
            contexts=state.worlds.contexts,
            unique_contexts=state.worlds.unique_contexts,
            former_contexts=state.worlds.former_contexts,
        )
        verdict = judge(method, params, known)
        if isinstance(verdict, Refuse):
            if verdict.is_attempt:
                self._observer.refused(Attempt(method, json.dumps(params)[:_SHOWN], verdict.why))
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
        if act is not None and (why := await self._observer.acts(act)) is not None:
            await self._refuse(number, session, why)
            return
        if method in COOKIE_CHANGES:
            self._observer.changes_cookies()
        if method == "Fetch.fulfillRequest":
            self._observer.makes_answers()
        if method == "Runtime.enable":
            await self._tell_contexts(state, session)
        elif method == "Runtime.disable":
            state.worlds.is_subscribed = False
            await self._answer(number, session, {"result": {}})
            return
        self._expect(number, method, session, act)
        message: Message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self._browser.send_str(json.dumps(message))

    def _expect(self, number: int, method: str, session: str, act: Act | None) -> None:
        """Note what to do when the answer comes."""
        if act is not None:
            self._asked[session, number] = self._acted
        elif method in SCRIPTS:
            self._observer.scripts(is_over=False)
            self._asked[session, number] = self._scripted
        elif method == "Target.getTargets":
            self._asked[session, number] = self._without_hidden

    def _acted(self, text: str) -> str:
        self._observer.acted()
        return text

    def _scripted(self, text: str) -> str:
        """Note that a script has ended; its result may be deeper than Python reads."""
        self._observer.scripts(is_over=True)
        return text

    async def _event(self, text: str) -> None:
        event: Message = json.loads(text)
        method, params = event["method"], event["params"]
        session = event.get("sessionId", "")
        if method.startswith("Runtime."):
            state = self._sessions.get(session)
            is_shown = state is not None and state.worlds.shows(method, params)
        else:
            is_shown = await self._target_event(method, params)
        if is_shown and not self.frozen:
            await self._client.send_str(text)

    async def _target_event(self, method: str, params: Message) -> bool:
        """Follow the client's sessions; return whether it may see the event."""
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

    def _without_hidden(self, text: str) -> str:
        message: Message = json.loads(text)
        result = message.get("result", {})
        if "targetInfos" in result:
            shown = [one for one in result["targetInfos"] if not is_hidden(one)]
            self._hidden.update(one["targetId"] for one in result["targetInfos"] if is_hidden(one))
            result["targetInfos"] = shown
        return json.dumps(message)

    async def _tell_contexts(self, state: _Session, session: str) -> None:
        """Send the events that a client missed while only the proxy watched."""
        for params in [] if state.worlds.is_subscribed else state.worlds.missed_events():
            event: Message = {"method": "Runtime.executionContextCreated", "params": params}
            if session:
                event["sessionId"] = session
            await self._client.send_str(json.dumps(event))
        state.worlds.is_watched = True

    async def _watch(self, session: str, state: _Session) -> None:
        """Learn the session's contexts: a client may name one without having asked for them."""
        waiting = await self._ask("Runtime.enable", {}, session)
        async with asyncio.timeout(_ANSWER_S):
            await waiting
        state.worlds.is_watched = True

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
