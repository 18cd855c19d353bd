"""Each action of the vocabulary, done in the browser as a person would do it."""

from __future__ import annotations

from typing import assert_never

from arena_core.actions import (
    Action,
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
from orchestrator.browser import fields, keyboard, mouse, navigate, pointer
from orchestrator.browser.drag import drag_onto
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.journal import SessionJournal
from orchestrator.browser.pointer import NotDoneError, PointerTarget, Spot
from orchestrator.browser.tabbar import TabBar
from orchestrator.browser.tabs import OpenTab
from orchestrator.browser.uploads import UploadFiles, upload
from orchestrator.browser.waiting import wait_for
from orchestrator.browser.watcher import ElementReport

_OnElement = Click | Hover | Focus | Type | Clear | Select | Upload
_Going = Goto | Back | Forward | NewTab | FocusTab | CloseTab
_ByKeys = Write | Press | KeyDown | KeyUp
_ByMouse = MouseMove | MouseClick | MouseDown | MouseUp | MouseDrag | MouseWheel


class ActionExecutor:
    """Does what an agent decides, in one session."""

    def __init__(
        self, bar: TabBar, ids: ElementIds, journal: SessionJournal, files: UploadFiles
    ) -> None:
        self._bar = bar
        self._ids = ids
        self._journal = journal
        self._files = files

    async def do(self, action: Action) -> None:
        """Do one action; returns when the page has taken it, not when it has settled.

        Raises:
            NotDoneError: in words for the agent.
        """
        tab = self._bar.current
        match action:
            case Stop() | Infeasible():
                return
            case Wait(text=text, gone=gone, seconds=seconds):
                await wait_for(tab, text, gone, seconds)
            case Write() | Press() | KeyDown() | KeyUp():
                await _use_keyboard(tab, action)
            case MouseMove() | MouseClick() | MouseDown() | MouseUp() | MouseDrag() | MouseWheel():
                await _use_mouse(tab, action)
            case Goto() | Back() | Forward() | NewTab() | FocusTab() | CloseTab():
                await self._go(tab, action)
            case Scroll(direction=direction, element=element):
                target = None if element is None else await self._find(element)
                await navigate.scroll(tab, direction, target)
            case Drag(element=element, to=to):
                await drag_onto(await self._find(element), await self._find(to))
            case Click() | Hover() | Focus() | Type() | Clear() | Select() | Upload():
                await self._on_element(await self._find(action.element), action)
            case _:
                assert_never(action)

    async def _on_element(self, target: PointerTarget, action: _OnElement) -> None:
        match action:
            case Click(button=button, count=count, modifiers=modifiers):
                await self._click(target, mouse.Press(button, count, modifiers))
            case Hover():
                await mouse.move(target.tab, await pointer.spot_of(target, needs_enabled=False))
            case Focus():
                await fields.focus(target)
            case Type(text=text, submit=submit, clear=clear):
                await fields.type_text(target, text, self._did, submit=submit, clear=clear)
            case Clear():
                await fields.type_text(target, "", self._did)
            case Select(options=options):
                await fields.choose_options(target, options, self._did)
            case Upload(files=files):
                await upload(target, files, self._files)
            case _:
                assert_never(action)

    async def _go(self, tab: OpenTab, action: _Going) -> None:
        match action:
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
            case _:
                assert_never(action)

    async def _find(self, element: int) -> PointerTarget:
        return await pointer.find(self._bar.current, self._ids, element)

    async def _click(self, target: PointerTarget, how: mouse.Press) -> None:
        probed = await target.call("probe", True)  # noqa: FBT003 - a flag of the page's function
        if probed["state"] != "option":
            await mouse.click(target.tab, await pointer.spot_in_tab(target, probed), how)
        elif how == mouse.PLAIN:
            await fields.choose_option(target, None, self._did)
        else:
            message = f"element [{target.id}] is an option of a closed drop-down: select it"
            raise NotDoneError(message)

    async def _new_tab(self, url: str | None) -> None:
        if url is not None:
            navigate.demand_web_address(url)
        tab = await self._bar.open()
        if url is not None:
            await navigate.goto(tab, url)

    def _did(self, event: ElementEvent, element: ElementReport) -> None:
        self._journal.act(event, element, self._bar.current.url)


async def _use_keyboard(tab: OpenTab, action: _ByKeys) -> None:
    match action:
        case Write(text=text):
            await keyboard.write(tab, text)
        case Press(keys=keys):
            await keyboard.press(tab, keys)
        case KeyDown(key=key):
            await keyboard.hold(tab, key)
        case KeyUp(key=key):
            await keyboard.release(tab, key)
        case _:
            assert_never(action)


async def _use_mouse(tab: OpenTab, action: _ByMouse) -> None:
    """Use the mouse by coordinates, at what lies there.

    Raises:
        NotDoneError: a point lies outside the viewport, or the button is in the other state.
    """
    match action:
        case MouseMove():
            await mouse.move(tab, await mouse.spot(tab, action))
        case MouseClick():
            how = mouse.Press(action.button, action.count, action.modifiers)
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


async def _where(tab: OpenTab, action: MouseDown | MouseUp) -> Spot | None:
    return None if action.point is None else await mouse.spot(tab, action.point)


async def perform(hands: ActionExecutor, action: Action) -> str | None:
    """Do one action, and return why it could not be done where it could not."""
    try:
        await hands.do(action)
    except NotDoneError as error:
        return str(error)
    return None
