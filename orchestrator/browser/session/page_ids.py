"""Ids of elements across sessions: a restored page takes over those of the page it comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.browser.observation import Node
from orchestrator.browser.observations.axtree import tree_text
from orchestrator.browser.observations.forms import PageNode
from orchestrator.browser.observations.layout import walk
from orchestrator.browser.page.tab_view import TabView
from orchestrator.browser.tabs.elements import ElementAddress, ElementIds
from orchestrator.browser.tabs.tab import OpenTab


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIds:
    """Which ids a page's elements had, by what is told of them; 0 for an element without one.

    Attributes:
        lines: of the accessibility tree, without ids.
        controls: elements that can be acted on, in document order; empty if `lines` has every id.
    """

    lines: tuple[str, ...] = ()
    line_ids: tuple[int, ...] = ()
    controls: tuple[str, ...] = ()
    control_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PageReading:
    """How pages are looked at: as the session's observations do."""

    viewport: tuple[int, int]
    shows_unnamed: bool

    async def ids_of(self, tab: OpenTab, ids: ElementIds) -> PageIds:
        """Return the ids that were given to a page's elements; no further one is given."""
        given = ids.given_in(tab.number, {frame.loader for frame in tab.frames.all()})
        if not given:
            return PageIds()
        lines, at_lines = await self._lines(tab)
        line_ids = tuple(ids.known(address) for address in at_lines)
        if given <= set(line_ids):
            return PageIds(lines=lines, line_ids=line_ids)
        controls, at_controls = await self._controls(tab)
        return PageIds(
            lines=lines,
            line_ids=line_ids,
            controls=controls,
            control_ids=tuple(ids.known(address) for address in at_controls),
        )

    async def adopt(self, tab: OpenTab, ids: ElementIds, source: PageIds) -> bool:
        """Give a page's elements the ids of a source's; False if the two are not equal."""
        is_equal = True
        if source.lines:
            lines, at = await self._lines(tab)
            is_equal = lines == source.lines
            if is_equal:
                ids.adopt(source.line_ids, at)
        if source.controls:
            controls, at = await self._controls(tab)
            is_equal = is_equal and controls == source.controls
            if controls == source.controls:
                ids.adopt(source.control_ids, at)
        return is_equal

    async def _lines(self, tab: OpenTab) -> tuple[tuple[str, ...], Sequence[ElementAddress]]:
        aside = ElementIds()
        nodes = (await self._view(tab, aside).axtree()).nodes
        return lines_of(nodes), _addresses(aside, [node.id for node in nodes])

    async def _controls(self, tab: OpenTab) -> tuple[tuple[str, ...], Sequence[ElementAddress]]:
        aside = ElementIds()
        root = (await self._view(tab, aside).snapshot()).root
        found = [node for node in walk(root) if node.id is not None]
        return tuple(map(_told, found)), _addresses(aside, [node.id or 0 for node in found])

    def _view(self, tab: OpenTab, ids: ElementIds) -> TabView:
        return TabView(tab, ids, (), viewport=self.viewport, shows_unnamed=self.shows_unnamed)


def lines_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the lines of an accessibility tree without ids."""
    return tuple(tree_text([replace(node, id=0)]) for node in nodes)


def _addresses(ids: ElementIds, elements: Sequence[int]) -> Sequence[ElementAddress]:
    found = [ids.address_of(element) for element in elements]
    return [address for address in found if address is not None]


def _told(node: PageNode) -> str:
    return json.dumps([node.tag, sorted(node.attributes.items())])
