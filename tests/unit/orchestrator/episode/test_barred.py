"""What a live site answers after an episode began: what is written down, and whom it excuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from support.worlds.fake_world import ATLAS, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Goto, Scroll, ScrollDirection, Stop
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.evidence import UrlVisit
from orchestrator.episode.barred import most_pages_per_minute
from orchestrator.episode.episode import Episode
from orchestrator.episode.external.steps import ExternalSteps
from orchestrator.gateway.live_limits import LiveUse
from sites.manifest import Live

AT = "https://en.wikipedia.org"
START, TEA, OTHER, FORBIDDEN = (f"{AT}/wiki/{name}" for name in ("Start", "Tea", "Urn", "Secret"))
TREE = '[1] heading "Just a moment..."\n[2] checkbox "Verify you are human"'
NODE: dict[str, Any] = {
    "name": "tea",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "wiki:/article/Tea"},
}
SAID: dict[str, Any] = {
    "name": "answer",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 1891},
}
PAGE: dict[str, Any] = {
    "name": "page",
    "when": "end",
    "locate": {"by": "page", "at": "wiki:/article/Tea", "selector": "h1"},
    "match": {"how": "exact", "value": "Tea"},
}


@dataclass
class Trip:
    """Where an agent goes, and what the sites answer then."""

    world: FakeWorld = field(default_factory=FakeWorld)
    answers: str = "no"
    where: World = World.ONLINE
    site: str = "wiki"
    also: str | None = None
    task: dict[str, Any] = field(default_factory=dict)
    changes_cookies: bool = False
    barred: tuple[BarredSite, ...] = ()

    async def takes(self, *stops: str | tuple[str, int]) -> str:
        """Visit pages, each answered with 200 or as said from then on; return the outcome."""
        start = self.task.pop("start", ["wiki:/article/Start"])
        sites = [self.site] if self.also is None else [self.site, self.also]
        given = {"sites": sites, "start": start, "checks": [NODE, SAID], **self.task}
        environment = self.world.environment(self.where, sites)
        async with Episode(attempt_at(browsing_task(**given)), environment) as episode:
            await episode.reset()
            if self.changes_cookies:
                steps = ExternalSteps(episode)
                steps.changes_cookies()
                await steps.close()
            for stop in stops:
                url, status = (stop, 200) if isinstance(stop, str) else stop
                self.world.statuses[url] = status
                await episode.step(Goto(url=url))
            await episode.step(Stop(answer=self.answers))
            outcome = str((await episode.score()).outcome)
            self.barred = episode.evidence().barred
        return outcome

    @property
    def asked(self) -> list[str]:
        """What Arena itself asked for again."""
        return [line.removeprefix("fetch ") for line in self.world.log if line.startswith("fetch ")]


@pytest.mark.parametrize("status", [401, 403, 429, 451, 502, 503, 504])
async def test_a_right_agent_that_is_shut_out_of_the_page_of_a_check_has_not_failed(
    status: int,
) -> None:
    trip = Trip()
    assert await trip.takes(OTHER, (TEA, status)) == "unscored: blocked"
    [site] = trip.barred
    assert (site.step, site.url, site.status) == (2, TEA, status)
    assert trip.asked == ([] if status == 429 else [TEA])


async def test_so_has_one_that_went_back_from_there_while_that_page_stays_shut() -> None:
    trip = Trip()
    assert await trip.takes((TEA, 403), OTHER) == "unscored: blocked"
    assert trip.asked == [TEA]


async def test_so_has_one_that_a_whole_site_shut_out() -> None:
    trip = Trip()
    trip.world.script["act"] = _then(trip.world, START, 403)
    assert await trip.takes(OTHER, (FORBIDDEN, 403)) == "unscored: blocked"
    assert trip.asked == [START]


async def test_a_success_stands_in_spite_of_a_wall() -> None:
    trip = Trip(answers="1891")
    assert await trip.takes(TEA, (FORBIDDEN, 429)) == "success"


@pytest.mark.parametrize("status", [403, 451, 503])
async def test_a_page_that_is_forbidden_to_everybody_is_no_way_out(status: int) -> None:
    trip = Trip()
    assert await trip.takes((FORBIDDEN, status)) == "failure"
    assert trip.asked == [START]


async def test_a_forbidden_page_that_was_left_is_not_even_asked_for_again() -> None:
    trip = Trip()
    assert await trip.takes((FORBIDDEN, 403), OTHER) == "failure"
    assert (trip.barred, trip.asked) == ((), [])


@pytest.mark.parametrize("status", [400, 404, 405, 410, 500])
async def test_a_wrong_address_is_the_agents_own(status: int) -> None:
    assert await Trip().takes((TEA, status)) == "failure"


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_wall_that_was_gone_again_excuses_nothing(status: int) -> None:
    trip = Trip()
    assert await trip.takes((TEA, status), OTHER, TEA) == "failure"
    assert trip.barred == ()


async def test_a_wall_that_was_gone_unnoticed_excuses_nothing() -> None:
    trip = Trip()
    trip.world.script["title"] = _then(trip.world, TEA, 200)  # it stops there
    assert await trip.takes((TEA, 403), OTHER) == "failure"
    assert trip.asked == [TEA]


async def test_a_rate_limit_that_was_over_excuses_nothing() -> None:
    trip = Trip()
    assert await trip.takes((OTHER, 429), START) == "failure"


@pytest.mark.parametrize("status", [403, 429])
async def test_a_wall_at_one_site_excuses_nothing_that_goes_wrong_at_another(status: int) -> None:
    live = ATLAS.site("shop").live
    assert live is not None
    trip = Trip(also="shop")
    assert await trip.takes((OTHER, status), f"{live.origin}/") == "failure"
    trip = Trip(also="shop")
    assert await trip.takes((TEA, status), f"{live.origin}/") == "unscored: blocked"
    assert trip.asked == [TEA]


@pytest.mark.parametrize("status", [401, 403])
async def test_an_agent_that_logs_itself_out_has_failed(status: int) -> None:
    assert await Trip().takes(f"{AT}/user/logout", (TEA, status)) == "failure"
    assert await Trip().takes(f"{AT}/w/index.php?title=x", (TEA, status)) == "unscored: blocked"


@pytest.mark.parametrize(
    ("ends", "is_out", "outcome"),
    [
        (True, True, "failure"),
        (False, True, "unscored: infra"),
        (False, False, "unscored: blocked"),
    ],
    ids=["it ended its login", "the site did", "still logged in"],
)
async def test_a_login_that_is_gone_is_the_sites_doing_or_the_agents(
    *, ends: bool, is_out: bool, outcome: str
) -> None:
    live = ATLAS.site("shop").live
    assert live is not None
    account, last = f"{live.origin}/account", live.roles["customer"].login.ends[-1]
    trip = Trip(world=FakeWorld(barred=is_out), site="shop", task={"checks": [SAID]})
    trip.task |= {"roles": {"shop": "customer"}, "start": ["shop:/account"]}
    if ends:
        trip.world.requested("GET", f"{live.origin}{last}", site="shop", live=True)
    assert await trip.takes(f"{live.origin}/", (account, 403)) == outcome


async def test_an_agent_that_may_write_may_have_shut_a_page_itself() -> None:
    assert await Trip(task={"live_writes": True}).takes((TEA, 403)) == "failure"
    assert await Trip(task={"live_writes": True}).takes((TEA, 429)) == "unscored: blocked"


@pytest.mark.parametrize("status", [403, 429])
async def test_an_agent_that_hammers_has_failed(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    live = ATLAS.site("wiki").live
    assert live is not None
    most = most_pages_per_minute(live)
    monkeypatch.setattr(LiveUse, "pages_per_minute", lambda *_: most + 1)
    trip = Trip()
    assert await trip.takes((TEA, status)) == "failure"
    assert [(one.pages_per_minute, one.most_per_minute) for one in trip.barred] == [
        (most + 1, most)
    ]
    monkeypatch.setattr(LiveUse, "pages_per_minute", lambda *_: most)
    assert await Trip().takes((TEA, status)) == "unscored: blocked"


@pytest.mark.parametrize(
    ("live", "most"),
    [
        ({}, 30),
        ({"requests_per_minute": 90}, 90),
        ({"pace_s": 5}, 13),
        ({"pace_s": 5, "requests_per_minute": 9}, 9),
    ],
)
def test_what_a_site_must_bear_is_what_its_manifest_says(live: dict[str, Any], most: int) -> None:
    assert most_pages_per_minute(Live.model_validate({"origin": AT, **live})) == most


async def test_replicas_bar_nobody() -> None:
    tea = "http://wiki.arena.test/content/wikipedia_en_all_maxi/A/Tea"
    trip = Trip(where=World.OFFLINE)
    assert await trip.takes((tea, 403)) == "failure"
    assert (trip.barred, trip.asked) == ((), [])


@pytest.mark.parametrize(("url", "outcome"), [(TEA, "unscored: blocked"), (OTHER, "failure")])
async def test_a_challenge_counts_where_the_task_has_a_page(url: str, outcome: str) -> None:
    trip = Trip(world=FakeWorld(title="Just a moment...", tree=TREE))
    assert await trip.takes(url) == outcome
    assert [one.sign for one in trip.barred] == (
        ["bot wall: 'Just a moment...'"] if url == TEA else []
    )


async def test_what_an_outside_program_may_have_written_into_a_page_is_no_challenge() -> None:
    world = FakeWorld(title="Just a moment...", tree=TREE, is_shared=True)
    assert await Trip(world=world).takes(TEA) == "failure"


async def test_what_an_outside_program_answers_itself_is_no_answer_of_the_site() -> None:
    trip = Trip()
    task = browsing_task(start=["wiki:/article/Start"], checks=[NODE, SAID])
    async with Episode(attempt_at(task), trip.world.environment(World.ONLINE)) as episode:
        await episode.reset()
        [session] = trip.world.sessions
        made_up = UrlVisit(tab=1, url=TEA, logical="wiki:/article/Tea", status=429, trusted=False)
        session.visits.append(made_up)
        await episode.step(Scroll(direction=ScrollDirection.DOWN))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "failure"


async def test_a_made_up_address_that_a_pattern_fits_is_no_page_of_the_task() -> None:
    pattern = {**NODE, "match": {"how": "include", "value": "wiki:/article/"}}
    assert await Trip(task={"checks": [pattern, SAID]}).takes((FORBIDDEN, 403)) == "failure"


@pytest.mark.parametrize("status", [401, 403])
async def test_an_agent_that_changed_its_cookies_may_have_shut_itself_out(status: int) -> None:
    shared, same = FakeWorld(is_shared=True), FakeWorld(is_shared=True)
    changed = Trip(world=shared, changes_cookies=True)
    assert await changed.takes((TEA, status)) == "failure"
    assert await Trip(world=same).takes((TEA, status)) == "unscored: blocked"


@pytest.mark.parametrize(
    ("said", "status", "outcome"),
    [
        ("1891", 403, "unscored: blocked"),
        ("no", 403, "failure"),
        ("1891", 404, "failure"),
    ],
    ids=["barred", "another check failed", "not there"],
)
async def test_a_check_that_was_shut_out_itself_decides_nothing(
    said: str, status: int, outcome: str
) -> None:
    trip = Trip(answers=said, task={"checks": [SAID, PAGE]})
    trip.world.statuses[TEA] = status
    assert await trip.takes(OTHER) == outcome


@pytest.mark.parametrize(("status", "outcome"), [(403, "failure"), (503, "unscored: blocked")])
async def test_a_page_behind_a_login_may_be_shut_to_a_check_by_who_logged_out(
    status: int, outcome: str
) -> None:
    live = ATLAS.site("shop").live
    assert live is not None
    account = {**PAGE, "locate": {**PAGE["locate"], "at": "shop:/account"}}
    task = {"checks": [account], "roles": {"shop": "customer"}, "start": ["shop:/"]}
    trip = Trip(site="shop", task=task)
    trip.world.statuses[f"{live.origin}/account"] = status
    assert await trip.takes(f"{live.origin}/bag/") == outcome


def _then(world: FakeWorld, url: str, status: int) -> Any:
    async def switch() -> None:
        world.statuses[url] = status

    return switch
