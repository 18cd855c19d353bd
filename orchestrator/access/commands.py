"""Commands that checks run in a replica: by its own user, with limits, and only to read."""

from __future__ import annotations

from typing import Final

from arena_core.errors import TaskError
from evaluators.episode_view import Ran
from orchestrator.engine.engine import Engine

MAX_BYTES: Final = 64 * 1024
_MAX_ERRORS: Final = 2_000
_ENDED: Final = frozenset({124, 137})  # what `timeout` exits with
_AS_ROOT: Final = "arena: the image runs commands as root"
_MORE_S: Final = 10.0
# Output goes through `head` on its way out: a command that prints without end is cut off there.
_SCRIPT: Final = f"""
if [ "$(id -u)" = 0 ]; then echo '{_AS_ROOT}' >&2; exit 126; fi
run() {{ timeout -k 1 "$2" sh -c "$1" 2>&1 1>&5; echo $? >&4; }}
exec 3>&1
told() {{ run "$1" "$2" | head -c {_MAX_ERRORS} >&2; }}
code=$( {{ told "$1" "$2" 5>&1 | head -c {MAX_BYTES + 1} >&3; }} 4>&1 )
exit "$code"
"""


async def run_command(engine: Engine, container_id: str, command: str, seconds: int) -> Ran:
    """Run a command for `sh -c` in a container, by the user of its image.

    Raises:
        TaskError: it took longer, printed too much, or would have run as root.
        SiteGoneError: the container does not run.
        EngineError: the engine never said how it ended.
    """
    argv = ["sh", "-c", _SCRIPT, "sh", command, str(seconds)]
    done = await engine.execute(container_id, argv, timeout_s=seconds + _MORE_S)
    errors = done.stderr.decode("utf-8", "replace")
    if errors.startswith(_AS_ROOT):
        message = "no command is run for a check: its image has no user of its own but root"
        raise TaskError(message)
    if done.exit_code in _ENDED:
        message = f"the command did not end within {seconds} s: {command[:80]}"
        raise TaskError(message)
    if len(done.stdout) > MAX_BYTES:
        message = f"the command printed more than {MAX_BYTES:,} bytes: {command[:80]}"
        raise TaskError(message)
    return Ran(done.exit_code, done.stdout.decode("utf-8", "replace"), errors)
