"""What ends the supervisor."""

from __future__ import annotations


class Failure(Exception):  # noqa: N818  one line for a log, no bug
    """Why everything is stopped: one line for whoever reads the container's log."""


class Stop(Exception):  # noqa: N818  no error
    """TERM or INT came."""
