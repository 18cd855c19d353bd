"""Suites of MiniWoB++ pages: a task for each page and seed, written as a list of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from evaluators.fields import Slug
from tasks.sources import Importer

SITE = "miniwob"
# The wheel miniwob-1.1.0-py3-none-any.whl of PyPI, which the site's image serves.
_WHEEL = "297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9"
_SUCCESS = 1e-6  # a raw reward is 1 where the page is content; some pages give a part of it

Seed = Annotated[int, Field(ge=0, lt=2**31)]


class MiniWobPages(Importer):
    """Pages, and the seeds with which each is played: together pages × seeds tasks.

    Attributes:
        pages: by name, without `.html`.
        steps, seconds: limits of each task.
        mode: see `MiniWobStart`.
    """

    pages: tuple[Slug, ...] = Field(min_length=1)
    seeds: tuple[Seed, ...] = Field(min_length=1)
    mode: Literal["train", "test"] | None = None
    steps: int = 50
    seconds: float = 120.0

    def tasks(self, seeds: tuple[int, ...] | None = None) -> Iterator[Mapping[str, object]]:
        """Yield the tasks as they would be written out, called `PAGE-sSEED`."""
        for page in self.pages:
            for seed in seeds or self.seeds:
                yield self._task(page, seed)

    def _task(self, page: str, seed: int) -> dict[str, object]:
        start = {"page": page, "seed": seed}
        if self.mode is not None:
            start["mode"] = self.mode
        return {
            "id": f"{page}-s{seed}",
            "family": "interaction",
            "intent": "Do what the page asks for.",
            "sites": [SITE],
            "start": [f"{SITE}:/{SITE}/{page}.html"],
            "worlds": ["offline"],
            "limits": {"steps": self.steps, "seconds": self.seconds},
            "wob": start,
            "original": {
                "format": "miniwob",
                "id": f"{page}-s{seed}",
                "file_sha256": _WHEEL,
                "revision": "1.1.0",
                "record": start,
            },
            "checks": [
                {
                    "name": "reward",
                    "when": "end",
                    "locate": {"by": "wob"},
                    "match": {"how": "number", "value": 1, "tolerance": _SUCCESS},
                }
            ],
            "reference": [{"do": "wob", "page": page}, {"do": "stop"}],
        }


def read_seeds(text: str) -> tuple[int, ...]:
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        seeds.extend(range(int(first), int(last) + 1) if dash else [int(first)])
    if not seeds or max(seeds) >= 2**31:
        raise ValueError(f"'{text}' names no seeds")
    return tuple(dict.fromkeys(seeds))
