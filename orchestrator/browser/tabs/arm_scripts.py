"""Scripts of an arm in the agent's tabs: they run where the watcher does, unseen by the pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError, Reply
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.watcher import WORLD

_BINDING: Final = "arenaAltered"
_ALL: Final = "for (const one of globalThis.arenaArms?.values() ?? []) one.{}()"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScripts:
    """What changes the agent's pages as they are shown, and no page that a check opens.

    Attributes:
        sources: by name: JavaScript, a function of `altered` that returns `rest`, `resume` and
            `asSent`, see `orchestrator.gateway.scripts.page_script_of`.
        altered: called with a script's name for each document that it altered.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    altered: Callable[[str], None] = lambda _: None

    async def install(self, tab: OpenTab) -> None:
        """Put them into every present and future document of a tab, frames included."""
        if not self.sources:
            return
        tab.channel.on("Runtime.bindingCalled", self._called)
        binding = {"name": _BINDING, "executionContextName": WORLD}
        try:
            await tab.channel.send("Runtime.addBinding", binding)
            for name, source in self.sources.items():
                await tab.channel.send(
                    "Page.addScriptToEvaluateOnNewDocument",
                    {"source": _kept(name, source), "worldName": WORLD, "runImmediately": True},
                )
        except RefusedError as error:
            raise PageGoneError(str(error)) from error

    async def rest(self, tab: OpenTab) -> None:
        """Show a tab's pages as the site sent them."""
        await self._tell(tab, "rest")

    async def resume(self, tab: OpenTab) -> None:
        """Show them varied again."""
        await self._tell(tab, "resume")

    async def _tell(self, tab: OpenTab, what: str) -> None:
        for frame in tab.frames.all() if self.sources else ():
            with suppress(RefusedError, PageGoneError):
                await tab.frames.evaluate(frame, _ALL.format(what))

    def _called(self, call: Reply) -> None:
        if call["name"] == _BINDING and call["payload"] in self.sources:
            self.altered(str(call["payload"]))


NO_ARM: Final = ArmScripts()


def _kept(name: str, source: str) -> str:
    """Return a script that its document knows by its name; it takes the place of an earlier one."""
    said = json.dumps(name)
    return (
        "(() => { const arms = globalThis.arenaArms ??= new Map();"
        f" arms.get({said})?.rest();"
        f" arms.set({said}, ({source})(() => {_BINDING}({said}))); }})();"
    )
