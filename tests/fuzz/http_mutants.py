"""Changes of HTTP/1.1 messages where parsers are known to part: lines, their ends, framing."""

from __future__ import annotations

import re
from random import Random
from typing import Final

_HOST: Final = b"Host: shop.arena.test\r\n"
_TO_SHOP: Final = b" http://shop.arena.test/a?b=c HTTP/1.1\r\n" + _HOST
_GET: Final = b"GET" + _TO_SHOP + b"Accept: text/html\r\nProxy-Connection: keep-alive\r\n\r\n"
_POST: Final = b"POST" + _TO_SHOP + b"Content-Length: 11\r\n\r\nname=kettle"
_CHUNKED: Final = (
    b"PUT" + _TO_SHOP + b"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
    b"4\r\nname\r\n7;a=b\r\n=kettle\r\n0\r\nX-Sum: 1\r\n\r\n"
)
_UPGRADE: Final = b"GET" + _TO_SHOP + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
_TUNNEL: Final = (
    b"CONNECT shop.arena.test:80 HTTP/1.1\r\nHost: shop.arena.test:80\r\n\r\n"
    b"GET /in HTTP/1.1\r\n" + _HOST + b"\r\n"
)
_EXPECTING: Final = b"POST" + _TO_SHOP + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\na"
_OLD: Final = b"HEAD http://shop.arena.test/ HTTP/1.0\r\n" + _HOST + b"Connection: close\r\n\r\n"

REQUESTS: Final = (
    *(_GET, _POST, _CHUNKED, _UPGRADE, _TUNNEL, _EXPECTING, _OLD),
    *(_GET + _POST + _GET, _CHUNKED + _GET, _POST + _CHUNKED + _GET),
)
RESPONSES: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nkettle",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nkettle\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nkettle",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\nETag: a\r\n\r\n",
    b"HTTP/1.0 404 Not Found\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\ngone",
)
_LINES: Final = (
    *(b"Content-Length: 11", b"Content-Length: 0", b"Content-Length: 4, 4", b"Content-Length: +4"),
    *(b"content-length:4", b"Content-Length : 4", b"Content-Length: 0x4", b"Content-Length: 4 4"),
    *(b"Content-Length: " + b"9" * 19, b"Content-Length: " + b"0" * 30 + b"4", b"Content-Length:"),
    *(
        b"Content-Length: -1",
        b"Content-Length: \xb2",
        b"Content-Length: 1_0",
        b"\x00Content-Length: 4",
    ),
    *(
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding:\tchunked\t",
        b"Transfer-Encoding: CHUNKED",
    ),
    *(
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding:",
    ),
    *(
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: x\x0bchunked",
        b"Transfer-Encoding\t: chunked",
    ),
    *(
        b"Transfer-Encoding: chunked;q=1",
        b"transfer_encoding: chunked",
        b" Transfer-Encoding: chunked",
    ),
    *(
        b"Transfer-Encoding: ,chunked",
        b"Transfer-Encoding: chunked,",
        b"Transfer-Encoding: \xffchunked",
    ),
    *(
        b"Connection: close",
        b"Connection: keep-alive, Content-Length",
        b"Connection: Transfer-Encoding",
    ),
    *(
        b"Connection: host",
        b"Connection: upgrade",
        b"Upgrade: websocket",
        b"Upgrade: h2c",
        b"TE: trailers",
    ),
    *(
        b"Host: other.arena.test",
        b"Host:",
        b"Host: shop.arena.test:80",
        b"Host: shop.arena.test:99999",
    ),
    *(
        b"host: shop.arena.test",
        b"Host: shop.arena.test, other.arena.test",
        b"Host: [::1",
        b"Host: a@b",
    ),
    *(
        b"Expect: 100-continue",
        b"Trailer: Content-Length",
        b"X-Arena-Episode: 7",
        b"X-Arena-Recorded: k",
    ),
    *(
        b"X: a\x01b",
        b"X: \x7f",
        b"X: \xc3\xa9",
        b"X",
        b": x",
        b"X Y: z",
        b"X: y\r\n z",
        b"",
        b" ",
        b"\t",
    ),
    *(
        b"0",
        b"00000",
        b"4",
        b'4;a="b"',
        b"4 ;a",
        b"4;",
        b"-4",
        b"+4",
        b"0x4",
        b"f" * 16,
        b"4\x00",
        b"g",
    ),
    *(b"4;\x01", b"4;a\nb", b" 4", b"4 ", b"name", b"GET /smuggled HTTP/1.1", b"X: " + b"y" * 5000),
)
_FIRST_LINES: Final = (
    *(
        b"GET / HTTP/1.1",
        b"GET http://shop.arena.test HTTP/1.1",
        b"GET * HTTP/1.1",
        b"get / HTTP/1.1",
    ),
    *(b"POST http://shop.arena.test:80/ HTTP/1.1", b"POST http://shop.arena.test:99999/ HTTP/1.1"),
    *(b"POST http://other.arena.test/ HTTP/1.1", b"POST http://shop.arena.test/# HTTP/1.1"),
    *(b"POST https://shop.arena.test/ HTTP/1.1", b"POST http://a:b@shop.arena.test/ HTTP/1.1"),
    *(b"POST http://[::1]/ HTTP/1.1", b"POST http://[:::::]:0/ HTTP/1.1", b"POST / HTTP/1.0"),
    *(b"POST  / HTTP/1.1", b"POST / HTTP/1.1 ", b"POST / HTTP/2.0", b"POST / HTTP/1.2", b"POST /"),
    *(
        b"POST / http/1.1",
        b"POST /a b HTTP/1.1",
        b"POST\t/ HTTP/1.1",
        b"P\xe4ST / HTTP/1.1",
        b"PRI * HTTP/2.0",
    ),
    *(
        b"CONNECT shop.arena.test:80 HTTP/1.1",
        b"CONNECT shop.arena.test HTTP/1.1",
        b"CONNECT [::1]:80 HTTP/1.1",
    ),
    *(
        b"CONNECT shop.arena.test:443 HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"TRACE http://shop.arena.test/ HTTP/1.1",
    ),
    *(
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200",
        b"HTTP/1.1 101 Switching Protocols",
        b"HTTP/1.1 103 Early",
    ),
    *(
        b"HTTP/1.1 204 No Content",
        b"HTTP/1.1 304 x",
        b"HTTP/1.0 200 OK",
        b"HTTP/2.0 200 OK",
        b"HTTP/1.1 099 x",
    ),
    *(
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1  200 OK",
        b"HTTP/1.1 200 a\x01",
        b"ICY 200 OK",
        b"HTTP/1.1 \xb2\xb2\xb2 x",
    ),
)
_ENDS: Final = (
    b"\n",
    b"\r",
    b"\r\r\n",
    b"\n\r\n",
    b"\r\n\r\n",
    b"",
    b"\r\n ",
    b"\x0b\r\n",
    b"\x85",
)
_BITS: Final = (
    *(
        b"\r",
        b"\n",
        b"\r\n",
        b"\x00",
        b" ",
        b"\t",
        b":",
        b";",
        b",",
        b"0",
        b"9",
        b"\xff",
        b"\x0b",
        b"%",
        b"#",
    ),
)
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")


def in_messages(data: bytes, dice: Random) -> bytes:
    """Change a line, its end, a few bytes, or what stands before or behind the messages."""
    lines = _LINE.findall(data) or [b"\r\n"]
    at = dice.randrange(len(lines))
    match dice.randrange(9):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[dice.randrange(len(lines))])
        case 2 | 3:
            lines.insert(at, dice.choice(_LINES) + b"\r\n")
        case 4:
            lines[at] = dice.choice(_LINES) + b"\r\n"
        case 5:
            lines[at] = lines[at].rstrip(b"\r\n") + dice.choice(_ENDS)
        case 6:
            lines[0] = dice.choice(_FIRST_LINES) + b"\r\n"
        case 7:
            lines.insert(dice.choice((0, len(lines))), dice.choice(REQUESTS))
        case _:
            line, cut = lines[at], dice.randrange(len(lines[at]) + 1)
            lines[at] = line[:cut] + dice.choice(_BITS) + line[cut + dice.randrange(2) :]
    return b"".join(lines)
