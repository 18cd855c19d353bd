"""What a replica of each image costs in memory, learned when one is ready and kept for next time.

It is a cache in the user's cache folder: where it cannot be read or written, nothing is known.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from arena_core.user_cache import user_cache
from orchestrator.capacity.sizes import MIB
from sites.manifest import Site

_KEPT: Final = 200  # images; the oldest go first


@dataclass(frozen=True, slots=True)
class Cost:
    """The memory of one replica.

    Attributes:
        is_learned: it was measured here; otherwise it is the manifest's limit.
    """

    size_bytes: int
    is_learned: bool

    @property
    def source(self) -> str:
        """How it is known, in a word or two."""
        return "learned" if self.is_learned else "by its limit"


@dataclass(slots=True)
class Costs:
    """Measured memory by image id, the most that was ever seen.

    Attributes:
        path: the file; None keeps nothing.
    """

    path: Path | None = None
    _known: dict[str, int] = field(default_factory=dict)
    _measured_now: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Read what was learned; `path` is for tests."""
        costs = cls(path or _default_path())
        costs._known = costs._read()
        return costs

    def of(self, site: Site, image_id: str | None) -> Cost:
        """Return what one more replica takes: as learned, else the manifest's limit."""
        known = self._known.get(image_id or "")
        if known is None:
            return Cost(site.resources.memory_mb * MIB, is_learned=False)
        return Cost(known, is_learned=True)

    def wants(self, image_id: str) -> bool:
        """Whether this process has not measured a replica of the image yet."""
        return image_id not in self._measured_now

    def learn(self, image_id: str, size_bytes: int) -> None:
        """Keep a measurement, for this process and the next."""
        self._measured_now.add(image_id)
        if size_bytes <= self._known.get(image_id, 0):
            return
        known = {**self._read(), **self._known}  # other processes learn too
        known.pop(image_id, None)
        self._known = {**known, image_id: size_bytes}
        self._write()

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self.path.read_bytes()) if self.path else {}
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {
            str(image): size for image, size in found.items() if isinstance(size, int) and size > 0
        }

    def _write(self) -> None:
        if self.path is None:
            return
        latest = dict(list(self._known.items())[-_KEPT:])
        partial = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        with suppress(OSError):  # what cannot be kept is learned again
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(latest, indent=1), encoding="utf-8")
            partial.replace(self.path)


def _default_path() -> Path:
    return user_cache() / "costs.json"
