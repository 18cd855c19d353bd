"""A write that only the gateway saw is a request of the episode too."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest
from support.runs.make_evidence import make_check, make_evidence, make_step

from arena_core.errors import GatewayError
from arena_core.worlds import World
from evaluators.evidence import RequestNote, StepEvidence
from evaluators.network import RequestRecord
from evaluators.verdicts import CheckStatus, verdicts
from orchestrator.browser.session.network import NetworkRecord
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.traffic import policy_for, read_only_origins, with_unseen
from orchestrator.gateway.journal import Exchange
from orchestrator.gateway.policy import Resolve, Route, SocketAddress
from sites.manifest import Site
from sites.registry import SiteRegistry
from tasks.schema import Task


class Standing:
    """A replica, as far as routing looks at one: where it listens."""

    def __init__(self, port: int) -> None:
        self.endpoint = SocketAddress("127.0.0.1", port)


def site(name: str, **more: object) -> Site:
    return Site.model_validate(
        {
            "name": name,
            "title": name,
            "summary": "a site",
            "host": f"{name}.arena.test",
            "stateful": False,
            "image": {"tag": f"arena/{name}:1", "published": f"registry.test/{name}:1"},
            "port": 8000,
            "health": {"path": "/", "contains": "x"},
            "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
            **more,
        }
    )


MEMBER = {
    "username": "anna",
    "password": "a-secret-of-anna",
    "login": {"path": "/login", "fields": {"user": "{username}"}},
    "proof": {"path": "/me", "contains": "anna"},
}
ATLAS = SiteRegistry(
    {
        "shop": site(
            "shop",
            live={
                "origin": "https://www.shop.example",
                "pace_s": 2,
                "roles": {"buyer": {**MEMBER, "username": "live-anna"}},
                "staged": {
                    "image": {"tag": "arena/x:1", "published": "registry.test/x:1"},
                    "port": 443,
                    "health": {"path": "/", "contains": "x"},
                },
            },
            roles={"buyer": MEMBER},
        ),
        "forum": site("forum", roles={"member": MEMBER}),
        "home": site("home", episode_info=True),
    }
)


def environment(world: World, *, staged: bool = False, **more: Any) -> EpisodeEnvironment:
    nobody: Any = None
    more = {"replicas": {}, **more}
    return EpisodeEnvironment(
        registry=ATLAS,
        upstreams=ATLAS.upstreams(ATLAS.sites, world, staged=staged),
        browser=nobody,
        accounts=nobody,
        database=nobody,
        api=nobody,
        lease=nobody,
        **more,
    )


def task(*sites: str, live_writes: bool = False, roles: dict[str, str] | None = None) -> Task:
    return Task.model_validate(
        {
            "id": "t",
            "family": "information",
            "intent": "Find something out.",
            "sites": sites,
            "start": [f"{sites[0]}:/"],
            "live_writes": live_writes,
            "roles": roles or {},
            "checks": [
                {
                    "name": "c",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "number", "value": 1},
                }
            ],
            "reference": [{"do": "stop"}],
        }
    )


REPLICAS = {"shop": Standing(4001), "forum": Standing(4002), "home": Standing(4003)}


def routes(wanted: Task, on: EpisodeEnvironment) -> dict[str, Route]:
    return {route.site: route for route in policy_for(wanted, on).routes}


def test_offline_a_site_is_its_replica_and_may_be_written_to() -> None:
    found = routes(task("shop", "forum"), environment(World.OFFLINE, replicas=REPLICAS))
    assert [(one.host, one.port, one.connect_to) for one in found.values()] == [
        ("shop.arena.test", 80, SocketAddress("127.0.0.1", 4001)),
        ("forum.arena.test", 80, SocketAddress("127.0.0.1", 4002)),
    ]
    assert not any(one.live or one.read_only or one.pace_s for one in found.values())
    assert (
        read_only_origins(task("shop"), environment(World.OFFLINE, replicas=REPLICAS))
        == frozenset()
    )


def test_a_site_that_the_task_does_not_visit_has_no_route() -> None:
    assert set(routes(task("shop"), environment(World.OFFLINE, replicas=REPLICAS))) == {"shop"}


def test_online_a_site_is_its_live_origin_read_only_and_paced() -> None:
    on = environment(World.ONLINE, replicas=REPLICAS)
    shop = routes(task("shop", "forum"), on)["shop"]
    assert (shop.live, shop.host, shop.port, shop.connect_to) == (
        True,
        "www.shop.example",
        443,
        None,
    )
    assert (shop.read_only, shop.pace_s) == (True, 2.0)
    assert read_only_origins(task("shop", "forum"), on) == {"https://www.shop.example"}


def test_online_a_site_without_a_live_origin_is_still_its_replica() -> None:
    forum = routes(task("shop", "forum"), environment(World.ONLINE, replicas=REPLICAS))["forum"]
    assert (forum.live, forum.connect_to) == (False, SocketAddress("127.0.0.1", 4002))


def test_a_task_that_may_write_live_is_not_held_to_reading() -> None:
    on = environment(World.ONLINE)
    assert routes(task("shop", live_writes=True), on)["shop"].read_only is False
    assert read_only_origins(task("shop", live_writes=True), on) == frozenset()


def test_a_staged_origin_is_found_where_it_stands_and_needs_no_sparing() -> None:
    to = Resolve.parse("www.shop.example:443:127.0.0.1:8443")
    shop = routes(task("shop"), environment(World.ONLINE, resolves=(to,), staged=True))["shop"]
    assert shop.connect_to == SocketAddress("127.0.0.1", 8443)
    assert (shop.live, shop.read_only, shop.pace_s) == (True, True, 0.0)


@pytest.mark.parametrize(("world", "name"), [(World.ONLINE, "forum"), (World.OFFLINE, "shop")])
def test_a_replica_that_is_not_there_is_never_sought_on_the_web(world: World, name: str) -> None:
    with pytest.raises(GatewayError, match=f"site '{name}': a replica answers for it"):
        policy_for(task(name), environment(world))


def test_whoever_is_logged_in_at_the_live_origin_has_the_name_of_there() -> None:
    wanted = task("home", "shop", roles={"shop": "buyer"})
    for world, name in ((World.OFFLINE, "anna"), (World.ONLINE, "live-anna")):
        accounts = episode_info(world, wanted)["accounts"]
        assert accounts == [{"site": "shop", "username": name}]


def test_only_a_start_page_is_told_of_the_episode() -> None:
    found = routes(task("shop", "home"), environment(World.OFFLINE, replicas=REPLICAS))
    assert found["shop"].episode_info is None
    assert found["home"].episode_info is not None


def episode_info(world: World, wanted: Task | None = None) -> Any:
    wanted = wanted or task("home", "shop", "forum", roles={"forum": "member"})
    header = routes(wanted, environment(world, replicas=REPLICAS))["home"].episode_info
    assert header is not None
    return json.loads(b64decode(header))


def test_a_start_page_lists_the_other_sites_where_the_agent_finds_them() -> None:
    offline, online = episode_info(World.OFFLINE)["sites"], episode_info(World.ONLINE)["sites"]
    assert [(one["name"], one["url"]) for one in offline] == [
        ("shop", "http://shop.arena.test/"),
        ("forum", "http://forum.arena.test/"),
    ]
    assert [one["url"] for one in online] == [
        "https://www.shop.example/",
        "http://forum.arena.test/",
    ]


def test_a_start_page_names_who_is_logged_in_and_tells_no_password() -> None:
    document = episode_info(World.OFFLINE)
    assert document["accounts"] == [{"site": "forum", "username": "anna"}]
    assert "a-secret-of-anna" not in json.dumps(document)


URL = "http://shop/cart?token=s3cr3t"


def exchange(url: str = URL, *, status: int = 200, refused: str | None = None) -> Exchange:
    return Exchange(
        method="POST",
        url=url,
        site="shop",
        live=False,
        may_write=refused is None,
        refused=refused,
        failed=None,
        tunnelled=False,
        status=status,
        started=0.0,
        ms=1.0,
    )


def step(index: int, *exchanges: Exchange) -> StepEvidence:
    notes = tuple(
        RequestNote(
            method=one.method,
            url=one.url,
            site=one.site,
            may_write=one.may_write,
            refused=one.refused,
        )
        for one in exchanges
    )
    return make_step(index).model_copy(update={"notes": notes})


def status(found: NetworkRecord, value: str, **more: Any) -> CheckStatus:
    check = make_check({"by": "network", "url": "shop:/cart", "method": "POST", **more}, value)
    evidence = make_evidence().model_copy(update={"network": found.requests})
    [verdict] = verdicts((check,), evidence)
    return verdict.status


def logical(url: str) -> str:
    return url.replace("http://shop", "shop:")


def test_a_write_that_the_browser_did_not_report_is_found_and_says_nothing_more() -> None:
    reported = RequestRecord(
        index=0,
        step=1,
        method="POST",
        url="http://shop/cart?token=x",
        logical="shop:/cart",
        status=200,
    )
    seen, unseen = exchange(), exchange(status=201)
    steps = [step(1, seen), step(2, unseen, exchange(refused="no"))]
    network = NetworkRecord(requests=(reported,))
    whole = with_unseen(network, steps, [seen, unseen], logical)
    assert [(one.step, one.status, one.is_whole) for one in whole.requests] == [
        (1, 200, True),
        (2, 201, False),
    ]
    assert "s3cr3t" not in str(whole.requests[1])
    assert status(network, "1") is CheckStatus.MET
    assert status(whole, "2") is CheckStatus.MET
    assert status(whole, "0", status=404) is CheckStatus.MET
    for told in ({"body": {"a": "1"}}, {"query": {"a": "1"}}, {"headers": {"a": "1"}}):
        assert status(whole, "0", **told) is CheckStatus.UNKNOWN


def test_what_the_browser_reported_is_not_told_twice() -> None:
    sent = RequestRecord(index=0, step=1, method="POST", url=URL, logical="shop:/cart", status=200)
    network = NetworkRecord(requests=(sent,))
    assert with_unseen(network, [step(1, exchange())], [exchange()], logical) == network
