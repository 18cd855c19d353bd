"""Element ids, and the way from an id to a point at which the mouse reaches the element."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.browser.tabs.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs.frames import Frame
from orchestrator.browser.tabs.tab import OpenTab


@dataclass(frozen=True, slots=True)
class ElementAddress:
    """Where an element lives.

    Attributes:
        loader: loader id of the document; an element dies with it.
        backend: the browser's own node id, unique among the documents of one process.
    """

    tab: int
    frame: str
    loader: str
    backend: int


class ElementIds:
    """Gives ids from 1 on; no id is ever given to another element of the episode.

    Attributes:
        next: the id that the next new element gets.
    """

    def __init__(self) -> None:
        self._ids: dict[ElementAddress, int] = {}
        self._addresses: dict[int, ElementAddress] = {}
        self.next = 1

    def id_of(self, address: ElementAddress) -> int:
        known = self._ids.get(address)
        if known is None:
            known, self.next = self.next, self.next + 1
            self._ids[address] = known
            self._addresses[known] = address
        return known

    def known(self, address: ElementAddress) -> int:
        """Return the id of an element; 0 if it has none."""
        return self._ids.get(address, 0)

    def given_in(self, tab: int, loaders: Collection[str]) -> frozenset[int]:
        """Return the ids of elements in documents of a tab."""
        return frozenset(
            element
            for address, element in self._ids.items()
            if address.tab == tab and address.loader in loaders
        )

    def adopt(self, elements: Sequence[int], addresses: Sequence[ElementAddress]) -> None:
        """Give ids of another session to the elements there; 0 is none."""
        for element, address in zip(elements, addresses, strict=True):
            if element:
                self._ids[address] = element
                self._addresses[element] = address

    def address_of(self, element: int) -> ElementAddress | None:
        """Return where the element with that id lives or lived; None for an unknown id."""
        return self._addresses.get(element)


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
        """Call `arena.<function>(element, …)`."""
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
    address = ids.address_of(element)
    if address is None:
        raise NotDoneError(f"there is no element [{element}]")
    if address.tab != tab.number:
        raise NotDoneError(f"element [{element}] is on tab {address.tab}; focus that tab first")
    frame = tab.frames.get(address.frame)
    if frame is None or frame.loader != address.loader:
        raise NotDoneError(f"element [{element}] is gone: its page was left")
    try:
        world = await tab.frames.world(frame)
        resolved = await tab.channel.send(
            "DOM.resolveNode", {"backendNodeId": address.backend, "executionContextId": world}
        )
    except RefusedError as error:
        raise NotDoneError(f"element [{element}] is gone: the page removed it") from error
    return PointerTarget(element, tab, frame, resolved["object"]["objectId"])


async def spot_of(target: PointerTarget, *, needs_enabled: bool = True) -> Spot:
    """Find a point at which the pointer hits the element, scrolled into view if needed."""
    return await spot_in_tab(target, await target.call("probe", needs_enabled))


async def spot_in_tab(target: PointerTarget, probed: Reply) -> Spot:
    """Turn what a probe in the element's frame found into a point of the tab."""
    require_ok(target, probed)
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
        require_ok(target, spot)
        inner = outer
    return Spot(float(spot["x"]), float(spot["y"]))


_WHY_NOT: Final = {
    "gone": "is gone: the page removed it",
    "hidden": "is not visible",
    "outside": "cannot be scrolled into view",
    "disabled": "is disabled",
    "readonly": "is read-only",
}


def require_ok(target: PointerTarget, reply: Reply) -> None:
    """Raise NotDoneError unless the isolated world says `ok`."""
    match reply["state"]:
        case "ok":
            return
        case "covered":
            by = reply["by"]
            what = f'{by["role"]} "{by["name"]}"' if by["name"] else by["role"]
            why = f"is covered by {what}"
        case "untypable":
            why = f"is a {reply['role']}: it does not take this action"
        case "missing":
            options = ", ".join(f'"{label}"' for label in reply["options"])
            why = f"has no such option; it has: {options}"
        case "malformed":
            why = f"is a {reply['type']} field and does not accept that text"
        case state:
            why = _WHY_NOT.get(state, f"cannot be used: {state}")
    raise NotDoneError(f"element [{target.id}] {why}")
