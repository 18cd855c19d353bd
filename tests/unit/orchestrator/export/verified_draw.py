"""Random episodes around the gold of webarena-verified's own tasks, one a task.

A program: it runs in an environment that has webarena-verified. Arguments: seed, how many tasks. It
prints a JSON document: the addresses, and the episodes with their tasks as published.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "evaluators" / "scorers"))

import verified_pairs
from webarena_verified.types.config import WebArenaVerifiedConfig


def main(seed: int, tasks: int) -> None:
    """Draw and print."""
    records: list[dict[str, Any]] = json.loads(
        Path(WebArenaVerifiedConfig().test_data_file).read_text("utf-8")
    )
    draw = verified_pairs.Draw(seed)
    drawn = [
        {
            "record": record,
            "answer": draw.answer(record),
            "requests": [one.model_dump(mode="json") for one in draw.requests(record)],
        }
        for record in draw.sample(records, tasks)
    ]
    print(json.dumps({"bases": verified_pairs.BASES, "episodes": drawn}))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
