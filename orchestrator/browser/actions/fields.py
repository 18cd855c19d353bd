"""Form fields: text and options by real keys, and uploads of the task's files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evaluators.evidence import ElementEvent
from orchestrator.browser.actions import mouse
from orchestrator.browser.actions.mouse import Press
from orchestrator.browser.tabs.cdp_channel import RefusedError
from orchestrator.browser.tabs.elements import (
    NotDoneError,
    PointerTarget,
    require_ok,
    spot_in_tab,
    spot_of,
)
from orchestrator.browser.tabs.tab import next_chooser
from orchestrator.browser.tabs.watcher import ElementReport

Acted = Callable[[ElementEvent, ElementReport], None]

_KEY_CODES = {"ArrowDown": 40, "Home": 36, "Enter": 13}


async def focus(target: PointerTarget) -> None:
    """Focus an element without clicking it."""
    require_ok(target, await target.call("focus"))


async def type_text(
    target: PointerTarget, text: str, acted: Acted, *, submit: bool = False, clear: bool = True
) -> None:
    """Replace a field's text, or append to it, and press Enter if `submit`.

    All but the last character are inserted at once, as by an input method. The last one is a key
    press, if the keyboard has that key, so that pages that listen for keys get one.

    Date, time, colour and range fields take no text: a script sets their value and runs the page's
    handlers. The session reports that change itself, since no trusted event can.
    """
    spot = await spot_of(target)
    await mouse.click(target.tab, spot)
    taken = await target.call("take", not clear)
    require_ok(target, taken)
    keyboard = target.tab.page.keyboard
    if taken["how"] == "value":
        put = await target.call("put", text)
        require_ok(target, put)
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
    """Choose these options of a select, by label or value, and no others."""
    if len(wanted) == 1:
        await choose_option(target, wanted[0], acted)
        return
    found = [await target.call("option", one) for one in wanted]
    for one in found:
        require_ok(target, one)
    if not found[0]["isMultiple"]:
        raise NotDoneError(f"element [{target.id}] takes one option, not {len(wanted)}")
    places = list(dict.fromkeys(int(one["at"]) for one in found))
    for at in places:
        spot = await spot_in_tab(target, await target.call("probeOption", at))
        others = Press(modifiers=() if at == places[0] else ("Control",))
        await mouse.click(target.tab, spot, others)
    if not await target.call("areChosen", places):
        acted(
            ElementEvent.CHANGE, ElementReport.model_validate(await target.call("choose", places))
        )


async def choose_option(target: PointerTarget, option: str | None, acted: Acted) -> None:
    """Choose an option by its label or value; None if the target is the option.

    A drop-down is opened and walked by keys, which gives one trusted `input` and `change`; an
    option of a list box is clicked. If the page keeps keys for itself, a script makes the choice
    and the session reports it.
    """
    found = await target.call("option", option)
    require_ok(target, found)
    at = int(found["at"])
    if found["isList"]:
        spot = await spot_in_tab(target, await target.call("probeOption", at))
        await mouse.click(target.tab, spot)
        return
    if found["isOn"]:
        return
    try:
        await _require_reachable(target, option)
        await target.call("focusSelect")
        await _walk(target, int(found["above"]))
        if not await target.call("areChosen", [at]):
            chosen = ElementReport.model_validate(await target.call("choose", [at]))
            acted(ElementEvent.CHANGE, chosen)
    except RefusedError:
        return  # choosing made the page go elsewhere


async def _require_reachable(target: PointerTarget, option: str | None) -> None:
    """Raise NotDoneError where something covers the select."""
    if option is not None:
        await spot_of(target)


async def _walk(target: PointerTarget, down: int) -> None:
    """Open the focused drop-down and choose its option number `down`."""
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


class UploadFiles:
    """The files that an agent may upload, by name; written to disk when first needed."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._folder: Path | None = None

    def paths(self, names: Sequence[str]) -> list[str]:
        for name in names:
            if name not in self._contents:
                there = ", ".join(f"'{one}'" for one in self._contents) or "none"
                raise NotDoneError(f"the task provides no file '{name}'; it provides: {there}")
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="arena-upload-"))
            for name, content in self._contents.items():
                (self._folder / name).write_bytes(content)
        return [str(self._folder / name) for name in names]

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


async def upload(target: PointerTarget, names: Sequence[str], files: UploadFiles) -> None:
    """Choose files in a file field; elsewhere, click and answer the file chooser that opens."""
    paths = files.paths(names)
    found = await target.call("fileField")
    require_ok(target, found)
    send = target.tab.channel.send
    if found["isField"]:
        _require_room(target, paths, is_multiple=found["isMultiple"])
        await send("DOM.setFileInputFiles", {"files": paths, "objectId": target.handle})
        return
    async with target.tab.choosers.expected() as opened:
        await mouse.click(target.tab, await spot_of(target))
        chooser = await next_chooser(opened)
    if chooser is None:
        raise NotDoneError(f"element [{target.id}] asks for no file: it is a {found['role']}")
    _require_room(target, paths, is_multiple=chooser.is_multiple)
    await send("DOM.setFileInputFiles", {"files": paths, "backendNodeId": chooser.backend})


def _require_room(target: PointerTarget, paths: Sequence[str], *, is_multiple: bool) -> None:
    if len(paths) > 1 and not is_multiple:
        raise NotDoneError(f"element [{target.id}] takes one file, not {len(paths)}")
