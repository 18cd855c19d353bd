"""What is wrong with a live site is found, named, and never taken for the agent's failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from browser.live.faulty import GOAL, START, TASK, play, sound
from quick_cases import ONE_QUICK
from support.worlds.live_origin import HOST, LONG_AGO, Asked, Page, live_episode

from arena_core.actions import Goto, Stop
from orchestrator.authoring.canary.findings import CanaryStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from browser.live.conftest import StartOrigin
    from support.worlds.live_origin import LiveOrigin

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

CHALLENGE = "<title>Just a moment...</title><h1>Just a moment...</h1><input type=checkbox>"
CONSENT = """<title>Before you continue</title><h1>We value your privacy: cookies</h1>
    <button>Accept all</button><button>Reject all</button>"""
LOGIN = """<title>Sign in</title><h1>Sign in</h1><form><input aria-label=Name>
    <input type=password aria-label=Password><button>Sign in</button></form>"""
SLOW_DOWN = Page(body="<h1>Too many requests</h1>", status=429, headers={"retry-after": "120"})


def moved(to: str, status: int = 302) -> Page:
    return Page(status=status, headers={"location": to})


class Halves:
    """An experiment: every second visitor gets a page whose link has another name, by a cookie."""

    def __init__(self) -> None:
        self._visitors = 0

    def __call__(self, asked: Asked) -> Page:
        arm = asked.cookies.partition("arm=")[2][:1]
        if not arm:
            arm = "ab"[self._visitors % 2]
            self._visitors += 1
        body = START if arm == "a" else START.replace(">Samovar<", ">See the samovar<")
        return Page(body=body, headers={"set-cookie": f"arm={arm}; path=/"})


def expired(asked: Asked) -> Page:
    """Lead to the login whoever has no session any more."""
    known = "session=" in asked.cookies
    return Page(body=GOAL) if known else moved("/login?next=/wiki/Samovar")


@dataclass(frozen=True)
class Fault:
    """A switch at the origin, and what an episode and the canary make of it."""

    name: str
    switch: Callable[[LiveOrigin], object]
    outcome: str
    canary: str


def at(path: str, page: Page | Callable[[Asked], Page]) -> Callable[[LiveOrigin], object]:
    return lambda origin: origin.pages.__setitem__(path, page)


def both(*switches: Callable[[LiveOrigin], object]) -> Callable[[LiveOrigin], object]:
    return lambda origin: [one(origin) for one in switches]


KETTLE = "<a href=/wiki/Kettle>Kettle</a>"
REORDERED = START.replace(KETTLE, "") + KETTLE
SAMOVAR, FAILED, BLOCKED = "/wiki/Samovar", "failure", "unscored: blocked"
REFUSED = Page(body="no", status=403)
FAULTS = (
    Fault("none", lambda _: None, "success", "valid"),
    # the start page
    Fault("403", at("/start", REFUSED), BLOCKED, "blocked: refused"),
    Fault("429", at("/start", SLOW_DOWN), BLOCKED, "blocked: rate limit"),
    Fault("gone", at("/start", Page(status=404)), "unscored: drifted", "drifted: start page"),
    Fault("challenge", at("/start", Page(body=CHALLENGE)), BLOCKED, "blocked: bot wall"),
    Fault("consent", at("/start", Page(body=CONSENT)), FAILED, "blocked: consent wall"),
    Fault("loop", at("/start", moved("/start")), "unscored: infra", "unreachable"),
    Fault("cut", at("/start", Page(body=START, cut=0)), "unscored: infra", "unreachable"),
    Fault("cut within", at("/start", Page(body=START, cut=50)), "unscored: infra", "unreachable"),
    # what comes after it
    Fault("403 later", at(SAMOVAR, REFUSED), BLOCKED, "blocked: refused"),
    Fault("429 later", at(SAMOVAR, SLOW_DOWN), BLOCKED, "blocked: rate limit"),
    Fault("503 later", at(SAMOVAR, Page(status=503)), BLOCKED, "unreachable"),
    Fault("500 later", at(SAMOVAR, Page(status=500)), FAILED, "unreachable"),
    Fault("challenge later", at(SAMOVAR, Page(body=CHALLENGE)), BLOCKED, "blocked: bot wall"),
    Fault(
        "login expired",
        both(at(SAMOVAR, expired), at("/login?next=/wiki/Samovar", Page(body=LOGIN))),
        FAILED,
        "blocked: login wall",
    ),
    Fault("loop later", at(SAMOVAR, moved(SAMOVAR)), FAILED, "drifted: reference click"),
    Fault("cut later", at(SAMOVAR, Page(body=GOAL, cut=0)), "unscored: infra", "unreachable"),
    Fault(
        "cut within later", at(SAMOVAR, Page(body=GOAL, cut=50)), "unscored: infra", "unreachable"
    ),
    # drift
    Fault(
        "moved",
        both(at(SAMOVAR, moved("/wiki/Samovar_2")), at("/wiki/Samovar_2", Page(body=GOAL))),
        "success",  # the agent got there; the canary says what no longer fits
        "drifted: key node url exact",
    ),
    Fault(
        "moved without redirect", at(SAMOVAR, Page(status=404)), FAILED, "drifted: reference click"
    ),
    Fault(
        "renamed",
        at(SAMOVAR, Page(body=GOAL.replace("Show the price", "Costs"))),
        FAILED,
        "drifted: reference click",
    ),
    Fault(
        "other price",
        at(SAMOVAR, Page(body=GOAL.replace("47.00", "52.00"))),
        FAILED,
        "drifted: end check page number",
    ),
    # what a reference that goes by names does not mind
    Fault("other words", at(SAMOVAR, Page(body=GOAL.replace("old", "new"))), "success", "valid"),
    Fault("reordered", at("/start", Page(body=REORDERED)), "success", "valid"),
    Fault("slow", at(SAMOVAR, Page(body=GOAL, wait_s=1.0)), "success", "valid"),
)


@ONE_QUICK
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
async def test_a_fault_of_the_site(
    browser: Browser, origin: LiveOrigin, tmp_path: Path, fault: Fault
) -> None:
    sound(origin)
    fault.switch(origin)
    seen = await play(browser, origin, tmp_path)
    assert (seen.outcome, seen.canary) == (fault.outcome, fault.canary), seen.finding.because


async def test_no_fault_makes_a_failure_that_the_canary_lets_stand() -> None:
    """With `--canary`, what is bad then is unscored: the agent is not to blame."""
    failing = [one.canary.partition(":")[0] for one in FAULTS if one.outcome == FAILED]
    assert {CanaryStatus(status).is_bad for status in failing} == {True}


async def test_half_of_the_visitors_see_another_page(
    browser: Browser, origin: LiveOrigin, tmp_path: Path
) -> None:
    sound(origin)
    origin.pages["/start"] = Halves()
    seen = [await play(browser, origin, tmp_path) for _ in range(2)]
    assert [(one.outcome, one.canary) for one in seen] == [
        ("success", "valid"),
        (FAILED, "drifted: reference click"),
    ]


async def test_a_connection_that_was_cut_once_hides_nothing_of_the_next_play(
    browser: Browser, origin: LiveOrigin, tmp_path: Path
) -> None:
    sound(origin)
    whole = origin.pages[SAMOVAR]
    origin.pages[SAMOVAR] = Page(body=GOAL, cut=50)
    first = await play(browser, origin, tmp_path)
    origin.pages[SAMOVAR] = whole
    second = await play(browser, origin, tmp_path)
    assert (first.outcome, second.outcome) == ("unscored: infra", "success")
    assert first.evidence.fault is not None
    assert first.evidence.fault.unreachable == "wiki"


@ONE_QUICK
@pytest.mark.parametrize(
    "wrong", [{"until": LONG_AGO}, {"name": "other.example"}, {}], ids=["expired", "host", "signer"]
)
async def test_a_certificate_that_is_wrong_is_no_failure(
    browser: Browser, start_origin: StartOrigin, tmp_path: Path, wrong: dict[str, object]
) -> None:
    origin = start_origin(is_trusted=False, **wrong)
    sound(origin)
    seen = await play(browser, origin, tmp_path)
    assert (seen.outcome, seen.canary) == ("unscored: infra", "unreachable")
    assert "ERR_CERT_" in seen.finding.because


@ONE_QUICK
@pytest.mark.parametrize(
    "url", [f"https://{HOST}:444/wiki/Samovar", f"http://{HOST}/", "https://other.example/"]
)
async def test_an_agent_that_goes_where_no_site_is_gets_no_way_out_of_its_failure(
    browser: Browser, origin: LiveOrigin, url: str
) -> None:
    sound(origin)
    async with live_episode(browser, origin, **TASK) as episode:
        await episode.reset()
        await episode.step(Goto(url=url))
        await episode.step(Stop(answer="47"))
        assert str((await episode.score()).outcome) == "failure"
