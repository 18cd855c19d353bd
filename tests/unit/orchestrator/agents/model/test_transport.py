"""How long `Retry-After` asks to wait, whatever this machine's clock says."""

from __future__ import annotations

import math

import pytest

from orchestrator.agents.model.transport import asked_pause

LATER = "Mon, 02 Mar 2026 10:00:07 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "3", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        # no such zone, and more than a computer's number holds
        ({"retry-after": "Mon, 01 Jan 2026 00:00:00 -999999999999999"}, None),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, None),
    ],
)
def test_it_asks_for_seconds_or_for_nothing(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_pause(headers) == seconds


@pytest.mark.parametrize("year", [1999, 2026, 2099])
def test_a_date_is_taken_by_the_clock_that_wrote_it(year: int) -> None:
    """This machine's clock is years off in two of three: the pause is the same."""
    later, date = LATER.replace("2026", str(year)), f"Mon, 02 Mar {year} 10:00:00 GMT"
    assert asked_pause({"retry-after": later, "date": date}) == 7.0


def test_a_date_that_has_passed_asks_for_no_pause() -> None:
    assert asked_pause({"retry-after": LATER, "date": LATER.replace("10:", "11:")}) == 0.0
    assert asked_pause({"retry-after": LATER.replace("2026", "1999")}) == 0.0


def test_a_date_without_one_to_compare_is_taken_by_this_machines_clock() -> None:
    for date in ({}, {"date": "today"}):
        pause = asked_pause({"retry-after": LATER.replace("2026", "2999"), **date})
        assert pause is not None
        assert math.isfinite(pause)
        assert pause > 1e9
