"""Probes of the manifest: one more fact that is state, from a query or from a page."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from arena_core.errors import SiteError
from orchestrator.reset.state import ProbeState

if TYPE_CHECKING:
    from orchestrator.engine.containers import Endpoint
    from sites.manifest import Probe, Site

Read = Callable[[str], tuple[tuple[object, ...], ...]]

_LONGEST: Final = 200
_PAGE_S: Final = 30.0
_NOTHING: Final = "nothing"


def ask_database(read: Read, probes: tuple[Probe, ...]) -> tuple[ProbeState, ...]:
    """Run the queries of the probes that have one; their rows, in the order they come, are facts.

    Whoever writes a probe whose order matters puts an ORDER BY into it.
    """
    return tuple(
        _state(probe, json.dumps(read(probe.sql), default=_as_text))
        for probe in probes
        if probe.sql is not None
    )


def ask_pages(site: Site, endpoint: Endpoint) -> tuple[ProbeState, ...]:
    """Fetch the pages of the probes that have one; blocking.

    Raises:
        SiteError: a page did not answer with 200.
    """
    return tuple(
        _state(probe, _found(probe.pattern, _page(site, endpoint, probe.name, probe.page)))
        for probe in site.fingerprint.probes
        if probe.page is not None and probe.pattern is not None
    )


def _found(pattern: str, page: str) -> str:
    """Return what the first group (the whole pattern, where it has none) finds first."""
    match = re.search(pattern, page)
    if match is None:
        return _NOTHING
    return str(match.group(1) if match.re.groups else match.group())


def _page(site: Site, endpoint: Endpoint, name: str, path: str) -> str:
    import requests  # noqa: PLC0415  not needed where no probe has a page

    from orchestrator.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    client = OriginClient(origin=f"http://{site.host}", address=endpoint)
    try:
        answer = fetch(client, path, timeout_s=_PAGE_S)
    except requests.RequestException as cause:
        message = f"site '{site.name}': probe {name}: no answer from {path}"
        raise SiteError(message) from cause
    if answer.status != HTTPStatus.OK:
        message = f"site '{site.name}': probe {name}: {path} answers {answer.status}"
        raise SiteError(message)
    return answer.text


def _state(probe: Probe, fact: str) -> ProbeState:
    """Keep a short fact as it is, so that differences can show it."""
    if len(fact) <= _LONGEST:
        return ProbeState(probe.name, fact)
    digest = hashlib.sha256(fact.encode(errors="surrogatepass")).hexdigest()
    return ProbeState(probe.name, f"{len(fact)} characters, SHA-256 {digest}")


def _as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
