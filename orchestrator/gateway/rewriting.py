"""Heads as they leave the gateway: nothing added that an application could see.

A request leaves exactly as a browser without a proxy would have sent it: Chromium's
`Proxy-Connection: keep-alive` becomes, in its place, the `Connection: keep-alive` it stands for. No
Via and no Forwarded field is added, although RFC 9110, 7.6.3 asks for Via: a site that sees it may
behave differently, which is what Arena measures. The one exception is a site that gets to know the
episode: it gets `X-Arena-Episode`, and never one that the browser made up.
"""

from __future__ import annotations

from orchestrator.gateway.heads import Field, RequestHead, ResponseHead, write_head

_CLOSE = Field(b"connection", b"Connection", b"close")
_EPISODE_KEY = b"x-arena-episode"
_CHUNKED = Field(b"transfer-encoding", b"Transfer-Encoding", b"chunked")


def request_head(request: RequestHead, path: str, *, episode_info: str | None = None) -> bytes:
    """Return a request's head for its upstream; the request's framing has been checked.

    Args:
        request: as it came.
        path: its target in origin form.
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
