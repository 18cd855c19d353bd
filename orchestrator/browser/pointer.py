"""From an element's id to a point at which the mouse reaches it, or to why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.frames import Frame
from orchestrator.browser.tabs import OpenTab


class NotDoneError(Exception):
    """An action could not be done; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class PointerTarget:
    """An element that is there: `handle` is its object in the isolated world of its frame."""

    id: int
    tab: OpenTab
    frame: Frame
    handle: str

    async def call(self, function: str, *arguments: object) -> Reply:
        """Call `arena.<function>(element, …)`.

        Raises:
            RefusedError: the document went away meanwhile.
        """
        declaration = f"function(...rest) {{ return arena.{function}(this, ...rest); }}"
        reply = await self.tab.frames.call(self.handle, declaration, *arguments)
        value: Reply = reply.get("value", {})
        return value


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of the tab's viewport, in CSS pixels."""

    x: float
    y: float


async def find(tab: OpenTab, ids: ElementIds, element: int) -> PointerTarget:
    """Find the element with an id in the current tab.

    Raises:
        NotDoneError: never given, on another tab, or gone with its document.
    """
    address = ids.address_of(element)
    if address is None:
        message = f"there is no element [{element}]"
        raise NotDoneError(message)
    if address.tab != tab.number:
        message = f"element [{element}] is on tab {address.tab}; focus that tab first"
        raise NotDoneError(message)
    frame = tab.frames.get(address.frame)
    if frame is None or frame.loader != address.loader:
        message = f"element [{element}] is gone: its page was left"
        raise NotDoneError(message)
    try:
        world = await tab.frames.world(frame)
        resolved = await tab.channel.send(
            "DOM.resolveNode", {"backendNodeId": address.backend, "executionContextId": world}
        )
    except RefusedError as error:
        message = f"element [{element}] is gone: the page removed it"
        raise NotDoneError(message) from error
    return PointerTarget(element, tab, frame, resolved["object"]["objectId"])


async def spot_of(target: PointerTarget, *, needs_enabled: bool = True) -> Spot:
    """Find a point at which the pointer hits the element, scrolled into view where needed.

    Raises:
        NotDoneError: hidden, disabled, gone, or covered by another element.
    """
    return await spot_in_tab(target, await target.call("probe", needs_enabled))


async def spot_in_tab(target: PointerTarget, probed: Reply) -> Spot:
    """Turn what a probe in the element's frame found into a point of the tab.

    Raises:
        NotDoneError: as `spot_of`.
    """
    demand(target, probed)
    frames = target.tab.frames
    spot, inner = probed, target.frame
    while inner.parent is not None and (outer := frames.get(inner.parent)) is not None:
        owner = await target.tab.channel.send("DOM.getFrameOwner", {"frameId": inner.id})
        holder = await target.tab.channel.send(
            "DOM.resolveNode",
            {
                "backendNodeId": owner["backendNodeId"],
                "executionContextId": await frames.world(outer),
            },
        )
        around = PointerTarget(target.id, target.tab, outer, holder["object"]["objectId"])
        spot = await around.call("frameSpot", spot["x"], spot["y"])
        demand(target, spot)
        inner = outer
    return Spot(float(spot["x"]), float(spot["y"]))


def demand(target: PointerTarget, reply: Reply) -> None:  # noqa: C901 - one case a state
    """Return where the isolated world says `ok`.

    Raises:
        NotDoneError: in words, where it says anything else.
    """
    name = f"element [{target.id}]"
    match reply["state"]:
        case "ok":
            return
        case "gone":
            message = f"{name} is gone: the page removed it"
        case "hidden":
            message = f"{name} is not visible"
        case "outside":
            message = f"{name} cannot be scrolled into view"
        case "disabled":
            message = f"{name} is disabled"
        case "readonly":
            message = f"{name} is read-only"
        case "covered":
            by = reply["by"]
            what = f'{by["role"]} "{by["name"]}"' if by["name"] else by["role"]
            message = f"{name} is covered by {what}"
        case "untypable":
            message = f"{name} is a {reply['role']}: it does not take this action"
        case "missing":
            options = ", ".join(f'"{label}"' for label in reply["options"])
            message = f"{name} has no such option; it has: {options}"
        case "malformed":
            message = f"{name} is a {reply['type']} field and does not accept that text"
        case unknown:
            message = f"{name} cannot be used: {unknown}"
    raise NotDoneError(message)
