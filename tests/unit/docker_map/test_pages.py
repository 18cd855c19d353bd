"""Short links, distances and sentences of a route are as OpenStreetMap writes them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

_shortlink, _steps = import_module("mapsite.shortlink"), import_module("mapsite.steps")
encode = cast("Callable[[float, float, int], str]", _shortlink.encode)
decode = cast("Callable[[str], tuple[float, float, int] | None]", _shortlink.decode)
distance_text = cast("Callable[[float], str]", _steps.distance_text)
time_text = cast("Callable[[float], str]", _steps.time_text)
steps_of = cast("Callable[[Any], list[Any]]", _steps.steps_of)


@given(
    lon=st.floats(-179.9, 179.9),
    lat=st.floats(-89.9, 89.9),
    zoom=st.integers(min_value=1, max_value=19),
)
def test_a_short_link_leads_back_to_the_place(lon: float, lat: float, zoom: int) -> None:
    found = decode(encode(lon, lat, zoom))
    assert found is not None
    assert found[2] == zoom
    assert abs(found[0] - lon) <= 360 / 2 ** (zoom + 7)
    assert abs(found[1] - lat) <= 180 / 2 ** (zoom + 7)


@pytest.mark.parametrize("text", ["", "---", "a b", "AAAAAAAAAAAAAA"])
def test_what_is_no_short_link_is_none(text: str) -> None:
    assert decode(text) is None


@pytest.mark.parametrize(
    ("metres", "said"),
    [(3, ""), (85, "85m"), (646, "650m"), (2_345, "2.3km"), (16_700, "17km")],
)
def test_distances_are_rounded_like_openstreetmaps(metres: float, said: str) -> None:
    assert distance_text(metres) == said


@pytest.mark.parametrize(("seconds", "said"), [(20, "0:00"), (431, "0:07"), (5_100, "1:25")])
def test_times_are_hours_and_minutes(seconds: float, said: str) -> None:
    assert time_text(seconds) == said


def _step(kind: str, modifier: str, name: str, ref: str = "") -> dict[str, Any]:
    manoeuvre = {"type": kind, "modifier": modifier, "location": [-4.6, 50.8]}
    return {"maneuver": manoeuvre, "name": name, "ref": ref, "distance": 120.0}


def test_a_route_is_described_in_sentences() -> None:
    steps = [
        _step("depart", "straight", "Mill Lane"),
        _step("turn", "left", "High Street"),
        _step("new name", "straight", "Coast Road", "A392"),
        _step("arrive", "straight", ""),
    ]
    told = steps_of({"legs": [{"steps": steps}]})
    assert [step.text for step in told] == [
        "Start on Mill Lane",
        "Turn left onto High Street",
        "Continue on Coast Road (A392)",
        "Reach destination",
    ]
