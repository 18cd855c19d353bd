"""The requests of an episode in a file beside its evidence, a line each; scoring reads it back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from arena_core.errors import StoreError
from evaluators.evidence import Evidence
from evaluators.network import RequestRecord
from orchestrator.store.step_lines import StepLines, read_lines

NETWORK_FILE: Final = "network.jsonl.gz"
KEPT_APART: Final = {"network"}


def network_files(evidence: Evidence) -> Mapping[str, bytes]:
    """Return the file that holds the requests, by name; nothing where none were recorded."""
    if evidence.network is None:
        return {}
    lines = StepLines()
    for one in evidence.network:
        lines.add(one.model_dump(mode="json"))
    return {NETWORK_FILE: lines.packed()}


def with_network(evidence: Evidence, folder: Path) -> Evidence:
    """Return evidence with the requests that are kept in its folder.

    Raises:
        StoreError: the file is damaged: scores need it.
    """
    path = folder / NETWORK_FILE
    if not path.exists():
        return evidence
    try:
        requests = tuple(RequestRecord.model_validate(line) for line in read_lines(path))
    except StoreError as cause:
        raise StoreError(cause.message, hint="the episode's requests are there alone") from cause
    except ValidationError as cause:
        first = cause.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{path}: is not what this version of Arena writes: {where}: {first['msg']}"
        raise StoreError(message) from cause
    return evidence.model_copy(update={"network": requests})
