"""What is told of each step beside the evidence: JSON lines, compressed, secrets redacted."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.logs.redaction import REDACTED, secrets_of

# What the agent saw, a line an observation; what its model was asked and answered, a line a call.
OBSERVATIONS_FILE: Final = "observations.jsonl.gz"
EXCHANGES_FILE: Final = "exchanges.jsonl.gz"

_GZIP: Final = 16 + zlib.MAX_WBITS
_QUICK: Final = 3  # a page's markup is halved once more by 9, in four times the time
_LEAST: Final = 6  # letters: a shorter value is part of ordinary words


class StepLines:
    """The lines of one file, compressed as they come.

    Args:
        secrets: values that are replaced wherever they stand; those of the environment where
            omitted.
    """

    def __init__(self, secrets: Iterable[str] | None = None) -> None:
        found = secrets_of() if secrets is None else secrets
        self._secrets = [json.dumps(one)[1:-1] for one in found if len(one) >= _LEAST]
        self._packer = zlib.compressobj(_QUICK, zlib.DEFLATED, _GZIP)
        self._packed = bytearray()

    def add(self, line: Mapping[str, object]) -> None:
        """Add a line; TypeError where it is no JSON."""
        text = json.dumps(line)
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        self._packed += self._packer.compress(text.encode() + b"\n")

    def packed(self) -> bytes:
        """Return the file's content as it stands; more lines may follow."""
        return bytes(self._packed) + self._packer.copy().flush()


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a file's lines; none where there is no such file, as in runs of earlier versions.

    Raises:
        StoreError: it cannot be read, or is damaged.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    except FileNotFoundError:
        return
    except (OSError, EOFError, ValueError, zlib.error) as cause:
        message = f"{path}: cannot be read: {cause}"
        raise StoreError(
            message, hint="it is beside the evidence, and no score needs it"
        ) from cause
