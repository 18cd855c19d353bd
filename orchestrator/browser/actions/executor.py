"""Does each action in the browser as a person would."""

from __future__ import annotations

from typing import assert_never

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Clear,
    Click,
    CloseTab,
    Drag,
    Focus,
    FocusTab,
    Forward,
    Goto,
    Hover,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    NewTab,
    Press,
    Scroll,
    Select,
    Stop,
    Type,
    Upload,
    Wait,
    Write,
)
from evaluators.evidence import ElementEvent
from orchestrator.browser.actions import fields, keyboard, mouse, navigation
from orchestrator.browser.actions.fields import UploadFiles
from orchestrator.browser.tabs.elements import (
    ElementIds,
    NotDoneError,
    PointerTarget,
    Spot,
    find,
    spot_in_tab,
    spot_of,
)
from orchestrator.browser.tabs.journal import SessionJournal
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.tabbar import TabBar
from orchestrator.browser.tabs.watcher import ElementReport


class ActionExecutor:
    """Does an agent's actions in one session."""

    def __init__(
        self, bar: TabBar, ids: ElementIds, journal: SessionJournal, files: UploadFiles
    ) -> None:
        self._bar = bar
        self._ids = ids
        self._journal = journal
        self._files = files

    async def do(self, action: Action) -> None:  # noqa: C901, PLR0912, PLR0915 - a case an action
        """Do one action; return once the page has taken it, before it settles."""
        tab = self._bar.current
        match action:
            case AskUser() | Stop() | Infeasible():
                return
            case Wait(text=text, gone=gone, seconds=seconds):
                await navigation.wait_for(tab, text, gone, seconds)
            case Goto(url=url):
                await navigation.goto(tab, url)
            case Back():
                await navigation.go_back(tab)
            case Forward():
                await navigation.go_forward(tab)
            case NewTab(url=url):
                await self._new_tab(url)
            case FocusTab(index=index):
                await self._bar.focus(index)
            case CloseTab():
                await self._bar.close_current()
            case Scroll(direction=direction, element=element):
                target = None if element is None else await self._find(element)
                await navigation.scroll(tab, direction, target)
            case Click(element=element, button=button, count=count, modifiers=modifiers):
                await self._click(element, mouse.Press(button, count, modifiers))
            case Hover(element=element):
                spot = await spot_of(await self._find(element), needs_enabled=False)
                await mouse.move(tab, spot)
            case Drag(element=element, to=to):
                await mouse.drag_onto(await self._find(element), await self._find(to))
            case Focus(element=element):
                await fields.focus(await self._find(element))
            case Type(element=element, text=text, submit=submit, clear=clear):
                target = await self._find(element)
                await fields.type_text(target, text, self._did, submit=submit, clear=clear)
            case Clear(element=element):
                await fields.type_text(await self._find(element), "", self._did)
            case Select(element=element, options=options):
                await fields.choose_options(await self._find(element), options, self._did)
            case Upload(element=element, files=files):
                await fields.upload(await self._find(element), files, self._files)
            case Write(text=text):
                await keyboard.write(tab, text)
            case Press(keys=keys):
                await keyboard.press(tab, keys)
            case KeyDown(key=key):
                await keyboard.hold(tab, key)
            case KeyUp(key=key):
                await keyboard.release(tab, key)
            case MouseMove():
                await mouse.move(tab, await mouse.spot(tab, action))
            case MouseClick(button=button, count=count, modifiers=modifiers):
                how = mouse.Press(button, count, modifiers)
                await mouse.click(tab, await mouse.spot(tab, action), how)
            case MouseDown(button=button):
                await mouse.hold(tab, await _where(tab, action), button)
            case MouseUp(button=button):
                await mouse.release(tab, await _where(tab, action), button)
            case MouseDrag(path=path, button=button, modifiers=modifiers):
                await mouse.drag(tab, await mouse.spots(tab, path), button, modifiers)
            case MouseWheel(dx=dx, dy=dy):
                await mouse.wheel(tab, await mouse.spot(tab, action), dx, dy)
            case _:
                assert_never(action)

    async def _find(self, element: int) -> PointerTarget:
        return await find(self._bar.current, self._ids, element)

    async def _click(self, element: int, how: mouse.Press) -> None:
        target = await self._find(element)
        probed = await target.call("probe", True)  # noqa: FBT003 - a flag of the page's function
        if probed["state"] != "option":
            await mouse.click(target.tab, await spot_in_tab(target, probed), how)
        elif how == mouse.PLAIN:
            await fields.choose_option(target, None, self._did)
        else:
            raise NotDoneError(
                f"element [{target.id}] is an option of a closed drop-down: select it"
            )

    async def _new_tab(self, url: str | None) -> None:
        if url is not None:
            navigation.require_web_address(url)
        tab = await self._bar.open()
        if url is not None:
            await navigation.goto(tab, url)

    def _did(self, event: ElementEvent, element: ElementReport) -> None:
        self._journal.act(event, element, self._bar.current.url)


async def _where(tab: OpenTab, action: MouseDown | MouseUp) -> Spot | None:
    return None if action.point is None else await mouse.spot(tab, action.point)
