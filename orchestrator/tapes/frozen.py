"""Documents whose clock begins when they were recorded, and whose chance is always the same."""

from __future__ import annotations

import zlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from orchestrator.gateway.documents import is_document, with_script
from orchestrator.gateway.heads import Field, ResponseHead
from orchestrator.tapes.exchange import TapedExchange

# The clock runs on: a page that waits until some time has passed waits that long.
_SCRIPT: Final = (
    "(()=>{const D=Date,P=performance,b=P.now(),now=()=>Math.floor(TIME+P.now()-b);"
    "let s=SEED;window.Date=new Proxy(D,{"
    "construct:(d,a,n)=>Reflect.construct(d,a.length?a:[now()],n),"
    "apply:()=>new D(now()).toString(),"
    "get:(d,k)=>k==='now'?now:Reflect.get(d,k)});"
    "D.prototype.constructor=window.Date;"
    "Math.random=()=>(s=(s*1664525+1013904223)%4294967296)/4294967296;"
    "document.currentScript.remove()})()"
)
_DATE: Final = "%Y-%m-%dT%H:%M:%S"


def frozen(exchange: TapedExchange) -> TapedExchange:
    """Return a document with a script that sets its clock and its chance; all others unchanged.

    The script removes itself. What lets no script run, or cannot be read, has no clock to set.
    """
    fields = tuple(
        Field(name.lower().encode("latin-1", "replace"), name.encode("latin-1", "replace"), value)
        for name, text in exchange.headers
        for value in (text.encode("latin-1", "replace"),)
    )
    head = ResponseHead(1, fields, exchange.status, str(exchange.status).encode())
    if not is_document(head):
        return exchange
    seed = zlib.crc32(exchange.url.encode())
    script = _SCRIPT.replace("TIME", str(_recorded_ms(exchange.date))).replace("SEED", str(seed))
    altered = with_script(head, exchange.body, script)
    if altered is None:
        return exchange
    headers = tuple(
        (one.name.decode("latin-1"), one.value.decode("latin-1")) for one in altered.head.fields
    )
    return replace(exchange, headers=headers, body=altered.body)


def _recorded_ms(date: str) -> int:
    """Return when it was recorded; the beginning of 2000 where a tape does not say."""
    try:
        found = datetime.strptime(date[:19], _DATE).replace(tzinfo=UTC)
    except ValueError:
        found = datetime(2000, 1, 1, tzinfo=UTC)
    return int(found.timestamp() * 1000)
