"""A live site's trouble excuses a failure only where it stood, and was not the agent's doing."""

from __future__ import annotations

import pytest
from support.runs.make_evidence import ANSWER, make_check, make_evidence, make_step, stop_step

from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.scores import Score, score

AT = "https://wiki.example"
SAID, SHOWN = make_check(ANSWER, "yes", name="said"), make_check(ANSWER, "yes", name="shown")


def barred(status: int | None = 403, **more: object) -> BarredSite:
    told = {"site": "wiki", "step": 1, "url": f"{AT}/wiki/Tea", "sign": f"status {status}"}
    return BarredSite.model_validate({**told, "status": status, "most_per_minute": 30, **more})


STILL = barred(is_of_task=True, is_last=True, asked_again=f"{AT}/wiki/Tea", again="status 403")


def scored(*sites: BarredSite, answer: str = "no", world: World = World.ONLINE) -> Score:
    steps = (make_step(0, "wiki:/"), make_step(1, "wiki:/article/Tea"), stop_step(2))
    evidence = make_evidence(*steps, answer=answer, world=world)
    return score([SAID, SHOWN], evidence.model_copy(update={"barred": sites}))


def outcome(*sites: BarredSite, answer: str = "no") -> str:
    return str(scored(*sites, answer=answer).outcome)


@pytest.mark.parametrize(
    "site",
    [
        STILL,
        barred(429, is_last=True),
        barred(200, is_last=True, is_of_task=True, sign="bot wall: 'Just a moment...'"),
        barred(503, is_last=True, asked_again=f"{AT}/", again="status 503"),
        barred(is_of_task=True, asked_again=f"{AT}/wiki/Tea", again="status 403"),
    ],
    ids=["refused", "rate limit", "challenge", "the whole site", "refused before"],
)
def test_whom_a_site_let_in_no_more_has_not_failed(site: BarredSite) -> None:
    assert outcome(site) == "unscored: blocked"
    assert outcome(site, answer="yes") == "success"


@pytest.mark.parametrize(
    "site",
    [
        barred(is_last=True),
        barred(is_last=True, asked_again=f"{AT}/"),
        barred(is_of_task=True, is_last=True, asked_again=f"{AT}/wiki/Tea"),
        barred(429),
        barred(200, is_of_task=True, sign="bot wall: 'Just a moment...'"),
        barred(200, is_last=True, sign="bot wall: 'Just a moment...'"),
        STILL.model_copy(update={"pages_per_minute": 31}),
        barred(429, is_last=True, pages_per_minute=31),
    ],
    ids=[
        "a page that nobody needs",
        "a page that nobody needs, at a site that is open",
        "a wall that was gone again",
        "a rate limit that was over",
        "a challenge that was left",
        "a challenge on a page that nobody needs",
        "hammering",
        "hammering into a rate limit",
    ],
)
def test_what_an_agent_brought_about_or_could_have_gone_past_is_no_excuse(site: BarredSite) -> None:
    assert outcome(site) == "failure"


def test_the_reason_names_step_address_status_and_rule() -> None:
    because = scored(STILL).because
    assert because.startswith(
        f"the live site 'wiki' let the agent in no more: status 403 at {AT}/wiki/Tea (step 1);"
        f" at the end Arena asked for {AT}/wiki/Tea: status 403; check 'said': "
    )


def test_what_was_barred_from_a_check_excuses_that_check_alone() -> None:
    one = STILL.model_copy(update={"checks": ("said",)})
    both = STILL.model_copy(update={"checks": ("said", "shown")})
    assert outcome(one) == "failure"
    assert outcome(both) == "unscored: blocked"


def test_replicas_bar_nobody() -> None:
    assert str(scored(STILL, world=World.OFFLINE).outcome) == "failure"


def test_a_failure_at_open_sites_is_one() -> None:
    assert outcome() == "failure"
