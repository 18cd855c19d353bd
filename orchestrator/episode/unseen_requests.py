"""Writes that reached a site and that the browser did not report.

Workers that tabs share send such ones, and pages in their last moment.
The gateway sees every request to a replica, but not who sent it. A write of which the browser says
nothing is told all the same: else a check that wants none would be met by a write unseen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from evaluators.evidence import StepEvidence
from evaluators.network import RequestRecord
from orchestrator.browser.network import NetworkRecord
from orchestrator.gateway import Exchange


def with_unseen(
    network: NetworkRecord,
    steps: Sequence[StepEvidence],
    exchanges: Iterable[Exchange],
    logical: Callable[[str], str | None],
) -> NetworkRecord:
    """Return a record with the writes that only the gateway saw at its end, whatever their order.

    Args:
        network: what the browser reported.
        steps: their notes name the writes that the gateway passed on.
        exchanges: all that went through the gateway.
        logical: maps a URL to its logical form.
    """
    reported = Counter((one.method, _place(one.url)) for one in network.requests)
    answered: defaultdict[tuple[str, str], list[int | None]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.may_write and exchange.refused is None:
            answered[exchange.method, exchange.url].append(exchange.status)
    requests = list(network.requests)
    for step in steps:
        for note in step.notes:
            statuses = answered.get((note.method, note.url))
            if not note.may_write or note.refused is not None or not statuses:
                continue
            status, place = statuses.pop(0), (note.method, _place(note.url))
            if reported[place] > 0:
                reported[place] -= 1
                continue
            where = _without_query(logical(note.url))
            requests.append(
                RequestRecord(
                    index=len(requests),
                    step=step.index,
                    method=note.method,
                    url=_place(note.url),
                    logical=where,
                    site=note.site,
                    resource_type="other",
                    status=status,
                    is_whole=False,
                )
            )
    return replace(network, requests=tuple(requests))


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _without_query(logical: str | None) -> str | None:
    return None if logical is None else logical.partition("#")[0].partition("?")[0]
