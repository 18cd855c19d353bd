"""Where a published container port is reached."""

from __future__ import annotations

from dataclasses import dataclass

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A TCP address on this machine; `host` is always 127.0.0.1 for a container's port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
