"""The simplified markup as a form of observation, in both of its print styles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.observation import PrunedHtml
from orchestrator.observation_forms import ObservationForm, ObservedPage, PageNode
from orchestrator.observations.markup import holding_shown
from orchestrator.observations.pruning import SEGMENT, pruned
from orchestrator.observations.simplified import PrintStyle, Simplified, labels, printed, simplify
from orchestrator.observations.viewport import walk


@dataclass(frozen=True, slots=True)
class PrunedHtmlForm:
    """AutoWebGLM's simplified markup; labels are given anew in each observation."""

    style: PrintStyle

    async def observe(self, page: ObservedPage) -> PrunedHtml:
        """Return the whole page, everything that can be acted on labelled."""
        return await self._pruned(page, only_shown=False)

    async def observe_viewport(self, page: ObservedPage) -> PrunedHtml:
        """Return what the viewport shows, as AutoWebGLM's agent sees it."""
        return await self._pruned(page, only_shown=True)

    async def _pruned(self, page: ObservedPage, *, only_shown: bool) -> PrunedHtml:
        snapshot = await page.snapshot()
        shown = holding_shown(snapshot.root) if only_shown else None
        ids = _labelled(snapshot.root, shown)
        by_id = {element: label for label, element in ids.items()}
        tree = simplify(snapshot.root, lambda node: by_id.get(node.id or 0, ""), shown=shown)
        height = snapshot.viewport.height
        said = [f"(dialog: {line})" for line in page.dialogs]
        return PrunedHtml(
            text="\n".join([*said, printed(tree, self.style)]),
            ids=ids,
            segments={
                node.label: pruned([node], SEGMENT, self.style)
                for node in _walk(tree)
                if node.label
            },
            viewports=(snapshot.scrolled / height, snapshot.height / height),
        )


PRUNED_HTML_FORM: Final[ObservationForm] = PrunedHtmlForm(PrintStyle.REFINE)
PRUNED_HTML_XML_FORM: Final[ObservationForm] = PrunedHtmlForm(PrintStyle.XML)


def _labelled(root: PageNode, shown: frozenset[int] | None) -> dict[str, int]:
    """Give labels in document order to what can be acted on; in the viewport to what it shows."""
    free = labels()
    found = (node for node in walk(root) if node.id is not None)
    return {
        next(free): node.id
        for node in found
        if node.id is not None and (shown is None or node.shown is not None)
    }


def _walk(tree: Simplified) -> list[Simplified]:
    found: list[Simplified] = []
    left = [tree]
    while left:
        node = left.pop()
        found.append(node)
        left.extend(node.children)
    return found
