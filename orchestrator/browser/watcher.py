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

from pydantic import BaseModel, ConfigDict

from evaluators.evidence import ActedElement, ElementEvent, SelectorFit
from orchestrator.browser.cdp_channel import CdpChannel

WORLD = "arena"
BINDING = "arenaReport"
_SCRIPTS = ("element.js", "watcher.js", "reach.js", "waiting.js")


class ElementReport(BaseModel):
    """An element as `arena.describe` in element.js puts it."""

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


class EventReport(ElementReport):
    """A report of the watcher: an element, what happened to it, and where (None inside a frame).

    Attributes:
        claim: names an event that a script made, for asking whether the page bears it out; None
            where the browser made it.
    """

    event: ElementEvent
    url: str | None
    claim: str | None = None


@cache
def page_source(*, hears_scripts: bool = False, selectors: tuple[str, ...] = ()) -> str:
    """Return the script of the isolated world; a document that has it already is left alone.

    Args:
        hears_scripts: it reports events that scripts make too.
        selectors: CSS; it says of each element how it fits these.
    """
    folder = files("orchestrator.browser")
    parts = "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    hears = f"const hearsScripts = {str(hears_scripts).lower()};"
    hears += f"const watchedSelectors = {json.dumps(selectors)};"
    # A frame's first document may hand its window on to the next, with all worlds but without their
    # listeners, and at first with the old `document`: what is there says nothing for certain.
    once = (
        "if (globalThis.arenaOf === document) return;\nglobalThis.arenaOf = document;\n"
        "globalThis.arenaEnds?.abort();\nconst ends = globalThis.arenaEnds = new AbortController();"
    )
    return f"(() => {{ {once}\n{hears}\n{parts}\n}})();"


def listen(channel: CdpChannel, report: Callable[[EventReport], None]) -> None:
    """Call `report` with what the watcher of a page reports.

    That is in the order of the events, before the reply to any call that was sent after them.
    """

    def on_binding(call: dict[str, str]) -> None:
        if call["name"] == BINDING:
            report(EventReport.model_validate_json(call["payload"]))

    channel.on("Runtime.bindingCalled", on_binding)


async def install(channel: CdpChannel, selectors: tuple[str, ...] = ()) -> None:
    """Put the watcher into every document that a page has and will have, frames included.

    `Runtime` must be enabled on the wire.
    """
    for method, params in installing(hears_scripts=False, selectors=selectors):
        await channel.send(method, params)


def installing(
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
