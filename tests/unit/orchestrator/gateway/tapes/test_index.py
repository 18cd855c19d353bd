from __future__ import annotations

from dataclasses import dataclass

import pytest

from orchestrator.gateway.taped import Exactness
from orchestrator.gateway.tapes.index import TapeIndex

FORM = "application/x-www-form-urlencoded"
AT = "https://a.test"


@dataclass(frozen=True)
class Asked:
    url: str
    method: str = "GET"
    status: int = 200
    range: str = ""
    sent_body: bytes = b""
    kind: str = ""

    @property
    def sent(self) -> tuple[tuple[str, str], ...]:
        return (("Content-Type", self.kind),)


def exactness(recorded: Asked, asked: Asked) -> Exactness | None:
    found = TapeIndex([recorded]).find(asked.method, asked.url, asked.sent_body, asked.kind)
    return None if found is None else found[1]


@pytest.mark.parametrize(
    ("recorded", "asked", "how"),
    [
        (f"{AT}/a?x=1&y=2", f"{AT}/a?x=1&y=2", Exactness.EXACT),
        (f"{AT}/a#top", f"{AT}/a", Exactness.EXACT),
        (f"{AT}/a?x=1&_=1764160000000", f"{AT}/a?x=1&_=1764169999999", Exactness.CACHE_BUSTER),
        (f"{AT}/a?x=1", f"{AT}/a?x=1&cb=0.8273645", Exactness.CACHE_BUSTER),
        (f"{AT}/caf%C3%A9", f"{AT}/caf%c3%a9", Exactness.CACHE_BUSTER),
        (f"{AT}/a?x=1&y=2", f"{AT}/a?y=2&x=1", Exactness.REORDERED),
        (f"{AT}/a?x=1", f"{AT}/a?x=2", None),
        (f"{AT}/a?x=1", f"{AT}/a", None),
        (f"{AT}/a?_=tea", f"{AT}/a?_=coffee", None),
        (f"{AT}/a?x=1&x=2", f"{AT}/a?x=1", None),
        (f"{AT}/a", f"{AT}/A", None),
        (f"{AT}/a", "http://a.test/a", None),
        (f"{AT}/a", f"{AT}:8443/a", None),
    ],
)
def test_addresses_match_no_more_loosely_than_they_say(
    recorded: str, asked: str, how: Exactness | None
) -> None:
    assert exactness(Asked(recorded), Asked(asked)) == how


@pytest.mark.parametrize(
    ("recorded", "asked", "how"),
    [
        (b"a=1&b=2", b"a=1&b=2", Exactness.EXACT),
        (b"a=1&b=2", b"b=2&a=1", Exactness.REORDERED),
        (b"a=1&_=123456789", b"a=1&_=987654321", Exactness.CACHE_BUSTER),
        (b"a=1", b"a=2", None),
        (b"a=1", b"", None),
    ],
)
def test_forms_match_by_their_fields(recorded: bytes, asked: bytes, how: Exactness | None) -> None:
    before = Asked(f"{AT}/f", method="POST", sent_body=recorded, kind=FORM)
    now = Asked(f"{AT}/f", method="POST", sent_body=asked, kind=FORM)

    assert exactness(before, now) == how


def test_json_matches_whatever_the_order_of_its_names() -> None:
    before = Asked(f"{AT}/q", "POST", sent_body=b'{"a":1,"b":[1,2]}', kind="application/json")
    now = Asked(f"{AT}/q", "POST", sent_body=b'{"b": [1, 2], "a": 1}', kind="application/json")
    other = Asked(f"{AT}/q", "POST", sent_body=b'{"b": [2, 1], "a": 1}', kind="application/json")

    assert exactness(before, now) is not None
    assert exactness(before, other) is None


def test_no_method_stands_for_another_but_get_for_head() -> None:
    assert exactness(Asked(f"{AT}/a"), Asked(f"{AT}/a", "POST")) is None
    assert exactness(Asked(f"{AT}/a", "POST"), Asked(f"{AT}/a")) is None
    assert exactness(Asked(f"{AT}/a"), Asked(f"{AT}/a", "HEAD")) is Exactness.EXACT


def test_of_answers_to_one_request_the_first_that_went_well_stands() -> None:
    index = TapeIndex(
        [Asked(f"{AT}/a", status=500), Asked(f"{AT}/a", kind="first"), Asked(f"{AT}/a")]
    )

    found = index.find("GET", f"{AT}/a")

    assert found is not None
    assert found[0].kind == "first"


def test_a_not_modified_is_no_answer() -> None:
    assert TapeIndex([Asked(f"{AT}/a", status=304)]).find("GET", f"{AT}/a") is None


def test_a_manifests_rule_says_which_addresses_are_one_page() -> None:
    rules = {f"{AT}/wiki/Tea": "wiki:/article/Tea", f"{AT}/w/Tea": "wiki:/article/Tea"}
    index = TapeIndex([Asked(f"{AT}/wiki/Tea")], rules.get)

    found = index.find("GET", f"{AT}/w/Tea")

    assert found is not None
    assert found[1] is Exactness.RULE


@pytest.mark.parametrize(
    ("url", "body", "kind"),
    [
        ("https://[/", b"", ""),
        (f"{AT}/?" + "&".join(["a"] * 5000), b"", ""),
        (f"{AT}/", b"[" * 100_000, "application/json"),
        (f"{AT}/", b"\xff{", "application/json"),
    ],
)
def test_what_makes_no_sense_matches_nothing(url: str, body: bytes, kind: str) -> None:
    assert TapeIndex([Asked(f"{AT}/a")]).find("POST", url, body, kind) is None
