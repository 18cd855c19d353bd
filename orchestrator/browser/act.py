"""Each action of the vocabulary, done in the browser as a person would do it."""

from __future__ import annotations

from typing import assert_never

from arena_core.actions import (
    Action,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    Stop,
    Type,
)
from evaluators.evidence import ElementEvent
from orchestrator.browser import fields, navigate, pointer
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.journal import SessionJournal
from orchestrator.browser.pointer import NotDoneError, PointerTarget
from orchestrator.browser.tabbar import TabBar
from orchestrator.browser.watcher import ElementReport


class ActionExecutor:
    """Does what an agent decides, in one session."""

    def __init__(self, bar: TabBar, ids: ElementIds, journal: SessionJournal) -> None:
        self._bar = bar
        self._ids = ids
        self._journal = journal

    async def do(self, action: Action) -> None:  # noqa: C901, PLR0912 - one case per action
        """Do one action; returns when the page has taken it, not when it has settled.

        Raises:
            NotDoneError: in words for the agent.
        """
        tab = self._bar.current
        match action:
            case Click(element=element):
                await self._click(await self._find(element))
            case Hover(element=element):
                target = await self._find(element)
                await pointer.move(tab, await pointer.spot_of(target, needs_enabled=False))
            case Type(element=element, text=text, submit=submit):
                await fields.type_text(await self._find(element), text, self._did, submit=submit)
            case Select(element=element, option=option):
                await fields.select_option(await self._find(element), option, self._did)
            case Press(keys=keys):
                await fields.press(tab, keys)
            case Scroll(direction=direction):
                await navigate.scroll(tab, direction)
            case Goto(url=url):
                await navigate.goto(tab, url)
            case Back():
                await navigate.go_back(tab)
            case Forward():
                await navigate.go_forward(tab)
            case NewTab(url=url):
                await self._new_tab(url)
            case FocusTab(index=index):
                await self._bar.focus(index)
            case CloseTab():
                await self._bar.close_current()
            case Stop():
                return
            case _:
                assert_never(action)

    async def _find(self, element: int) -> PointerTarget:
        return await pointer.find(self._bar.current, self._ids, element)

    async def _click(self, target: PointerTarget) -> None:
        probed = await target.call("probe", True)  # noqa: FBT003 - a flag of the page's function
        if probed["state"] == "option":
            await fields.select_option(target, None, self._did)
            return
        await pointer.click(target.tab, await pointer.spot_in_tab(target, probed))

    async def _new_tab(self, url: str | None) -> None:
        if url is not None:
            navigate.demand_web_address(url)
        tab = await self._bar.open()
        if url is not None:
            await navigate.goto(tab, url)

    def _did(self, event: ElementEvent, element: ElementReport) -> None:
        self._journal.act(event, element, self._bar.current.url)


async def perform(hands: ActionExecutor, action: Action) -> str | None:
    """Do one action, and return why it could not be done where it could not."""
    try:
        await hands.do(action)
    except NotDoneError as error:
        return str(error)
    return None
