"""What ends the supervisor, and what it only refuses."""

from __future__ import annotations


class Failure(Exception):  # noqa: N818  one line for a log, no bug
    """Why everything is stopped: one line for whoever reads the container's log."""


class Stop(Exception):  # noqa: N818  no error
    """TERM or INT came."""


class Refusal(Exception):  # noqa: N818  an answer to whoever asked
    """Why something that was asked for is not done; everything goes on as before."""
