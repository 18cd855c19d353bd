"""Proxy auto-configuration: one setting that sends a gateway's hosts to it and leaves all others.

For a person's own browser, whose other pages are nobody's business here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from arena_core.errors import GatewayError
from orchestrator.gateway.policy import Policy

_LOOPBACK: Final = "127.0.0.1"
_HEAD_S: Final = 10.0


def pac(policy: Policy, proxy_url: str) -> str:
    """Return the script: hosts of the policy by this proxy, everything else directly."""
    hosts = json.dumps(sorted({route.host for route in policy.routes}))
    proxy = json.dumps(f"PROXY {urlsplit(proxy_url).netloc}")
    return (
        "function FindProxyForURL(url, host) {\n"
        f"  return {hosts}.indexOf(host.toLowerCase()) < 0 ? 'DIRECT' : {proxy};\n"
        "}\n"
    )


@asynccontextmanager
async def serve_pac(script: str) -> AsyncIterator[str]:
    """Serve a script on loopback, and yield its URL.

    Raises:
        GatewayError: nothing can listen there.
    """
    body = script.encode()
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ns-proxy-autoconfig\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body)
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked went away, or did not speak HTTP
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(serve, _LOOPBACK, 0)
    except OSError as error:
        message = f"nothing can listen on {_LOOPBACK}: {error.strerror or error}"
        raise GatewayError(message) from error
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://{_LOOPBACK}:{port}/proxy.pac"
    finally:
        server.close()
