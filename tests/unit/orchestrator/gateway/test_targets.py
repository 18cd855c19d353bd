from __future__ import annotations

import pytest

from orchestrator.gateway import Route, SocketAddress
from orchestrator.gateway.heads import BadMessageError, parse_request
from orchestrator.gateway.targets import absolute_target, authority_target, origin_target

SHOP = Route(
    site="shop",
    live=False,
    host="shop.arena.test",
    port=80,
    connect_to=SocketAddress("127.0.0.1", 1),
)


@pytest.mark.parametrize(
    ("target", "host", "url"),
    [
        ("http://shop.arena.test/a?b=c", "shop.arena.test", "http://shop.arena.test/a?b=c"),
        ("HTTP://Shop.Arena.Test:80/", "shop.arena.test", "http://Shop.Arena.Test/"),
        ("http://shop.arena.test", "shop.arena.test:80", "http://shop.arena.test/"),
        ("http://shop.arena.test?q", "shop.arena.test", "http://shop.arena.test/?q"),
        ("http://x.org:8080/", "x.org:8080", "http://x.org:8080/"),
        ("http://[::1]:81/", "[::1]:81", "http://[::1]:81/"),
    ],
)
def test_an_absolute_target_is_read(target: str, host: str, url: str) -> None:
    request = parse_request(f"GET {target} HTTP/1.1\r\nHost: {host}".encode())

    assert absolute_target(request).url == url


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        ("/", "Host: shop.arena.test"),
        ("https://shop.arena.test/", "Host: shop.arena.test"),
        ("http://user@shop.arena.test/", "Host: shop.arena.test"),
        ("http://shop.arena.test\\@evil.org/", "Host: shop.arena.test"),
        ("http://shop.arena.test/#x", "Host: shop.arena.test"),
        ("http://shop.arena.test:/", "Host: shop.arena.test"),
        ("http://shop.arena.test/", "Host: evil.org"),
        ("http://shop.arena.test/", "Host: shop.arena.test:81"),
        ("http://shop.arena.test/", "Host: shop.arena.test\r\nHost: shop.arena.test"),
        ("http://shop.arena.test/", "Host: shop.arena.test, evil.org"),
        ("http://shop.arena.test/", "Accept: */*"),
    ],
)
def test_a_target_that_could_mean_another_host_is_refused(target: str, fields: str) -> None:
    with pytest.raises(BadMessageError):
        absolute_target(parse_request(f"GET {target} HTTP/1.1\r\n{fields}".encode()))


def test_connect_names_host_and_port() -> None:
    target = authority_target(parse_request(b"CONNECT en.wikipedia.org:443 HTTP/1.1"))

    assert (target.host, target.port) == ("en.wikipedia.org", 443)


@pytest.mark.parametrize(
    "target", ["en.wikipedia.org", "http://x:443", "x:443/", "u@x:443", ":443"]
)
def test_connect_to_anything_else_is_refused(target: str) -> None:
    with pytest.raises(BadMessageError):
        authority_target(parse_request(f"CONNECT {target} HTTP/1.1".encode()))


def test_a_request_inside_a_tunnel_may_only_name_the_tunnels_host() -> None:
    request = parse_request(b"GET /a HTTP/1.1\r\nHost: shop.arena.test")
    assert origin_target(request, SHOP).url == "http://shop.arena.test/a"

    for line in (b"GET /a HTTP/1.1\r\nHost: evil.org", b"GET http://evil.org/ HTTP/1.1\r\nHost: x"):
        with pytest.raises(BadMessageError):
            origin_target(parse_request(line), SHOP)
