"""Where a connection goes: addresses, and curl's way to say that a host is elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import NoReturn, Self

from arena_core.errors import UsageError

_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_PORT = re.compile(r"[0-9]{1,5}")
_RESOLVE = re.compile(
    r"(?P<host>[^:\[\]]+):(?P<port>[^:]+):(?P<to>\[[^\]]*\]|[^:\[\]]+):(?P<at>.+)"
)
_FORM = "expected HOST:PORT:ADDR:PORT, for example en.wikipedia.org:443:127.0.0.1:8443"


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """A host name or an IP address (IPv6 without brackets) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Resolve:
    """Connections to `host:port` go to the address `to` instead, as with curl's `--resolve`.

    Unlike curl's, the address has a port of its own, so that a staged live origin may listen where
    it likes.
    """

    host: str
    port: int
    to: SocketAddress

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT:ADDR:PORT`; ADDR is an IPv4 address or an IPv6 address in brackets.

        Raises:
            UsageError: one line that says which part is wrong and what is allowed.
        """
        found = _RESOLVE.fullmatch(text)
        if found is None:
            _refuse(text, _FORM)
        host = found["host"].lower()
        if not _HOST.fullmatch(host):
            _refuse(text, f"{found['host']!r} is no host name; {_FORM}")
        return cls(
            host,
            _port(text, found["port"]),
            SocketAddress(_ip(text, found["to"]), _port(text, found["at"])),
        )

    def __str__(self) -> str:
        return f"{self.host}:{self.port}:{self.to}"


def _port(text: str, digits: str) -> int:
    if not _PORT.fullmatch(digits) or not 1 <= int(digits) <= 65535:  # noqa: PLR2004
        _refuse(text, f"{digits!r} is no port (1 to 65535); {_FORM}")
    return int(digits)


def _ip(text: str, written: str) -> str:
    bare = written[1:-1] if written.startswith("[") else written
    try:
        address = ip_address(bare)
    except ValueError:
        _refuse(text, f"{written!r} is no IP address; {_FORM}")
    if isinstance(address, IPv6Address) != written.startswith("["):
        _refuse(text, f"{written!r}: brackets are for IPv6 addresses, and those need them")
    return str(address)


def _refuse(text: str, why: str) -> NoReturn:
    message = f"--resolve {text!r}: {why}"
    raise UsageError(message)
