"""One article of the newspaper, before it becomes rows."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gazette.sources import Point
from gazette.writing import Filler


@dataclass(slots=True)
class Story:
    """An article: what is written, where it belongs, and what its readers may talk about.

    Attributes:
        subject: what its picture is looked up by.
        blocks: the text, as blocks of the editor.
        talk: the points of remarks/ that its comments come from.
        points: more of them, of its own.
        kind: the kind of stories.toml that it is one of, where it is.
        titled: the gaps that its title fills.
        inset: a drawing between its blocks, and before which of them it stands.
        refers: a last block, which names an earlier story.
        told: fills the gaps of what its readers say, once the story has its words.
    """

    category: str
    tags: tuple[str, ...]
    subject: str
    date: datetime
    title: str
    blocks: list[str]
    filler: Filler
    talk: str
    points: tuple[Point, ...] = ()
    kind: Mapping[str, Any] | None = None
    titled: AbstractSet[str] = frozenset()
    inset: tuple[int, str] | None = None
    refers: str = ""
    told: Filler | None = None
    excerpt: str = ""
    status: str = "publish"
    sticky: bool = False
    author: int = 0
    id: int = 0
    slug: str = ""
    picture: int = 0
    comments: int = field(default=0)

    @property
    def path(self) -> str:
        """Return where the site shows it."""
        return f"/{self.date:%Y/%m}/{self.slug}/"
