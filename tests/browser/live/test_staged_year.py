"""A shop over twelve months, with planted drift: what the canary finds of it, and what it does not.

A month is bad where the task of January no longer holds. Harmless months change as shops do.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest
from browser.live.faulty import GOAL, START, play, sound
from quick_cases import SLOW
from support.worlds.live_origin import Page

if TYPE_CHECKING:
    from pathlib import Path

    from support.worlds.live_origin import LiveOrigin

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SAMOVAR, OTHER = "/wiki/Samovar", "/wiki/Samovar_2"
KETTLE = "<a href=/wiki/Kettle>Kettle</a>"
BANNER = "<aside><p>We use cookies. <button>Accept all</button></aside>"
CHALLENGE = "<title>Just a moment...</title><h1>Just a moment...</h1><input type=checkbox>"


def goal(old: str = "", new: str = "", **how: object) -> dict[str, Page]:
    return {SAMOVAR: Page(body=GOAL.replace(old, new) if old else GOAL, **how)}  # type: ignore[arg-type]


def start(body: str) -> dict[str, Page]:
    return {"/start": Page(body=body)}


# By month: what is there, and what the canary must say of the task as it was in January.
YEAR: Final[dict[str, tuple[dict[str, Page], str]]] = {
    "January": ({}, "valid"),
    "February: other words": (goal("old", "new"), "valid"),
    "March: the list in another order": (start(START.replace(KETTLE, "") + KETTLE), "valid"),
    "April: another price": (goal("47.00", "52.00"), "drifted: end check page number"),
    "May: a banner": (goal("<p>", f"{BANNER}<p>"), "valid"),
    "June: a button has another name": (goal("Show the", "See the"), "drifted: reference click"),
    "July: a bot wall": ({SAMOVAR: Page(body=CHALLENGE)}, "blocked: bot wall"),
    "August: slow": (goal(wait_s=1.0), "valid"),
    "September: a page has moved": (
        {SAMOVAR: Page(status=301, headers={"location": OTHER}), OTHER: Page(body=GOAL)},
        "drifted: key node url exact",
    ),
    "October: it is no longer sold": (goal(status=404), "drifted: key node url exact"),
    "November: cut off": (goal(cut=20), "unreachable"),
    "December: dearer, by cents": (goal("47.00", "47.05"), "drifted: end check page number"),
}


@SLOW
async def test_the_canary_finds_each_bad_month_and_no_other(
    browser: Browser, origin: LiveOrigin, tmp_path: Path
) -> None:
    found, judged = dict[str, str](), Counter[tuple[bool, bool]]()
    for month, (pages, wanted) in YEAR.items():
        sound(origin)
        origin.pages.update(pages)
        seen = await play(browser, origin, tmp_path)
        found[month] = seen.canary
        judged[wanted != "valid", seen.finding.status.is_bad] += 1
        assert seen.outcome != "failure" or seen.finding.status.is_bad, month
    assert found == {month: wanted for month, (_, wanted) in YEAR.items()}
    right, missed, false = judged[True, True], judged[True, False], judged[False, True]
    assert (right / (right + false), right / (right + missed)) == (1.0, 1.0)
    assert judged == {(True, True): 7, (False, False): 5}
