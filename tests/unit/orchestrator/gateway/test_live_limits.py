"""What a run may ask of a live host, and what the host got."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from support.worlds.live_origin import HOST, registry_with

from arena_core.worlds import World
from evaluators.evidence import HostUse
from orchestrator.gateway import live_limits
from orchestrator.gateway.live_limits import LiveMeter, LiveMeters, LiveUse
from sites.manifest import Live

URL = f"https://{HOST}/page"


def live(**limits: Any) -> Live:
    return Live.model_validate({"origin": f"https://{HOST}", **limits})


async def test_a_quota_is_shared_by_the_episodes_of_a_run() -> None:
    meter = LiveMeter(live(quota=3))
    one, two = LiveUse([meter]), LiveUse([meter])
    assert [await use.admit("GET", URL) for use in (one, two, one)] == [None] * 3
    assert one.refused is None
    why = "the run's quota of 3 requests to wiki.example is used up"
    assert await two.admit("GET", URL) == why
    assert (one.refused, two.refused) == (None, why)
    assert two.hosts() == ()


async def test_so_many_requests_start_in_a_minute_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = list[tuple[float, int]]()

    class Pacer:
        def __init__(self, seconds: float, burst: int) -> None:
            self.how = (seconds, burst)

        async def turn(self) -> None:
            turns.append(self.how)

    monkeypatch.setattr(live_limits, "RequestPacer", Pacer)
    use = LiveUse([LiveMeter(live(requests_per_minute=90))])
    assert await use.admit("GET", URL) is None
    assert await use.admit("GET", "https://elsewhere.example/") is None
    assert turns == [(60.0, 90)]


async def test_only_so_many_episodes_visit_a_site_at_the_same_time() -> None:
    upstreams = registry_with(concurrency=2).upstreams(["wiki"], World.ONLINE)
    meters, inside, most = LiveMeters.of(upstreams), 0, 0

    async def visit() -> None:
        nonlocal inside, most
        async with meters.room_for(["wiki", "shop"]):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(visit() for _ in range(6)))
    assert (most, inside) == (2, 0)


def test_what_was_not_sent_is_none_of_what_the_host_got() -> None:
    use = LiveUse([], {HOST: "wiki", "idle.example": None})
    for status in (200, 404, 429, 500, None):
        assert use.ended("GET", URL, status)
    use.stopped("POST", URL)
    assert not use.ended("POST", URL, 403)
    assert not use.ended("GET", "https://elsewhere.example/", 200)
    use.received(URL, 120)
    assert use.hosts() == (
        HostUse(
            host=HOST,
            requests=5,
            bytes=120,
            writes_stopped=1,
            client_errors=2,
            server_errors=1,
            rate_limited=1,
        ),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"quota": 0},
        {"concurrency": 0},
        {"requests_per_minute": 0},
        {"identify": "two\nlines"},
        {"identify": ""},
        {"third_parties": ["https://cdn.example"]},
        {"third_parties": ["*.example"]},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        live(**wrong)


def test_pages_are_counted_by_the_minute_in_which_they_came_fastest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    use = LiveUse([], {HOST: "wiki"})
    for at in (0.0, 50.0, 59.0, 61.0, 300.0, 301.0):
        now[0] = at
        use.loaded(URL)
    use.loaded("https://other.example/")
    assert (use.pages_per_minute(HOST), use.pages_per_minute("other.example")) == (3, 0)
