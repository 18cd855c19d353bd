"""A page as the evidence keeps it: address, status, title and tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from evaluators.evidence import StepEvidence
from orchestrator.browser.observation import AXTREE
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, read_lines

# `[12] link "Kettle" value="…" focused`, as `axtree` shows a node; a name may hold quotes.
_LINE: Final = re.compile(
    r'( *)\[\d+\] (\S+)(?: "(.*?)")?(?: value="(.*)")?((?: [a-z]+(?:=\S+)?)*)'
)
_SPACES: Final = 2  # a level


@dataclass(frozen=True, slots=True)
class PageNode:
    """An element of a page: role and name, and those of what it is inside, outermost first."""

    role: str
    name: str
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.role} {self.name!r}"


@dataclass(frozen=True)
class PageView:
    """One page as it was seen.

    Attributes:
        status: of its document; None where it is not known.
        tree: its accessibility tree, one line a node.
    """

    url: str
    title: str
    status: int | None
    tree: str

    @cached_property
    def nodes(self) -> tuple[PageNode, ...]:
        """The elements that have a name, in document order."""
        return tuple(_nodes(self.tree))

    @cached_property
    def text(self) -> str:
        """All names, in document order."""
        return " ".join(node.name for node in self.nodes)

    def named(self, *roles: str) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes if node.role in roles)


def _nodes(tree: str) -> Iterator[PageNode]:
    above: list[tuple[int, str]] = []
    for line in tree.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        depth, role, name = len(found[1]) // _SPACES, found[2], found[3] or ""
        while above and above[-1][0] >= depth:
            above.pop()
        if name:
            yield PageNode(role, name, tuple(said for _, said in above))
        above.append((depth, f"{role} {name!r}" if name else role))


def pages_seen(attempt: Path, steps: Sequence[StepEvidence]) -> tuple[PageView, ...]:
    """Return what was seen in an attempt, oldest first; nothing where nothing was kept.

    Args:
        steps: of the evidence, which know the status of each page.
    """
    statuses = {step.index: step.status for step in steps}
    return tuple(_view(line, statuses) for line in read_lines(attempt / OBSERVATIONS_FILE))


def _view(line: Mapping[str, object], statuses: Mapping[int, int | None]) -> PageView:
    parts, step = line.get("parts"), line.get("step")
    part = parts.get(AXTREE) if isinstance(parts, Mapping) else None
    tree = part.get("text") if isinstance(part, Mapping) else None
    return PageView(
        url=str(line.get("url") or ""),
        title=str(line.get("title") or ""),
        status=statuses.get(step) if isinstance(step, int) else None,
        tree=tree if isinstance(tree, str) else "",
    )
