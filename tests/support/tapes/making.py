"""Tapes that a test makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.gateway.tapes.exchange import Headers, TapedExchange
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import TapeNotes, open_tape
from orchestrator.gateway.tapes.writing import write_tape

WIKI = "https://en.wikipedia.org"
HTML: Headers = (("Content-Type", "text/html; charset=utf-8"),)
FORM: Headers = (("Content-Type", "application/x-www-form-urlencoded"),)


def page(path: str, text: str, *, origin: str = WIKI, headers: Headers = HTML) -> TapedExchange:
    """Return a recorded page of a site."""
    body = f"<!DOCTYPE html><title>{text}</title><p>{text}</p>".encode()
    return TapedExchange(
        method="GET", url=f"{origin}{path}", status=200, headers=headers, body=body
    )


def made(folder: Path, *exchanges: TapedExchange, name: str = "tape.wacz") -> Path:
    """Write a tape."""
    path = folder / name
    write_tape(path, exchanges, title="a test's", notes=TapeNotes(by="record"))
    return path


@contextmanager
def replayed(folder: Path, *exchanges: TapedExchange) -> Iterator[TapeReplay]:
    """Write a tape and open it for replay."""
    with open_tape(made(folder, *exchanges)) as tape:
        yield TapeReplay(tape)
