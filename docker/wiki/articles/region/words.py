"""The words that the county is grown from: YAML beside this module, and the shop's makers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

HERE = Path(__file__).parent / "words"


class Words:
    """Lists of words and small records, by name."""

    def __init__(self, content: Mapping[str, Sequence[object]]) -> None:
        self._content = content

    @classmethod
    def of(cls, name: str) -> Words:
        """Return the words of one file."""
        return cls(yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8")))

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return tuple(str(word) for word in self._content[name])

    def pairs(self, first: str, last: str, between: str) -> tuple[str, ...]:
        """Return every first word joined to every last one that does not repeat its end."""
        return tuple(
            f"{head}{between}{tail}"
            for head in self[first]
            for tail in self[last]
            if head[-1].lower() != tail[0].lower() and head.split("'")[0] not in tail
        )

    def records(self, name: str) -> tuple[dict[str, str], ...]:
        """Return a list of mappings, every value as text."""
        found = []
        for one in self._content[name]:
            if not isinstance(one, dict):
                message = f"{name}: every entry must be a mapping"
                raise TypeError(message)
            found.append({str(key): str(value) for key, value in one.items()})
        return tuple(found)
