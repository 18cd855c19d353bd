"""How long webarena-verified takes to score one task from a HAR file, in its own environment.

Arguments: the task, the answer and the HAR, as files, and how many rounds. Prints milliseconds.
"""

import json
import logging
import sys
import time
from pathlib import Path

from webarena_verified.api.internal.data_reader import WebArenaVerifiedDataReader
from webarena_verified.api.internal.evaluator import WebArenaVerifiedEvaluator
from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalContext
from webarena_verified.types.task import WebArenaSite, WebArenaVerifiedTask
from webarena_verified.types.tracing import NetworkTrace


def main(task: Path, answer: Path, har: Path, rounds: int) -> None:
    """Score, again and again."""
    logging.disable(logging.CRITICAL)
    config = WebArenaVerifiedConfig(
        environments={WebArenaSite.SHOPPING: EnvironmentConfig(urls=["http://shop.arena.test"])}
    )
    evaluator = WebArenaVerifiedEvaluator(config=config, reader=WebArenaVerifiedDataReader(config))
    record = WebArenaVerifiedTask.model_validate(json.loads(task.read_text()))
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        context = TaskEvalContext(
            task=record,
            agent_response_raw=answer.read_text(),
            network_trace=NetworkTrace.from_content(har),
            config=config,
        )
        found = evaluator.evaluate_task(context=context)
        took.append((time.perf_counter() - began) * 1000)
        if found.score != 1.0:
            sys.exit(f"it is no success: {found}")
    print(json.dumps(took))


if __name__ == "__main__":
    main(*(Path(one) for one in sys.argv[1:4]), rounds=int(sys.argv[4]))
