"""How long the gateway waits for others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds.

    Idle connections, tunnels and responses that have begun have none: they live as long as the
    browser context, which closes its gateway.

    Attributes:
        connect_s: to open a connection to an upstream, the name's look-up included.
        first_byte_s: from the request's last byte to the end of the response's head.
        head_s: for a client to finish a head it has begun.
        linger_s: for a client to read a refusal while it still sends what nobody will read.
    """

    connect_s: float = 5.0
    first_byte_s: float = 60.0
    head_s: float = 30.0
    linger_s: float = 2.0
