"""A data set on disk: JSON lines that one schema fits, images beside them, and what was removed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from orchestrator.store.secrets import SecretSearch, was_redacted
from orchestrator.training.samples import IMAGES, Removed

_BLOCK: Final = 1 << 20


class DataSet:
    """Writes records, one a line; a context manager.

    A record with a secret in any of its texts is not written, nor one whose content was written
    before: both are counted in `removed`.

    Args:
        folder: of the data set; it is made.
        name: of its file, `sft` for `sft.jsonl`.
        secrets: what may stand in no record.
    """

    def __init__(self, folder: Path, name: str, secrets: SecretSearch) -> None:
        self.removed: Counter[Removed] = Counter()
        self.records = 0
        self.images = 0
        self.path = folder / f"{name}.jsonl"
        self._folder = folder
        self._secrets = secrets
        self._file: IO[str] | None = None
        self._known: set[str] = set()
        self._kinds: set[type] = set()

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if kind is None and len(self._kinds) > 1:
            _use_parts_everywhere(self.path)

    def add(
        self,
        record: Mapping[str, Any],
        *,
        content: str | None,
        pictures: Iterable[Path] = (),
    ) -> bool:
        """Write a record with its images, and say whether it was written.

        Args:
            record: a JSON object.
            content: what makes it the same as another record; None for one that never is.
            pictures: files of its images.
        """
        if self._file is None:
            message = "the data set is not open"
            raise ValueError(message)
        removed = self._why_not(record, content)
        if removed is not None:
            self.removed[removed] += 1
            return False
        for picture in pictures:
            self._keep(picture)
        self._kinds |= {type(one) for one in _contents(record) if one is not None}
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.records += 1
        return True

    def digest(self) -> str:
        """Return SHA-256 of the file."""
        found = hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return found.hexdigest()

    def _why_not(self, record: Mapping[str, Any], content: str | None) -> Removed | None:
        if was_redacted(record):
            return Removed.REDACTED
        if self._secrets.finds(record):
            return Removed.SECRET
        if content is not None and content in self._known:
            return Removed.DUPLICATE
        if content is not None:
            self._known.add(content)
        return None

    def _keep(self, picture: Path) -> None:
        target = self._folder / IMAGES / picture.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(picture, target)
            self.images += 1


def _contents(record: Mapping[str, Any]) -> Iterable[object]:
    """Yield the contents of all messages of a record."""
    for name in ("messages", "prompt", "chosen", "rejected"):
        messages = record.get(name)
        if isinstance(messages, list):
            yield from (one.get("content") for one in messages if isinstance(one, dict))


def _use_parts_everywhere(path: Path) -> None:
    """Write each text content as a list of one part: a column of a data set has one type."""
    beside = path.with_name(f"{path.name}.parts")
    with path.open(encoding="utf-8") as lines, beside.open("w", encoding="utf-8") as written:
        for line in lines:
            record = json.loads(line)
            for name in ("messages", "prompt", "chosen", "rejected"):
                messages = record.get(name)
                for message in messages if isinstance(messages, list) else ():
                    if isinstance(message.get("content"), str):
                        message["content"] = [{"type": "text", "text": message["content"]}]
            written.write(json.dumps(record, ensure_ascii=False) + "\n")
    beside.replace(path)
