"""The forge's histories, and how the code stood at each of their latest commits."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import datetime, timedelta

from forgeseed import history
from forgeseed.clock import LAST
from forgeseed.code import Module
from forgeseed.history import MAIN, Commit, History
from forgeseed.issues import Issue
from forgeseed.people import Person
from forgeseed.projects import Project

from hubseed.reviews import Edit, edit_between

_RECENT = LAST - timedelta(days=80)
_MERGE = "Merge branch '"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the code stood after one commit of the main branch."""

    mark: int
    when: datetime
    modules: dict[str, Module]


@dataclass(frozen=True, slots=True)
class Merged:
    """A branch that went into the main branch: its commits, and the merge."""

    branch: str
    commits: tuple[Commit, ...]
    merge: Commit


class Chronicle(history._Writer):  # noqa: SLF001 - the forge's own, of the same seed
    """Writes the same history as the forge's, and remembers how the code stood."""

    def __init__(self, project: Project, issues: list[Issue]) -> None:
        self.standings: list[Standing] = []
        self.edits: dict[int, Edit] = {}  # by the mark of the commit
        self._edit: Edit | None = None
        super().__init__(project, issues)
        self.history: History = self.written()

    def _change(self, held: Module) -> str:
        before = list(held.functions)
        subject = super()._change(held)
        self._edit = edit_between(before, held.functions)
        return subject

    def _commit(
        self, author: Person, when: datetime, message: str, files: dict[str, str],
        branch: str = MAIN, parents: tuple[int, ...] | None = None,
    ) -> int:  # fmt: skip
        mark = super()._commit(author, when, message, files, branch, parents)
        if self._edit:
            self.edits[mark], self._edit = self._edit, None
        if branch == MAIN and when > _RECENT:
            self.standings.append(Standing(mark, when, copy.deepcopy(self._modules)))
        return mark

    def merged(self) -> list[Merged]:
        """Return the branches that were merged, in the order of time."""
        found = []
        for commit in self.history.commits:
            if commit.message.startswith(_MERGE):
                name = commit.message.removeprefix(_MERGE).split("'")[0]
                own = tuple(one for one in self.history.commits if one.branch == name)
                found.append(Merged(name, own, commit))
        return found

    def thing_of(self, path: str) -> str:
        """Return what a source file is about."""
        return next(
            (one.thing for one in self._modules.values() if one.path == path),
            self.history.project.things[0],
        )
