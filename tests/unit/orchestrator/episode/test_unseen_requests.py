"""A write that only the gateway saw is a request of the episode too."""

from __future__ import annotations

from typing import Any

from make_evidence import make_check, make_evidence, make_step

from evaluators.evidence import RequestNote, StepEvidence
from evaluators.network import RequestRecord
from evaluators.verdicts import CheckStatus, verdicts
from orchestrator.browser.network import NetworkRecord
from orchestrator.episode.unseen_requests import with_unseen
from orchestrator.gateway import Exchange

URL = "http://shop/cart?token=s3cr3t"


def exchange(url: str = URL, *, status: int = 200, refused: str | None = None) -> Exchange:
    return Exchange(
        method="POST",
        url=url,
        site="shop",
        live=False,
        may_write=refused is None,
        refused=refused,
        failed=None,
        tunnelled=False,
        status=status,
        started=0.0,
        ms=1.0,
    )


def step(index: int, *exchanges: Exchange) -> StepEvidence:
    notes = tuple(
        RequestNote(
            method=one.method,
            url=one.url,
            site=one.site,
            may_write=one.may_write,
            refused=one.refused,
        )
        for one in exchanges
    )
    return make_step(index).model_copy(update={"notes": notes})


def status(found: NetworkRecord, value: str, **more: Any) -> CheckStatus:
    check = make_check({"by": "network", "url": "shop:/cart", "method": "POST", **more}, value)
    evidence = make_evidence().model_copy(update={"network": found.requests})
    [verdict] = verdicts((check,), evidence)
    return verdict.status


def logical(url: str) -> str:
    return url.replace("http://shop", "shop:")


def test_a_write_that_the_browser_did_not_report_is_found_and_says_nothing_more() -> None:
    reported = RequestRecord(
        index=0,
        step=1,
        method="POST",
        url="http://shop/cart?token=x",
        logical="shop:/cart",
        status=200,
    )
    seen, unseen = exchange(), exchange(status=201)
    steps = [step(1, seen), step(2, unseen, exchange(refused="no"))]
    network = NetworkRecord(requests=(reported,))
    whole = with_unseen(network, steps, [seen, unseen], logical)
    assert [(one.step, one.status, one.is_whole) for one in whole.requests] == [
        (1, 200, True),
        (2, 201, False),
    ]
    assert "s3cr3t" not in str(whole.requests[1])
    assert status(network, "1") is CheckStatus.MET
    assert status(whole, "2") is CheckStatus.MET
    assert status(whole, "0", status=404) is CheckStatus.MET
    for told in ({"body": {"a": "1"}}, {"query": {"a": "1"}}, {"headers": {"a": "1"}}):
        assert status(whole, "0", **told) is CheckStatus.UNKNOWN


def test_what_the_browser_reported_is_not_told_twice() -> None:
    sent = RequestRecord(index=0, step=1, method="POST", url=URL, logical="shop:/cart", status=200)
    network = NetworkRecord(requests=(sent,))
    assert with_unseen(network, [step(1, exchange())], [exchange()], logical) == network
