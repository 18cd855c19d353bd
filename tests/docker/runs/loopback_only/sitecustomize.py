"""Lets no packet of a Python program leave this machine; it is the program's PYTHONPATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def keep_to_loopback(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse every connection and every question for a name that would leave this machine."""
    asked: object = None
    if event == "socket.getaddrinfo":
        asked = arguments[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        asked = arguments[1][0]
    if asked is not None and asked not in LOOPBACK:
        with Path(os.environ["OUTWARD"]).open("a", encoding="utf-8") as file:
            file.write(f"{event} {asked}\n")
        message = f"no packet leaves this machine: {event} {asked}"
        raise ConnectionRefusedError(message)


sys.addaudithook(keep_to_loopback)
