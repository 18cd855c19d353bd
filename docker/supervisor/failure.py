"""What ends the supervisor."""

from __future__ import annotations


class Failure(Exception):
    """Why everything is stopped: one line for whoever reads the container's log."""


class Stop(Exception):
    """TERM or INT came."""
