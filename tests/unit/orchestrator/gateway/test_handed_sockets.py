from __future__ import annotations

import socket

import pytest

from arena_core.errors import GatewayError
from orchestrator.gateway.policy import Policy
from orchestrator.gateway.server import Gateway


async def test_a_gateway_listens_on_the_socket_that_it_is_handed() -> None:
    handed = socket.socket()
    handed.bind(("127.0.0.1", 0))
    port = handed.getsockname()[1]

    async with Gateway.open(Policy(()), bind=handed) as gateway:
        assert gateway.url == f"http://127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass

    assert handed.fileno() == -1  # closed with the gateway


async def test_a_socket_beyond_loopback_is_refused() -> None:
    with socket.socket() as handed:
        handed.bind(("0.0.0.0", 0))  # noqa: S104
        with pytest.raises(GatewayError, match="loopback only"):
            async with Gateway.open(Policy(()), bind=handed):
                pass
