"""The program `arena`: imports the command line, which takes a while, and runs it."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line, while it is still being imported too."""
    try:
        from orchestrator.cli.entry import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.stderr.write("arena: interrupted\n")
        sys.exit(_INTERRUPTED)
