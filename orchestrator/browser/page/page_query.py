"""Reads a page for locators, in worlds of their own, which the page cannot reach."""

from __future__ import annotations

import asyncio
import json
import math
import re
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any, Final

from pydantic import JsonValue

from arena_core.errors import TaskError
from evaluators.episode_view import PageLook, PageSeen, Spelling
from orchestrator.browser.tabs.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs.tab import OpenTab

SCRIPT_S: Final = 8.0
MAX_VALUES: Final = 1_000
MAX_LETTERS: Final = 8_000_000
_NAMES: Final = count()
_FUNCTION: Final = re.compile(r"\s*(?:async\s+)?function\b")
_MARKUP: Final = """(() => {
  const kind = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  return kind + (document.documentElement ? document.documentElement.outerHTML : "");
})()"""
_SPECIAL: Final = {
    "undefined": None,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "-0": -0.0,
}


class _ThrewError(Exception):
    """A script threw; the message is what."""


async def look(tab: OpenTab, what: PageLook) -> PageSeen:
    data: dict[str, JsonValue] = {}
    if what.selector is not None:
        values = await _selected(tab, what)
    elif what.html:
        reply = await tab.frames.evaluate(tab.frames.main, _MARKUP)
        values = (str(reply["value"]),)
    else:
        try:
            values = await _scripted(tab, what, data)
        except RefusedError:  # the document went away meanwhile: read the next one
            values = await _scripted(tab, what, data)
    if sum(map(len, values)) > MAX_LETTERS:
        raise TaskError(f"what was found on the page has more than {MAX_LETTERS:,} letters")
    return PageSeen(values, data)


async def prepare(tab: OpenTab, scripts: tuple[str, ...]) -> None:
    """Evaluate scripts one after the other; ignore what they throw."""
    for script in scripts:
        try:
            await _evaluated(tab, await _world(tab), script)
        except _ThrewError:
            continue


async def _selected(tab: OpenTab, what: PageLook) -> tuple[str, ...]:
    arguments = (what.selector, what.attribute, what.element_property, MAX_VALUES)
    expression = f"arena.read({', '.join(json.dumps(one) for one in arguments)})"
    try:
        reply = await tab.frames.evaluate(tab.frames.main, expression)
    except RefusedError:
        reply = await tab.frames.evaluate(tab.frames.main, expression)
    found = reply["value"]
    if "error" in found:
        raise TaskError(f"the selector '{what.selector}' cannot be used: {found['error']}")
    return tuple(found["values"])


async def _scripted(tab: OpenTab, what: PageLook, data: dict[str, JsonValue]) -> tuple[str, ...]:
    is_python = what.spelling is Spelling.PYTHON
    try:
        found = await _evaluated(tab, await _world(tab), what.script or "")
    except _ThrewError as thrown:
        data["thrown"] = str(thrown)
        return ("",) if is_python else ()
    if is_python:
        return (str(found),)
    values = found if isinstance(found, list) else [found]
    return tuple(_plain(one) for one in values[:MAX_VALUES] if one is not None)


def _plain(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


async def _world(tab: OpenTab) -> int:
    """Make a world for one script, with nothing of Arena's or of another script's in it."""
    made = await tab.channel.send(
        "Page.createIsolatedWorld",
        {"frameId": tab.frames.main_id, "worldName": f"arena-check-{next(_NAMES)}"},
    )
    return int(made["executionContextId"])


async def _evaluated(tab: OpenTab, world: int, script: str) -> Any:
    """Return a script's result, as Playwright for Python would."""
    expression = f"({script})" if _FUNCTION.match(script) else script
    try:
        async with asyncio.timeout(SCRIPT_S):
            result = await _call(
                tab, "Runtime.evaluate", {"expression": expression, "contextId": world}
            )
            argument = {key: result[key] for key in _HANDED if key in result}
            result = await _call(
                tab,
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": _serialiser(),
                    "executionContextId": world,
                    "arguments": [argument],
                    "returnByValue": True,
                },
            )
    except TimeoutError as error:
        await tab.channel.send("Runtime.terminateExecution")  # works during an endless loop too
        raise _endless(script) from error
    return _as_python(json.loads(result["value"]), {})


_HANDED: Final = ("objectId", "value", "unserializableValue")


async def _call(tab: OpenTab, method: str, params: dict[str, object]) -> Reply:
    # The script's own limit comes first.
    limit_s = 2 * SCRIPT_S
    reply = await tab.channel.send(method, {**params, "awaitPromise": True}, within_s=limit_s)
    if "exceptionDetails" in reply:
        details = reply["exceptionDetails"]
        thrown = details.get("exception", {})
        said = str(thrown.get("description", thrown.get("value", details["text"])))
        raise _ThrewError(said.partition("\n")[0][:500])
    result: Reply = reply["result"]
    return result


def _endless(script: str) -> TaskError:
    return TaskError(
        f"the script did not end within {SCRIPT_S:g} s: {' '.join(script.split())[:80]}"
    )


@cache
def _serialiser() -> str:
    return (files("orchestrator.browser.page") / "serialise.js").read_text("utf-8")


def _as_python(value: Any, known: dict[int, Any]) -> Any:  # noqa: PLR0911 - one a kind
    """Return the object that Playwright for Python makes of a serialised value."""
    if not isinstance(value, dict):
        return value
    match value:
        case {"ref": int(number)}:
            return known[number]
        case {"v": str(name)}:
            return _SPECIAL[name]
        case {"bi": str(digits)}:
            return int(digits)
        case {"d": str(date)}:
            return datetime.fromisoformat(date.removesuffix("Z"))
        case {"text": str(text)}:
            return text
        case {"a": list(items), "id": int(number)}:
            made: list[Any] = []
            known[number] = made
            made.extend(_as_python(one, known) for one in items)
            return made
        case {"o": list(items), "id": int(number)}:
            named: dict[str, Any] = {}
            known[number] = named
            named.update((one["k"], _as_python(one["v"], known)) for one in items)
            return named
        case _:
            return None
