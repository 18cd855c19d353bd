""""""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.gateway.heads import (
    MAX_FIELDS,
    NO_BODY,
    BadMessageError,
    BodyKind,
    Field,
    Framing,
    absolute_target,
    authority_target,
    origin_target,
    parse_request,
    parse_response,
    write_head,
)
from orchestrator.gateway.policy import Route, SocketAddress

TOKENS = st.from_regex(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,12}", fullmatch=True)
VALUES = st.from_regex(
    rb"([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e])?)?", fullmatch=True
)
FIELDS = st.lists(
    st.tuples(TOKENS, VALUES).map(lambda pair: Field(pair[0].lower(), pair[0], pair[1])),
    max_size=8,
)
TARGETS = st.from_regex(rb"[\x21-\x7e]{1,40}", fullmatch=True)


@given(TOKENS, TARGETS, FIELDS)
def test_a_well_formed_request_is_read_back_as_written(
    method: bytes, target: bytes, fields: list[Field]
) -> None:
    line = b"%b %b HTTP/1.1" % (method, target)
    written = write_head(line, fields)

    head = parse_request(written.removesuffix(b"\r\n\r\n"))

    assert (head.method.encode(), head.target.encode()) == (method, target)
    assert list(head.fields) == fields
    assert write_head(line, head.fields) == written


@given(st.integers(100, 999), VALUES, FIELDS)
def test_a_well_formed_response_is_read_back_as_written(
    status: int, reason: bytes, fields: list[Field]
) -> None:
    written = write_head(b"HTTP/1.1 %d %b" % (status, reason), fields)

    head = parse_response(written.removesuffix(b"\r\n\r\n"))

    assert head.status == status
    assert write_head(b"HTTP/1.1 " + head.line, head.fields) == written


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_a_bad_message_and_nothing_else(data: bytes) -> None:
    try:
        status = 0
        parse_request(data).framing()
    except BadMessageError as bad:
        status = bad.status

    assert status in {400, 431, 501, 505} or b"\n" not in data.replace(b"\r\n", b"")


@given(FIELDS, st.sampled_from([b"\n", b"\r", b"\x00", b"\x0b", b"\x7f", b"\r\n "]))
def test_a_control_character_or_a_fold_in_a_value_is_refused(
    fields: list[Field], bad: bytes
) -> None:
    head = write_head(b"GET / HTTP/1.1", [*fields, Field(b"x", b"X", b"a" + bad + b"b")])

    with pytest.raises(BadMessageError):
        parse_request(head.removesuffix(b"\r\n\r\n"))


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("GET / HTTP/1.1\r\nHost : x", 400),
        ("GET / HTTP/1.1\r\n Host: x", 400),
        ("GET / HTTP/1.1\r\nHost", 400),
        ("GET / HTTP/1.1\r\n: x", 400),
        ("GET  / HTTP/1.1", 400),
        ("GET / HTTP/1.1 ", 400),
        ("GET /", 400),
        ("GET /ü HTTP/1.1", 400),
        ("\r\nGET / HTTP/1.1", 400),
        ("GET / HTTP/2.0", 505),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1, 1", 400),
        ("POST / HTTP/1.1\r\nContent-Length: +1", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 0x1", 400),
        ("POST / HTTP/1.1\r\nContent-Length:", 400),
        ("POST / HTTP/1.1\r\nContent-Length: " + "9" * 19, 400),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", 501),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
        ("GET / HTTP/1.1" + "\r\nA: b" * (MAX_FIELDS + 1), 431),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(lines: str, status: int) -> None:
    with pytest.raises(BadMessageError) as caught:
        parse_request(lines.encode()).framing()

    assert caught.value.status == status


def test_a_folded_field_is_called_by_its_name() -> None:
    with pytest.raises(BadMessageError, match="folded over two lines"):
        parse_request(b"GET / HTTP/1.1\r\nA: b\r\n c: d")


def test_a_requests_body_is_framed_as_it_says() -> None:
    assert parse_request(b"GET / HTTP/1.1").framing() == NO_BODY
    assert parse_request(b"POST / HTTP/1.1\r\nContent-Length: 0").framing() == NO_BODY
    assert parse_request(b"POST / HTTP/1.1\r\ncontent-length: 7").framing() == Framing(
        BodyKind.LENGTH, 7
    )
    assert parse_request(b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked").framing() == Framing(
        BodyKind.CHUNKED
    )


@pytest.mark.parametrize(
    ("head", "method", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5", "GET", BodyKind.LENGTH),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5", "HEAD", BodyKind.NONE),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5", "GET", BodyKind.NONE),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5", "GET", BodyKind.NONE),
        (b"HTTP/1.1 103 Early Hints", "GET", BodyKind.NONE),
        (b"HTTP/1.1 200\r\nTransfer-Encoding: chunked", "GET", BodyKind.CHUNKED),
        (b"HTTP/1.0 200 OK", "GET", BodyKind.UNTIL_CLOSE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0", "GET", BodyKind.NONE),
    ],
)
def test_a_responses_body_is_framed_by_status_method_and_fields(
    head: bytes, method: str, kind: BodyKind
) -> None:
    assert parse_response(head).framing(method).kind is kind


def test_fields_that_concern_one_connection_do_not_travel_on() -> None:
    head = parse_request(
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close, X-Mine, Host\r\nX-Mine: 1\r\n"
        b"X-Other: 2\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: secret"
    )

    assert [field.name for field in head.end_to_end()] == [b"Host", b"X-Other"]


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
    assert origin_target(request, SHOP.host, SHOP.port).url == "http://shop.arena.test/a"

    for line in (b"GET /a HTTP/1.1\r\nHost: evil.org", b"GET http://evil.org/ HTTP/1.1\r\nHost: x"):
        with pytest.raises(BadMessageError):
            origin_target(parse_request(line), SHOP.host, SHOP.port)
