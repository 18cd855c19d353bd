"""Checks by the requests that the browser sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.runs.make_evidence import make_check, make_evidence

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


class TestMatches:
    """A match in the place of a value."""

    @pytest.mark.parametrize(
        ("locate", "fits"),
        [
            ({"url": {"how": "regex", "value": r"shop:/cart/add/\d+"}}, True),
            ({"url": {"how": "regex", "value": r"shop:/cart/add"}}, False),
            ({"url": {"how": "exact", "value": "shop:/cart/add/17"}}, True),
            ({"body": {"a": {"how": "regex", "value": "b.c"}}}, True),
            ({"body": {"a": {"how": "regex", "value": "b"}}}, False),
            ({"body": {"qty": {"how": "answer", "type": "number", "value": 2}}}, True),
            ({"body": {"gone": {"how": "exact", "value": []}}}, True),
            ({"body": {"qty": {"how": "exact", "value": []}}}, False),
            ({"body": {"q*": 2}}, True),
            ({"body": {"*y": 3}}, False),
        ],
    )
    def test_stands_in_the_place_of_a_value(self, locate: dict[str, Any], *, fits: bool) -> None:
        assert (status(evidence(request()), **locate) is CheckStatus.MET) is fits

    def test_of_a_secret_says_nothing(self) -> None:
        marked = request(request_body=f"password={redacted('hunter2', 'ab12')}")
        like = {"password": {"how": "regex", "value": "h.*2"}}
        assert status(evidence(marked), body=like) is CheckStatus.UNKNOWN
        assert status(evidence(marked), body={"password": "hunter2"}) is CheckStatus.MET

    def test_of_a_judge_is_refused(self) -> None:
        with pytest.raises(ValueError, match="does not compare a part of a request"):
            status(
                evidence(request()), body={"a": {"how": "semantic", "rubric": "The text says b."}}
            )

    def test_is_linted_at_its_place(self) -> None:
        with pytest.raises(ValueError, match="is no pattern") as caught:
            status(evidence(request()), body={"a": {"how": "regex", "value": "("}})
        assert "body" in str(caught.value)


class TestWhichRequestCounts:
    def test_the_last_where_it_is_asked_for(self) -> None:
        right, wrong = request(), request(request_body="qty=3")
        told = {"body": {"qty": 2}, "method": "POST"}
        assert status(evidence(right, wrong), **told) is CheckStatus.MET
        assert status(evidence(right, wrong), last=True, **told) is CheckStatus.UNMET
        assert status(evidence(wrong, right), last=True, **told) is CheckStatus.MET
        elsewhere = request("shop:/other")
        assert status(evidence(right, elsewhere), last=True, **told) is CheckStatus.MET

    def test_one_from_another_page_does_not_where_the_page_is_asked_for(self) -> None:
        here, there, outside = (
            request(request_headers={**FORM, "referer": url}, site="shop")
            for url in (
                "http://shop.arena.test/a/?state=open&sort=x",
                "http://shop.arena.test/b",
                "http://else.test/a?state=open",
            )
        )
        page = {"url": "shop:/a", "query": {"state": "open"}, "other_query": ["sort"]}
        told = {"last": True, "came_from": page}
        assert status(evidence(here, there), **told) is CheckStatus.MET
        assert status(evidence(there), **told) is CheckStatus.UNMET
        assert status(evidence(outside), **told) is CheckStatus.UNMET
        told["came_from"] = {**page, "other_query": []}
        assert status(evidence(here), **told) is CheckStatus.UNMET

    def test_one_that_was_refused_or_not_answered_where_any_is_asked_for(self) -> None:
        for found in (request(status=500), request(status=None, failed="gone")):
            assert status(evidence(found), status="any") is CheckStatus.MET

    @pytest.mark.parametrize(
        ("url", "fits"),
        [("?q=a", True), ("?q=a&page=2", True), ("?q=a&color=", True), ("?q=a&color=red", False)],
    )
    def test_no_other_parameters_than_those_that_are_allowed(self, url: str, *, fits: bool) -> None:
        told = {"url": "shop:/s", "query": {"q": "a"}, "other_query": ["pa*"]}
        found = status(evidence(request(f"shop:/s{url}")), **told)
        assert (found is CheckStatus.MET) is fits

    def test_a_query_in_the_path_where_it_is_looked_for(self) -> None:
        # from=02/1/2023&to=02/28/2023
        hidden = "ZnJvbT0wMi8xLzIwMjMmdG89MDIvMjgvMjAyMw"
        filtered = evidence(request(f"shop:/sales/filter/{hidden}/"))
        day = {"how": "answer", "type": "date", "value": "2023-02-01", "date_order": "month_first"}
        told = {"url": "shop:/sales/filter", "query": {"from": day, "to": "02/28/2023"}}
        assert status(filtered, query_in_path=True, **told) is CheckStatus.MET
        assert status(filtered, **told) is CheckStatus.UNMET

    def test_json_in_a_field_of_a_form(self) -> None:
        rows = request(request_body='rows=[{"new": 1, "a": "b"}, {"new": 0, "a": "c"}]&x=1')
        told = {"body": {"$.rows[?@.new == 1].a": {"how": "exact", "value": ["b"]}}}
        assert status(evidence(rows), **told) is CheckStatus.MET
