"""A format of published task sets: a seam, filled by entry point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from arena_core.plugins import Group, Seam, filling
from tasks.imports.published import Entry
from tasks.imports.site_map import SiteMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What one published task becomes.

    Attributes:
        entry: where it was read.
        published_id: the task's own id, as text.
        task: as a suite would have it written out; `original` is added to it.
        untranslated: what of the published task its checks do not say, and why, one line each. A
            task with such a line never counts as a success of Arena's own score.
        new_sites: live origin of each site that the task names and that is not installed here.
        bases, template, revision: as in `OriginalTask`.
        record: what readings score by, where the task is made of several entries; the entry's own
            record where omitted.
    """

    entry: Entry
    published_id: str
    task: Mapping[str, object]
    untranslated: tuple[str, ...] = ()
    new_sites: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    bases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    template: str | None = None
    revision: str | None = None
    record: Mapping[str, object] | None = None


@runtime_checkable
class TaskFormat(Protocol):
    """Reads one format of published task sets.

    Attributes:
        name: as `arena tasks import` takes it; `OriginalTask.format` of what it imports.
        title: of the suites that it makes.
    """

    name: str
    title: str

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order.

        Args:
            entries: of all files, in their order.
            sites: which site here stands for a site or host of the published set.

        Raises:
            TaskError: an entry is no task of the format: one line with file, place and field.
        """


FORMATS: Final[Seam[TaskFormat]] = Seam(
    Group.FORMATS, "format of published task sets", filling(TaskFormat)
)
