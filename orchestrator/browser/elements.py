"""Element ids: small numbers that stand for one element of one document, for a whole episode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ElementAddress:
    """Where an element lives.

    Attributes:
        tab: number of the tab.
        loader: loader id of the document; an element dies with it.
        backend: the browser's own node id, unique among the documents of one process.
    """

    tab: int
    frame: str
    loader: str
    backend: int


class ElementIds:
    """Hands out ids from 1 on; an id is never given to another element of the episode."""

    def __init__(self) -> None:
        self._ids: dict[ElementAddress, int] = {}
        self._addresses: list[ElementAddress] = []

    def id_of(self, address: ElementAddress) -> int:
        """Return the element's id, a new one where it has none yet."""
        known = self._ids.get(address)
        if known is None:
            self._addresses.append(address)
            known = self._ids[address] = len(self._addresses)
        return known

    def address_of(self, element: int) -> ElementAddress | None:
        """Return where the element with that id lives or lived, None for an id never given."""
        return self._addresses[element - 1] if 0 < element <= len(self._addresses) else None
