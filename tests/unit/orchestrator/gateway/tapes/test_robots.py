from __future__ import annotations

import pytest

from orchestrator.gateway.tapes.exchange import Robots

AT = "https://a.test"
RULES = "User-agent: *\nDisallow: /private\nDisallow: /search\n\nUser-agent: Other\nDisallow: /\n"


@pytest.mark.parametrize(
    ("status", "place", "allowed"),
    [
        (200, "/wiki/Tea", True),
        (200, "/private/tea", False),
        (200, "/search?q=tea", False),
        (404, "/private/tea", True),
        (503, "/wiki/Tea", False),
    ],
)
def test_what_robots_txt_forbids_is_not_recorded(status: int, place: str, allowed: bool) -> None:  # noqa: FBT001
    assert Robots.read(AT, status, RULES).allows(f"{AT}{place}") is allowed


def test_it_speaks_for_its_own_origin_alone() -> None:
    assert Robots.read(AT, 200, RULES).allows("https://b.test/private")


def test_it_is_shown_in_one_line() -> None:
    assert Robots.read(AT, 200, RULES).in_words == f"{AT}/robots.txt: 3 rules that forbid"
    assert "nothing may be recorded" in Robots.read(AT, 500, "").in_words
