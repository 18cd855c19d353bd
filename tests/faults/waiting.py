"""`arena` that writes on request what each of its tasks waits for: a start that hangs says no more.

What is beside it then is noted too: the command lines of its children.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from support.agents.arena_process import ArenaProcess, descendants

_FILE: Final = "ARENA_FAULTS_WAITS"
_SAID: Final = "all threads said"
_SAYS_S: Final = 20.0
# asyncio itself shows only the outermost coroutine of a task, and not what `async with` waits for.
_PROGRAM: Final = f"""
import asyncio, faulthandler, gc, os, signal, sys
sys.argv[0] = "arena"

def waits_for(at):
    found = getattr(at, "cr_await", None) or getattr(at, "ag_await", None)
    hidden = [] if found else [one for one in gc.get_referents(at) if hasattr(one, "ag_frame")]
    return hidden[0] if hidden and not hasattr(at, "ag_frame") else found

def say(*_):
    with open(os.environ["{_FILE}"], "a") as file:
        for task in asyncio.all_tasks(asyncio.get_event_loop_policy().get_event_loop()):
            print(task.get_name(), file=file)
            at = task.get_coro()
            while at is not None:
                frame = getattr(at, "cr_frame", None) or getattr(at, "ag_frame", None)
                if frame is not None:
                    print("   ", frame.f_code.co_filename, frame.f_lineno, file=file)
                at = waits_for(at)
        faulthandler.dump_traceback(file)
        print("{_SAID}", file=file)

signal.signal(signal.SIGUSR2, say)
from orchestrator.cli.entry import main
main()
"""
PROGRAM: Final = (sys.executable, "-c", _PROGRAM)


def waits_in(file: Path) -> Mapping[str, str]:
    """Return the environment in which `PROGRAM` writes there."""
    return {_FILE: str(file.absolute())}


def say_waits(process: ArenaProcess, file: Path) -> None:
    """Let a process write what it waits for, below its children."""
    lines = [f"{pid} {line}" for pid, line in sorted(descendants(process.pid).items())]
    file.write_text("\n".join([*lines, ""]))
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGUSR2)
    due = time.monotonic() + _SAYS_S
    while _SAID not in file.read_text() and time.monotonic() < due:
        threading.Event().wait(0.1)  # another's writing is no event to wait for
