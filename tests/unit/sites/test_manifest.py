from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sites.manifest import Clock, Live


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


def test_a_clock_stands_where_the_manifest_says_in_utc_or_goes() -> None:
    assert Clock().stands_at is None
    stands = Clock.model_validate({"now": "2026-10-01T11:00:00+02:00"}).stands_at
    assert stands == datetime(2026, 10, 1, 9, tzinfo=UTC)


def test_a_clock_that_stands_names_its_time_zone() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Clock.model_validate({"now": "2026-10-01T09:00:00"})
