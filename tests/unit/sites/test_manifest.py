from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sites.atlas import load_atlas
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


def test_a_clock_begins_where_the_manifest_says_in_utc_or_is_the_machines() -> None:
    assert Clock().begins is None
    begins = Clock.model_validate({"now": "2026-10-01T11:00:00+02:00"}).begins
    assert begins == datetime(2026, 10, 1, 9, tzinfo=UTC)


def test_a_clock_that_begins_somewhere_names_its_time_zone() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Clock.model_validate({"now": "2026-10-01T09:00:00"})


def test_all_sites_of_arena_begin_at_the_same_moment_or_say_why_they_do_not() -> None:
    clocks = [site.clock for site in load_atlas().sites.values()]
    assert {clock.begins for clock in clocks if clock.begins} == {
        datetime(2026, 10, 1, 9, tzinfo=UTC)
    }
    assert all(clock.begins or clock.why for clock in clocks)


def test_a_site_that_holds_state_never_follows_the_machines_clock() -> None:
    assert [
        one.name for one in load_atlas().sites.values() if one.stateful and not one.clock.begins
    ] == []
