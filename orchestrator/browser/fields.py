"""Form fields: typing and choosing by real keys, as a person does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluators.evidence import ElementEvent
from orchestrator.browser import mouse
from orchestrator.browser.cdp_channel import RefusedError
from orchestrator.browser.mouse import Press
from orchestrator.browser.pointer import (
    NotDoneError,
    PointerTarget,
    demand,
    spot_in_tab,
    spot_of,
)
from orchestrator.browser.watcher import ElementReport

Acted = Callable[[ElementEvent, ElementReport], None]

_KEY_CODES = {"ArrowDown": 40, "Home": 36, "Enter": 13}


async def focus(target: PointerTarget) -> None:
    """Give an element the focus, by no click.

    Raises:
        NotDoneError: gone, disabled, or it takes none.
    """
    demand(target, await target.call("focus"))


async def type_text(
    target: PointerTarget, text: str, acted: Acted, *, submit: bool = False, clear: bool = True
) -> None:
    """Replace a field's text, or add to its end, and press Enter where `submit`.

    All but the last character go in at once, as an input method puts them; the last one, where the
    keyboard has it, by a key of its own, so that pages that listen for keys get one.

    Date, time, colour and range fields take no text: their value is set, the page's handlers are
    run, and the session reports the change itself, since no trusted event can.

    Raises:
        NotDoneError: not a field, disabled, read-only, hidden or covered.
    """
    spot = await spot_of(target)
    await mouse.click(target.tab, spot)
    taken = await target.call("take", not clear)
    demand(target, taken)
    keyboard = target.tab.page.keyboard
    if taken["how"] == "value":
        put = await target.call("put", text)
        demand(target, put)
        acted(ElementEvent.CHANGE, ElementReport.model_validate(put["element"]))
    elif not text:
        if clear:
            await keyboard.press("Delete")
    else:
        by_key = text[-1] if text[-1].isascii() and text[-1].isprintable() else ""
        if at_once := text[: len(text) - len(by_key)]:
            await target.tab.channel.send("Input.insertText", {"text": at_once})
        if by_key:
            await keyboard.press(by_key)
    if submit:
        await keyboard.press("Enter")


async def choose_options(target: PointerTarget, wanted: Sequence[str], acted: Acted) -> None:
    """Choose options of a select by their labels or values, and no others.

    Raises:
        NotDoneError: not a select, disabled, no such option, or several where it takes one.
    """
    if len(wanted) == 1:
        await choose_option(target, wanted[0], acted)
        return
    found = [await target.call("option", one) for one in wanted]
    for one in found:
        demand(target, one)
    if not found[0]["isMultiple"]:
        message = f"element [{target.id}] takes one option, not {len(wanted)}"
        raise NotDoneError(message)
    places = list(dict.fromkeys(int(one["at"]) for one in found))
    for at in places:
        spot = await spot_in_tab(target, await target.call("probeOption", at))
        others = Press(modifiers=() if at == places[0] else ("Control",))
        await mouse.click(target.tab, spot, others)
    if not await target.call("areChosen", places):
        acted(
            ElementEvent.CHANGE,
            ElementReport.model_validate(await target.call("choose", places)),
        )


async def choose_option(target: PointerTarget, option: str | None, acted: Acted) -> None:
    """Choose an option by its label or value; None where the target is the option.

    A drop-down is opened and walked by keys, which gives one trusted `input` and `change`; an
    option of a list box is clicked. Where a page keeps keys for itself, the choice is set by script
    and reported by the session.

    Raises:
        NotDoneError: not a select, disabled, no such option.
    """
    found = await target.call("option", option)
    demand(target, found)
    at = int(found["at"])
    if found["isList"]:
        spot = await spot_in_tab(target, await target.call("probeOption", at))
        await mouse.click(target.tab, spot)
        return
    if found["isOn"]:
        return
    try:
        await _demand_reachable(target, option)
        await target.call("focusSelect")
        await _walk(target, int(found["above"]))
        if not await target.call("areChosen", [at]):
            chosen = ElementReport.model_validate(await target.call("choose", [at]))
            acted(ElementEvent.CHANGE, chosen)
    except RefusedError:
        return  # choosing made the page go elsewhere


async def _demand_reachable(target: PointerTarget, option: str | None) -> None:
    """Raise NotDoneError where something covers the select."""
    if option is not None:
        await spot_of(target)


async def _walk(target: PointerTarget, down: int) -> None:
    """Open the drop-down that has the focus and choose its option number `down`."""
    await _key(target, "ArrowDown", modifiers=1)
    await _key(target, "Home")
    for _ in range(down):
        await _key(target, "ArrowDown")
    await _key(target, "Enter", text="\r")


async def _key(target: PointerTarget, key: str, *, modifiers: int = 0, text: str = "") -> None:
    event = {"key": key, "code": key, "windowsVirtualKeyCode": _KEY_CODES[key]}
    send = target.tab.channel.send
    common = {**event, "modifiers": modifiers}
    await send("Input.dispatchKeyEvent", {**common, "type": "keyDown", "text": text})
    await send("Input.dispatchKeyEvent", {**common, "type": "keyUp"})
