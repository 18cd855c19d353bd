"""Connections to where routes lead: opened with a deadline, kept alive, handed out again."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

from orchestrator.gateway.addresses import SocketAddress
from orchestrator.gateway.connection import BufferedConnection

_MAX_IDLE = 16
# RFC 8305, 5: when to try a name's next address beside the one that has not answered yet.
_NEXT_ADDRESS_S = 0.25


class UpstreamError(Exception):
    """An upstream could not be reached, or broke off; `status` is what the client gets."""

    def __init__(self, reason: str, status: int = 502) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class ConnectionPool:
    """The connections to one address."""

    def __init__(
        self, address: SocketAddress, alive: set[BufferedConnection], connect_s: float
    ) -> None:
        self._address = address
        self._alive = alive
        self._connect_s = connect_s
        self._idle: list[BufferedConnection] = []
        self._is_name = not _is_ip(address.host)

    @property
    def address(self) -> SocketAddress:
        """Where the connections lead."""
        return self._address

    async def connect(self) -> BufferedConnection:
        """Open a connection.

        Raises:
            UpstreamError: it was refused, the name is unknown, or the time was up.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await loop.create_connection(
                    lambda: BufferedConnection(self._alive),
                    self._address.host,
                    self._address.port,
                    happy_eyeballs_delay=_NEXT_ADDRESS_S if self._is_name else None,
                )
        except TimeoutError:
            message = f"no connection to {self._address} within {self._connect_s:g} s"
            raise UpstreamError(message) from None
        except OSError as error:
            message = f"no connection to {self._address}: {error.strerror or error}"
            raise UpstreamError(message) from None
        return connection

    def take(self) -> BufferedConnection | None:
        """Return a connection that was kept, the one last used first; None where there is none.

        One on which bytes came that nobody asked for is closed: they would answer the next request.
        """
        while self._idle:
            connection = self._idle.pop()
            connection.on_end = None
            if not connection.has_ended and not connection.has_data:
                return connection
            connection.close()
        return None

    def keep(self, connection: BufferedConnection) -> None:
        """Keep a connection for the next request, or close it where there are enough."""
        if connection.has_ended or len(self._idle) >= _MAX_IDLE:
            connection.on_end = None
            connection.close()
            return
        self._idle.append(connection)
        connection.on_end = lambda: self._idle.remove(connection)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
