"""Whether anything listens at an endpoint, as opposed to one that is slow."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_DEADLINE_S: Final = 2.0
_PORTS: Final = {"http": 80, "https": 443}


async def refused_connection(url: str) -> ConnectionRefusedError | None:
    """Return the refusal where nothing listens at a URL; None where it does, or may.

    Behind a proxy only the proxy is asked for connections: then nothing is known.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return None
    try:
        async with asyncio.timeout(_DEADLINE_S):
            _, writer = await asyncio.open_connection(host, parts.port or _PORTS[parts.scheme])
    except ConnectionRefusedError as refusal:
        return refusal
    except (OSError, TimeoutError, KeyError):
        return None
    writer.close()
    return None
