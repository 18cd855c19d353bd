from __future__ import annotations

import pytest

from sites.manifest import Live


@pytest.mark.parametrize(
    ("origin", "host", "port"),
    [
        ("https://shop.example", "shop.example", 443),
        ("http://shop.example", "shop.example", 80),
        ("https://shop.example:8443", "shop.example", 8443),
    ],
)
def test_an_origin_has_a_host_and_a_port(origin: str, host: str, port: int) -> None:
    live = Live(origin=origin)
    assert (live.host, live.port) == (host, port)
