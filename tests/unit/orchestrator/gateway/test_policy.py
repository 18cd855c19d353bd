""""""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import GatewayError, UsageError
from orchestrator.gateway.policy import Policy, Resolve, Route, SocketAddress

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


PORTS = st.integers(1, 65535)
HOSTS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?(\.[a-z]{2,5}){0,3}", fullmatch=True)
ADDRESSES = st.ip_addresses().map(str)


@given(HOSTS, PORTS, ADDRESSES, PORTS)
def test_what_is_written_is_read_back(host: str, port: int, to: str, at: int) -> None:
    resolve = Resolve(host, port, SocketAddress(to, at))

    assert Resolve.parse(str(resolve)) == resolve


@given(st.text(max_size=60) | st.from_regex(r"[a-z]{1,3}:[0-9]{1,6}:[0-9.:\[\]]{0,12}:[0-9]{1,6}"))
def test_nonsense_is_one_clear_line_or_a_resolve(text: str) -> None:
    try:
        complaint = ""
        resolve = Resolve.parse(text)
        assert ip_address(resolve.to.host) is not None
    except UsageError as error:
        complaint = error.message

    assert len(complaint.splitlines()) <= 1


def test_an_ipv6_address_stands_in_brackets() -> None:
    resolve = Resolve.parse("en.wikipedia.org:443:[::1]:8443")

    assert resolve == Resolve("en.wikipedia.org", 443, SocketAddress("::1", 8443))
    assert str(resolve.to) == "[::1]:8443"
    assert IPv6Address(resolve.to.host).is_loopback


def test_a_host_is_compared_without_case() -> None:
    assert Resolve.parse("En.Wikipedia.ORG:443:127.0.0.1:1").host == "en.wikipedia.org"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:443:127.0.0.1", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:0:127.0.0.1:1", "'0' is no port (1 to 65535)"),
        ("example.org:443:127.0.0.1:65536", "'65536' is no port (1 to 65535)"),
        ("example.org:443:127.0.0.1:٣", "'٣' is no port (1 to 65535)"),
        ("example.org:https:127.0.0.1:1", "'https' is no port (1 to 65535)"),
        ("example.org:443:localhost:1", "'localhost' is no IP address"),
        ("example.org:443:127.0.0.1:1:2", "'1:2' is no port"),
        ("example.org:443:::1:8443", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:443:[127.0.0.1]:1", "brackets are for IPv6 addresses"),
        ("exa mple.org:443:127.0.0.1:1", "'exa mple.org' is no host name"),
        ("http://example.org:443:127.0.0.1:1", "expected HOST:PORT:ADDR:PORT"),
    ],
)
def test_a_mistake_is_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        Resolve.parse(text)

    assert complaint in caught.value.message
