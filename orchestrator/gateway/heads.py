"""HTTP/1.1 message heads, read strictly: what two parsers could read in two ways is refused.

RFC 9112 leaves a proxy room to repair messages; this one repairs none. A message with both
Content-Length and Transfer-Encoding, a folded line, a bare LF or a space before a colon is an
error, so nothing can be smuggled past it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

MAX_HEAD_BYTES = 64 * 1024
MAX_FIELDS = 256

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_NAME = re.compile(_TOKEN)
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([\x21-\x7e]+) HTTP/1\.([01])")
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LENGTH = re.compile(rb"[0-9]{1,18}")

# RFC 9110, 7.6.1: what concerns one connection only.
HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


class BadMessageError(Exception):
    """A message that is not HTTP/1.1 as it should be; `status` is what the client gets."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Field(NamedTuple):
    """One header field: its name in lower case, its name as sent, its value."""

    key: bytes
    name: bytes
    value: bytes


class BodyKind(Enum):
    """How the end of a body is found."""

    NONE = auto()
    LENGTH = auto()
    CHUNKED = auto()
    UNTIL_CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Framing:
    """How a body is delimited; `length` in bytes where its kind is LENGTH."""

    kind: BodyKind
    length: int = 0


NO_BODY = Framing(BodyKind.NONE)


@dataclass(frozen=True, slots=True)
class Head:
    """What a request's and a response's head have in common."""

    minor: int
    fields: tuple[Field, ...]

    def values(self, key: bytes) -> list[bytes]:
        return [field.value for field in self.fields if field.key == key]

    def tokens(self, key: bytes) -> frozenset[bytes]:
        return frozenset(
            token.strip().lower() for value in self.values(key) for token in value.split(b",")
        )

    def end_to_end(self) -> list[Field]:
        """Return the fields that travel on: all but hop-by-hop ones and those Connection names."""
        # Host and framing are never dropped on a peer's word, or Connection could unmake them.
        named = self.tokens(b"connection") - {b"host", b"content-length"}
        dropped = HOP_BY_HOP | named
        return [field for field in self.fields if field.key not in dropped]

    def _declared(self) -> Framing | None:
        encodings = self.values(b"transfer-encoding")
        lengths = self.values(b"content-length")
        if encodings:
            if lengths:
                raise BadMessageError("both Content-Length and Transfer-Encoding")
            if self.minor == 0:
                raise BadMessageError("Transfer-Encoding in HTTP/1.0")
            if len(encodings) > 1 or encodings[0].lower() != b"chunked":
                raise BadMessageError("a Transfer-Encoding other than chunked", 501)
            return Framing(BodyKind.CHUNKED)
        if not lengths:
            return None
        if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
            raise BadMessageError("Content-Length is not one number")
        length = int(lengths[0])
        return Framing(BodyKind.LENGTH, length) if length else NO_BODY


@dataclass(frozen=True, slots=True)
class RequestHead(Head):
    """A request line and its fields."""

    method: str
    target: str

    def framing(self) -> Framing:
        return self._declared() or NO_BODY

    @property
    def keeps_alive(self) -> bool:
        """Whether the client wants to send another request on this connection."""
        closes = self.tokens(b"connection") | self.tokens(b"proxy-connection")
        return self.minor == 1 and b"close" not in closes

    @property
    def is_websocket(self) -> bool:
        """Whether this asks to speak WebSocket on (RFC 6455, 4.1)."""
        return (
            self.method == "GET"
            and self.minor == 1
            and b"upgrade" in self.tokens(b"connection")
            and self.tokens(b"upgrade") == {b"websocket"}
        )


@dataclass(frozen=True, slots=True)
class ResponseHead(Head):
    """A status line (kept as sent, without the version) and its fields."""

    status: int
    line: bytes

    def framing(self, method: str) -> Framing:
        declared = self._declared()
        if method == "HEAD" or self.is_interim or self.status in {204, 304}:
            return NO_BODY
        return declared if declared is not None else Framing(BodyKind.UNTIL_CLOSE)

    @property
    def is_interim(self) -> bool:
        """Whether another response to the same request follows (1xx)."""
        return self.status < 200  # noqa: PLR2004

    @property
    def keeps_alive(self) -> bool:
        """Whether the server takes another request on this connection."""
        tokens = self.tokens(b"connection")
        return b"close" not in tokens and (self.minor == 1 or b"keep-alive" in tokens)


def parse_request(head: bytes) -> RequestHead:
    line, fields = _parse(head)
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        message = "the request line is malformed"
        raise BadMessageError(message, 505 if re.search(rb" HTTP/[2-9]", line) else 400)
    method, target, minor = found.groups()
    return RequestHead(int(minor), fields, method.decode(), target.decode())


def parse_response(head: bytes) -> ResponseHead:
    line, fields = _parse(head)
    found = _STATUS_LINE.fullmatch(line)
    if found is None:
        raise BadMessageError("the status line is malformed")
    return ResponseHead(int(found[1]), fields, int(found[2]), line[len(b"HTTP/1.x ") :])


def write_head(first_line: bytes, fields: Iterable[Field]) -> bytes:
    """Return the bytes of a head with the empty line that ends it."""
    lines = [first_line, *(b"%b: %b" % (name, value) for _, name, value in fields), b"", b""]
    return b"\r\n".join(lines)


def _parse(head: bytes) -> tuple[bytes, tuple[Field, ...]]:
    first, *lines = head.split(b"\r\n")
    if len(lines) > MAX_FIELDS:
        raise BadMessageError(f"more than {MAX_FIELDS} header fields", 431)
    return first, tuple(map(parse_field, lines))


def parse_field(line: bytes) -> Field:
    """Read one header field or trailer, without its CRLF."""
    if line[:1] in {b" ", b"\t"}:
        raise BadMessageError("a header field is folded over two lines")
    name, colon, value = line.partition(b":")
    if not colon or not _NAME.fullmatch(name) or _FORBIDDEN.search(value):
        raise BadMessageError("a header field is malformed")
    return Field(name.lower(), name, value.strip(b" \t"))


_CLOSE = Field(b"connection", b"Connection", b"close")
_EPISODE_KEY = b"x-arena-episode"
_CHUNKED = Field(b"transfer-encoding", b"Transfer-Encoding", b"chunked")


def request_head(request: RequestHead, path: str, *, episode_info: str | None = None) -> bytes:
    """Return a request's head for its upstream; the request's framing has been checked.

    Args:
        episode_info: what its site gets to know of the episode, if anything.
    """
    passes = set(request.end_to_end())
    fields = (
        field if field in passes else _renewed(field, is_websocket=request.is_websocket)
        for field in request.fields
    )
    line = f"{request.method} {path} HTTP/1.1".encode()
    kept = [field for field in fields if field is not None]
    if episode_info is not None:
        kept = [field for field in kept if field.key != _EPISODE_KEY]
        kept.append(Field(_EPISODE_KEY, b"X-Arena-Episode", episode_info.encode("ascii")))
    return write_head(line, kept)


def response_head(response: ResponseHead, *, chunked: bool, closes: bool) -> bytes:
    """Return a response's head for the client: interim ones too."""
    fields = response.end_to_end()
    if chunked:
        fields.append(_CHUNKED)
    if closes:
        fields.append(_CLOSE)
    return write_head(b"HTTP/1.1 " + response.line, fields)


def switching_head(response: ResponseHead) -> bytes:
    """Return the head of a 101 that answers a request for WebSocket."""
    passes = set(response.end_to_end())
    return write_head(
        b"HTTP/1.1 " + response.line,
        (f for f in response.fields if f in passes or f.key in {b"connection", b"upgrade"}),
    )


def _renewed(field: Field, *, is_websocket: bool) -> Field | None:
    """Return what a hop-by-hop field of the client becomes on the way to the upstream."""
    match field.key:
        case b"transfer-encoding":
            return field
        case b"connection" | b"upgrade" if is_websocket:
            return field
        case b"connection" | b"proxy-connection" if field.value.lower() == b"keep-alive":
            return Field(b"connection", b"Connection", field.value)
        case _:
            return None


_HOST_PATTERN = r"(?P<host>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])"
_ABSOLUTE = re.compile(
    rf"(?:http|ws)://{_HOST_PATTERN}(?::(?P<port>[0-9]{{1,5}}))?(?P<rest>[/?][^#]*)?", re.IGNORECASE
)
_AUTHORITY = re.compile(rf"{_HOST_PATTERN}:(?P<port>[0-9]{{1,5}})")
_FIELD = re.compile(rf"{_HOST_PATTERN}(?::(?P<port>[0-9]{{1,5}}))?")
_HTTP_PORT = 80
_HTTPS_PORT = 443


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """A host (as the client wrote it), a port, and a path with query in origin form.

    `secure` is what came inside TLS that the gateway ended.
    """

    host: str
    port: int
    path: str
    secure: bool = False

    @property
    def usual_port(self) -> int:
        return _HTTPS_PORT if self.secure else _HTTP_PORT

    @property
    def url(self) -> str:
        port = "" if self.port == self.usual_port else f":{self.port}"
        return f"http{'s' * self.secure}://{self.host}{port}{self.path}"


def absolute_target(request: RequestHead) -> RequestTarget:
    """Read `http://host:port/path` and hold it against the Host field."""
    found = _ABSOLUTE.fullmatch(request.target)
    if found is None:
        raise BadMessageError("the request's target is no http:// URL (this is a forward proxy)")
    rest = found["rest"] or ""
    path = rest if rest.startswith("/") else f"/{rest}"
    target = RequestTarget(found["host"], int(found["port"] or _HTTP_PORT), path)
    _check_host(request, target)
    return target


def origin_target(
    request: RequestHead, host: str, port: int, *, secure: bool = False
) -> RequestTarget:
    """Read `/path` of a request that came through a tunnel to a host and port."""
    if not request.target.startswith("/") or "#" in request.target:
        raise BadMessageError("the request's target is no path (it came through a tunnel)")
    target = RequestTarget(host, port, request.target, secure)
    _check_host(request, target)
    return target


def authority_target(request: RequestHead) -> RequestTarget:
    found = _AUTHORITY.fullmatch(request.target)
    if found is None:
        raise BadMessageError("CONNECT needs host:port")
    return RequestTarget(found["host"], int(found["port"]), "")


def _check_host(request: RequestHead, target: RequestTarget) -> None:
    hosts = request.values(b"host")
    found = _FIELD.fullmatch(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
    if found is None:
        raise BadMessageError("there is not exactly one valid Host field")
    if (found["host"].lower(), int(found["port"] or target.usual_port)) != (
        target.host.lower(),
        target.port,
    ):
        raise BadMessageError("the Host field and the request's target name different hosts")
