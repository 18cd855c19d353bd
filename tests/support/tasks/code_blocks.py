"""The fenced code blocks of the documentation, and how each of them is tested.

The line before a block says it: `<!-- run: KIND -->`, `<!-- tested: FILE -->` for a test that
reads the block itself, or `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    # what the pages of docs/ include
    ROOT / "tasks" / "README.md",
    ROOT / "sites" / "README.md",
    ROOT / "evaluators" / "README.md",
    ROOT / "orchestrator" / "agents" / "README.md",
    ROOT / "orchestrator" / "browser" / "cdp_proxy" / "README.md",
    ROOT / "orchestrator" / "agents" / "action_spaces" / "README.md",
    ROOT / "orchestrator" / "episode" / "external" / "README.md",
    ROOT / "orchestrator" / "serve" / "README.md",
    ROOT / "orchestrator" / "sandbox" / "reset" / "README.md",
)
_MARK = re.compile(r"\s*<!-- (run|tested|not run): (.+?) -->\s*")
_FENCE = re.compile(r"\s*```\s*(\S*)\s*$")


class Kind(StrEnum):
    """What a block needs in order to be run."""

    UNIT = "unit"  # commands that need no engine
    DOCKER = "docker"  # commands on real replicas
    PYTHON = "python"  # a program on real replicas


@dataclass(frozen=True, slots=True)
class Block:
    """One block: where it begins, in which language, what stands before it."""

    page: Path
    line: int
    language: str
    lines: tuple[str, ...]
    mark: tuple[str, str] | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def kind(self) -> Kind | None:
        """How it is run; None where it is not."""
        if self.mark is None or self.mark[0] != "run":
            return None
        return Kind(self.mark[1])

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the blocks of one page."""
    before: tuple[str, str] | None = None
    inside: list[str] = []
    begun: tuple[int, str] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if begun is not None:
            if fence and not fence[1]:
                yield Block(page, begun[0], begun[1], tuple(inside), before)
                begun, before = None, None
            else:
                inside.append(line)
        elif fence:
            begun, inside = (number, fence[1]), []
        elif line.strip():
            mark = _MARK.fullmatch(line)
            before = (mark[1], mark[2]) if mark else None


def all_blocks() -> tuple[Block, ...]:
    """Return the blocks of all pages."""
    return tuple(block for page in PAGES for block in blocks_of(page))
