"""`python3 supervisor [FILE]`: the entrypoint of every image that holds state."""

from __future__ import annotations

import os
import sys

from config import load
from failure import Failure
from loop import Loop
from processes import adopt_orphans, is_alone, keep_memory_private
from services import say
from supervisor import Supervisor

_FILE = "/etc/arena/supervisor.toml"
_TOKEN = "ARENA_STATES_TOKEN"


def main() -> int:
    """Supervise what the file says; return the exit code."""
    alone = is_alone()
    loop = Loop()
    adopt_orphans()
    token = os.environ.pop(_TOKEN, None)
    if token is not None:
        keep_memory_private()
    try:
        config = load(sys.argv[1] if len(sys.argv) > 1 else _FILE)
        return Supervisor(config, loop, alone=alone, token=token).run()
    except Failure as failure:
        say(str(failure))
        return 1


if __name__ == "__main__":
    sys.exit(main())
