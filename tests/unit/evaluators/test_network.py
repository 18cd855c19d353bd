"""Checks by the requests that the browser sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from make_evidence import make_check, make_evidence

import evaluators
from evaluators.checks import Check
from evaluators.evidence import Evidence
from evaluators.network import RequestRecord, redacted
from evaluators.verdicts import CheckStatus, verdicts

FORM = {"content-type": "application/x-www-form-urlencoded; charset=UTF-8"}
JSON = {"content-type": "application/json"}
PARTS = {"content-type": "multipart/form-data; boundary=xyz"}


def request(logical: str = "shop:/cart/add/17", status: int | None = 302, **more: Any) -> Any:
    """A POST of a form, answered by a redirect."""
    told: dict[str, Any] = {
        "method": "POST",
        "request_headers": FORM,
        "request_body": "qty=2&a=b+c",
    }
    return RequestRecord(
        **{
            "index": 0,
            "step": 1,
            "url": logical.replace("shop:", "http://shop.arena.test"),
            "logical": logical,
            "status": status,
            **told,
            **more,
        }
    )


def evidence(*requests: RequestRecord, fault: str | None = None) -> Evidence:
    return make_evidence().model_copy(update={"network": requests, "network_fault": fault})


def status(found: Evidence, value: object = "true", **locate: Any) -> CheckStatus:
    told = {"by": "network", "url": "shop:/cart/add/*", "read": "found", **locate}
    [verdict] = verdicts((make_check(told, value),), found)
    assert verdict.reason
    return verdict.status


@pytest.mark.parametrize(
    ("locate", "fits"),
    [
        ({}, True),
        ({"url": "shop:/cart/add/17"}, True),
        ({"url": "shop:/cart/add/17/"}, True),
        ({"url": "shop:/cart/add"}, False),
        ({"url": "shop:/*/add/*"}, True),
        ({"url": "shop:/cart/*7*7"}, False),
        ({"url": "other:/cart/add/*"}, False),
        ({"method": "post"}, True),
        ({"method": "GET"}, False),
        ({"status": 302}, True),
        ({"status": [200, 302]}, True),
        ({"status": 200}, False),
        ({"body": {"qty": 2}}, True),
        ({"body": {"qty": "2", "a": "b c"}}, True),
        ({"body": {"qty": "20"}}, False),
        ({"body": {"qty": "*"}}, True),
        ({"body": {"gone": "*"}}, False),
        ({"headers": {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}}, True),
        ({"headers": {"content-type": "text/plain"}}, False),
        ({"query": {"id": 1}}, False),
    ],
)
def test_a_request_fits_by_all_that_is_said(locate: dict[str, Any], *, fits: bool) -> None:
    assert (status(evidence(request()), **locate) is CheckStatus.MET) is fits


@pytest.mark.parametrize(
    ("refused", "why"),
    [(request(status=404), "an error"), (request(status=None, failed="gone"), "no answer")],
)
def test_what_the_site_refused_had_no_effect(refused: RequestRecord, why: str) -> None:
    assert status(evidence(refused)) is CheckStatus.UNMET
    assert status(evidence(refused), "0", read="count") is CheckStatus.MET


def test_an_error_can_be_asked_for() -> None:
    assert status(evidence(request(status=404)), status=404) is CheckStatus.MET


def test_exactly_n_times_and_never() -> None:
    twice = evidence(request(), request(), request("shop:/other"))
    assert status(twice, "2", read="count") is CheckStatus.MET
    assert status(twice, "1", read="count") is CheckStatus.UNMET
    assert status(twice, "0", read="count", url="shop:/gone") is CheckStatus.MET


def test_a_body_is_read_as_what_it_is() -> None:
    json = request(
        request_headers=JSON, request_body='{"items": [{"sku": "A", "n": 1.5}], "x": null}'
    )
    for name, wanted in (
        ("items[0].sku", "A"),
        ("items[0].n", 1.5),
        ("$.items[?@.n > 1].sku", "A"),
    ):
        assert status(evidence(json), body={name: wanted}) is CheckStatus.MET
    assert status(evidence(json), body={"x": None}) is CheckStatus.MET
    assert status(evidence(json), body={"items[7].sku": "A"}) is CheckStatus.UNMET
    parts = request(
        request_headers=PARTS,
        request_body='--xyz\r\nContent-Disposition: form-data; name="title"\r\n\r\nMy --xyz\r\n'
        '--xyz\r\nContent-Disposition: form-data; name="n"\r\n\r\n\r\n--xyz--\r\n',
    )
    assert status(evidence(parts), body={"title": "My --xyz", "n": ""}) is CheckStatus.MET
    assert status(evidence(request(request_body="{]")), body={"a": 1}) is CheckStatus.UNMET


def test_a_secret_is_compared_by_its_mark() -> None:
    salt = "ab12"
    secret = request(
        request_body=f"password={redacted('hunter2', salt)}",
        request_headers={**FORM, "cookie": f"sid={redacted('s3', salt)}; lang=en"},
    )
    assert status(evidence(secret), body={"password": "hunter2"}) is CheckStatus.MET
    assert status(evidence(secret), body={"password": "hunter3"}) is CheckStatus.UNMET
    assert status(evidence(secret), cookies={"sid": "s3", "lang": "en"}) is CheckStatus.MET


def test_an_answer_and_the_cookies_that_it_set() -> None:
    answered = request(
        response_headers={"set-cookie": "a=1; Path=/\nmsg=added; Path=/"},
        response_body='{"qty": 3, "lines": [{"name": "Kettle"}]}',
    )
    told = {"response": {"qty": 3}, "response_cookies": {"msg": "added", "a": 1}}
    assert status(evidence(answered), **told) is CheckStatus.MET
    assert (
        status(evidence(answered), "Kettle", read="response", key="lines[*].name")
        is CheckStatus.MET
    )


def test_what_was_not_recorded_is_no_failure() -> None:
    assert status(make_evidence()) is CheckStatus.UNKNOWN
    assert status(evidence(fault="too many")) is CheckStatus.UNKNOWN
    long = request(request_body=None, request_bytes=10_000_000)
    assert status(evidence(long)) is CheckStatus.MET
    assert status(evidence(long), body={"a": 1}) is CheckStatus.UNKNOWN
    assert status(evidence(long), body={"a": 1}, method="GET") is CheckStatus.UNMET
    assert status(evidence(request()), response={"a": 1}) is CheckStatus.UNKNOWN


@pytest.mark.parametrize("wrong", [{"read": "body"}, {"key": "x"}, {"status": 99}, {"stauts": 200}])
def test_a_locator_that_says_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        make_check({"by": "network", "url": "shop:/", **wrong}, "1")


def test_the_example_in_the_readme_is_a_check() -> None:
    readme = (Path(evaluators.__file__).parent / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"test_network.py -->\n```yaml\n(.*?)```", readme, re.DOTALL)
    [written] = yaml.safe_load(example)
    check = Check.model_validate(written)
    sent = request(request_body="qty=2&options%5Bsize%5D=L")
    for found, met in ((evidence(sent), True), (evidence(sent, sent), False)):
        [verdict] = verdicts((check,), found)
        assert (verdict.status is CheckStatus.MET) is met
