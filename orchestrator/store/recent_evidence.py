"""The evidence of a run's episodes, a few of which are held: it takes megabytes an episode."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from evaluators.evidence import Evidence
from orchestrator.store.run_folder import RunFolder

_HELD: Final = 4  # both worlds of a task side by side, and what is read between


class RecentEvidence:
    """Reads the evidence of a run, and holds what was read last."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._held: OrderedDict[str, Evidence] = OrderedDict()

    def evidence(self, name: str) -> Evidence:
        """Return an attempt's evidence.

        Raises:
            StoreError: it cannot be read.
        """
        found = self._held.pop(name, None) or self._folder.evidence(name)
        self._held[name] = found
        if len(self._held) > _HELD:
            self._held.popitem(last=False)
        return found
