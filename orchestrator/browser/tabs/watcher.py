"""The page watcher: what the isolated world reports, and how it gets there.

The script runs in a world of its own: `Page.addScriptToEvaluateOnNewDocument` with a world name,
and a binding that exists in that world only (`Runtime.addBinding` with `executionContextName`). The
page shares the DOM with it and nothing else, so it can neither see, silence nor forge a report.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from pydantic import Base64Bytes, BaseModel, ConfigDict

from arena_core.actions import Button
from arena_core.foreign import read_json
from evaluators.evidence import ActedElement, ElementEvent, SelectorFit
from orchestrator.browser.tabs.address_changes import MOVED
from orchestrator.browser.tabs.cdp_channel import CdpChannel

WORLD = "arena"
BINDING = "arenaReport"
_SCRIPTS = ("element.js", "watcher.js", "reach.js", "waiting.js")


class ElementReport(BaseModel):
    """An element as `arena.describe` in element.js reports it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    tag: str
    role: str
    name: str
    text: str
    value: str | None
    fits: tuple[SelectorFit, ...] = ()

    def acted(
        self, event: ElementEvent, logical: str | None, *, trusted: bool = True
    ) -> ActedElement:
        """Return it as evidence of one event."""
        return ActedElement(
            event=event,
            path=self.path,
            tag=self.tag,
            role=self.role,
            name=self.name,
            text=self.text,
            value=self.value,
            logical=logical,
            trusted=trusted,
            fits=self.fits,
        )


class Hand(BaseModel):
    """What the mouse did: a button, and a point of the window; None where a frame hides it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    button: Button
    x: float | None
    y: float | None


class EventReport(ElementReport):
    """A report of the watcher: an element, what happened to it, and where (None inside a frame).

    Attributes:
        claim: names an event that a script made, to ask whether the page confirms it; None if the
            browser made it.
        hand: of the mouse, where an outside program or a person drives the page; None of the
            keyboard.
    """

    event: ElementEvent
    url: str | None
    claim: str | None = None
    hand: Hand | None = None


class ChosenFile(BaseModel):
    """A file that a person chose; no `content` where it is unreadable, or all are too large."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    content: Base64Bytes | None


class KeyReport(ElementReport):
    """A key that was pressed on an element, with no other beside it, or what is no event either.

    Attributes:
        key: its name; `Scroll` of the page, by hand; `Files` of a file field.
        steps: how many actions scroll as far; above 0 down.
        files: what the field holds; None while that is being read.
    """

    key: str
    url: str | None
    steps: float = 0.0
    files: tuple[ChosenFile, ...] | None = None


@cache
def page_source(*, hears_scripts: bool = False, selectors: tuple[str, ...] = ()) -> str:
    """Return the script of the isolated world; a document that has it already is left alone.

    Args:
        hears_scripts: report events that scripts make too.
        selectors: CSS; report how each element matches these.
    """
    folder = files("orchestrator.browser.tabs")
    parts = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    hears = f"const hearsScripts = {str(hears_scripts).lower()};"
    hears += f"const moveMark = {json.dumps(MOVED)};"
    hears += f"const watchedSelectors = {json.dumps(selectors)};"
    # A frame's first document may pass its window on to the next, with all worlds but without their
    # listeners, and at first with the old `document`, so nothing there is certain.
    once = (
        "if (globalThis.arenaOf === document) return;\nglobalThis.arenaOf = document;\n"
        "globalThis.arenaEnds?.abort();\nconst ends = globalThis.arenaEnds = new AbortController();"
    )
    return f"(() => {{ {once}\n{hears}\n{parts}\n}})();"


def listen(channel: CdpChannel, report: Callable[[EventReport | KeyReport], None]) -> None:
    """Call `report` with what the watcher of a page reports.

    Reports come in the order of the events, before the reply to any call sent after them.
    """

    def on_binding(call: dict[str, str]) -> None:
        if call["name"] == BINDING:
            payload = call["payload"]  # may hold halves of surrogate pairs
            found = read_json(payload, most_chars=len(payload))
            kind = KeyReport if isinstance(found, dict) and "key" in found else EventReport
            report(kind.model_validate(found))

    channel.on("Runtime.bindingCalled", on_binding)


async def install(channel: CdpChannel, selectors: tuple[str, ...] = ()) -> None:
    """Put the watcher into every present and future document of a page, frames included.

    `Runtime` must be enabled on the wire.
    """
    for method, params in install_calls(hears_scripts=False, selectors=selectors):
        await channel.send(method, params)


def install_calls(
    *, hears_scripts: bool, selectors: tuple[str, ...] = ()
) -> tuple[tuple[str, dict[str, object]], ...]:
    """Return the calls that put the watcher into a page, in their order."""
    script: dict[str, object] = {
        "source": page_source(hears_scripts=hears_scripts, selectors=selectors),
        "worldName": WORLD,
        "runImmediately": True,
    }
    return (
        ("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD}),
        ("Page.addScriptToEvaluateOnNewDocument", script),
    )
