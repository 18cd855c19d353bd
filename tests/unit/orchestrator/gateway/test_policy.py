from __future__ import annotations

import pytest

from arena_core.errors import GatewayError
from orchestrator.gateway import Policy, Resolve, Route, SocketAddress

SHOP = Route(
    site="shop",
    live=False,
    host="shop.arena.test",
    port=80,
    connect_to=SocketAddress("127.0.0.1", 9000),
)
WIKI = Route(site="wiki", live=True, host="en.wikipedia.org", port=443, connect_to=None)


def test_a_host_is_found_in_any_case_and_by_its_port_only() -> None:
    policy = Policy((SHOP, WIKI))

    assert policy.lookup("Shop.Arena.Test", 80) is SHOP
    assert policy.lookup("shop.arena.test", 443) is None
    assert policy.lookup("shop.arena.test.evil.org", 80) is None


def test_a_refusal_tells_a_strange_host_from_a_wrong_port() -> None:
    policy = Policy((SHOP, WIKI))

    assert policy.why_refused("evil.org", 80) == "evil.org is not a site of this task"
    assert "not on port 443 (only on 80)" in policy.why_refused("shop.arena.test", 443)


def test_a_live_host_is_its_own_address_until_a_resolve_says_otherwise() -> None:
    policy = Policy((SHOP, WIKI))
    elsewhere = policy.resolved([Resolve.parse("en.wikipedia.org:443:127.0.0.1:8443")])
    found = elsewhere.lookup("en.wikipedia.org", 443)

    assert WIKI.address == SocketAddress("en.wikipedia.org", 443)
    assert found is not None
    assert found.address == SocketAddress("127.0.0.1", 8443)


def test_a_resolve_never_moves_a_replica() -> None:
    policy = Policy((SHOP,)).resolved([Resolve.parse("shop.arena.test:80:127.0.0.1:1")])

    assert policy.lookup("shop.arena.test", 80) == SHOP


def test_two_routes_for_one_host_are_refused() -> None:
    with pytest.raises(GatewayError, match=r"two routes for shop\.arena\.test:80"):
        Policy((SHOP, SHOP))


def test_a_replica_without_an_address_is_refused() -> None:
    with pytest.raises(GatewayError, match="has no address"):
        Policy((Route(site="shop", live=False, host="shop.arena.test", port=80, connect_to=None),))


def test_an_origin_names_its_port_only_where_the_scheme_does_not_imply_it() -> None:
    odd = Route(site="x", live=True, host="x.org", port=8080, connect_to=None)

    assert [route.origin for route in (SHOP, WIKI, odd)] == [
        "http://shop.arena.test",
        "https://en.wikipedia.org",
        "http://x.org:8080",
    ]
