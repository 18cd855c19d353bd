"""What makes tasks of entries that a suite file holds under a key of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from arena_core.plugins import Group, Seam, subclassing


class Importer(BaseModel, ABC):
    """One entry under the importer's key, and the tasks that it stands for.

    A subclass is registered in the group `arena.importers` under the key: `wob = "…:WobPages"`
    reads each entry of `wob: [{pages: …}]`. Its fields are what an entry may say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @abstractmethod
    def tasks(self, seeds: tuple[int, ...] | None = None) -> Iterator[Mapping[str, object]]:
        """Yield the tasks as they would be written out in the file.

        Args:
            seeds: what follows the suite's name (`miniwob@4711`), in place of those written.

        Raises:
            ValueError, OSError: the entry stands for no tasks, in words for who wrote it.
        """


IMPORTERS: Final[Seam[type[Importer]]] = Seam(Group.IMPORTERS, "importer", subclassing(Importer))
