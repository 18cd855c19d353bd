"""The current tab as a form of observation reads it, and Arena's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_core.errors import BrowserError
from orchestrator.browser.axtree import read_tree
from orchestrator.browser.cdp_channel import PageGoneError, RefusedError
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.tabs import OpenTab
from orchestrator.browser.unnamed import with_unnamed
from orchestrator.observation import AxTree, ObservationForm, ObservedPage


class TabPage:
    """Fills `ObservedPage` for one observation of a tab.

    Args:
        tab: the current one.
        ids: of elements, as actions name them.
        dialogs: answered since the last observation; they stand at the head of the tree's text.
        shows_unnamed: whether the tree holds what is drawn or can be clicked without a name.
    """

    def __init__(
        self, tab: OpenTab, ids: ElementIds, dialogs: Sequence[str], *, shows_unnamed: bool
    ) -> None:
        self._tab = tab
        self._ids = ids
        self._dialogs = dialogs
        self._shows_unnamed = shows_unnamed
        self._tree: AxTree | None = None
        self._title: str | None = None

    @property
    def url(self) -> str:
        """The document's URL."""
        return self._tab.url

    async def axtree(self) -> AxTree:
        """Return the accessibility tree, read once."""
        if self._tree is None:
            tree = await read_tree(self._tab, self._ids)
            if self._shows_unnamed:
                tree = await with_unnamed(self._tab, self._ids, tree)
            self._title = tree.title
            said = [f"(dialog: {line})" for line in self._dialogs]
            self._tree = AxTree(tree.nodes, "\n".join([*said, tree.text()]))
        return self._tree

    async def title(self) -> str:
        """Return the document's title: the tree's where it was read."""
        return await title_of(self._tab) if self._title is None else self._title

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        """Call a method of the DevTools protocol."""
        try:
            return await self._tab.channel.send(method, parameters)
        except RefusedError as refused:
            message = f"the browser refuses {method}: {refused}"
            raise BrowserError(message) from refused


async def title_of(tab: OpenTab) -> str:
    """Return a tab's title; empty where it is on its way to another document."""
    try:
        return await tab.title()
    except (RefusedError, PageGoneError):
        return ""


class AxTreeForm:
    """The accessibility tree."""

    async def observe(self, page: ObservedPage) -> AxTree:
        """Return the tree as nodes and as text."""
        return await page.axtree()


AXTREE_FORM: Final[ObservationForm] = AxTreeForm()
