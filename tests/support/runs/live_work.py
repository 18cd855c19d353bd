"""Long work that needs no engine: scripted events, shown as a command shows its own."""

from __future__ import annotations

import asyncio
import logging
import sys

from arena_core.errors import ArenaError
from arena_core.work_events import WorkEnded, WorkLine, WorkOutput, WorkPlanned, WorkStep
from arena_core.worlds import World
from orchestrator.api.opened import WarningNote
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console
from orchestrator.cli.entry import _refuse
from orchestrator.cli.live import progress_on
from orchestrator.cli.log_options import log_as_chosen
from orchestrator.runs.events import AttemptBegan, EpisodesPlanned, ProgressNote
from orchestrator.runs.store.ledger import EpisodeKey


async def work(console: Console, seconds: float) -> None:
    with progress_on(console) as show:
        show(ProgressNote("offline: 1 worker"))
        show(WorkPlanned(2))
        show(WorkStep("shop", "step 3/12 RUN bake", 3, 12))
        show(WorkLine("shop: step 3/12 RUN bake [4 s]"))
        show(WorkOutput("shop", "\x1b[2Jbaking orders: 1200 of 3000"))
        await asyncio.sleep(seconds)
        show(WarningNote("a site of your own is left out"))
        logging.getLogger("orchestrator.x").warning("a line of the log")
        show(WorkEnded("shop"))
        show(EpisodesPlanned(1, 4))
        show(AttemptBegan(key=EpisodeKey("kettle", World.OFFLINE), number=1))
        await asyncio.sleep(seconds)


def main() -> None:
    console = Console(as_json="--json" in sys.argv, quiet="--quiet" in sys.argv)
    try:
        with log_as_chosen(1, None, {}, has_run_folder=False):
            run(work(console, float(sys.argv[1])))
        console.line("the result")
    except ArenaError as error:
        _refuse(error)


if __name__ == "__main__":
    main()
