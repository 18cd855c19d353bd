"""Checks by writes that were stopped on a live site, or answered by a replica."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.runs.make_evidence import make_check, make_evidence

from arena_core.actions import Action, Click, Goto, Press, Stop, Wait
from arena_core.worlds import World
from evaluators.evidence import ActedElement, ElementEvent, Evidence, StepEvidence
from evaluators.locators.network import NetworkLocator
from evaluators.network import RequestRecord, redacted
from evaluators.verdicts import CheckStatus, verdicts

WHY = "live sites are read-only in this task"
ORDER = {"by": "network", "url": "shop:/order", "method": "POST", "read": "found"}
RIGHT = {"item": "tea", "qty": 2}
FORM = "application/x-www-form-urlencoded"
BODIES = {
    FORM: "item=tea&qty=2",
    "application/json": '{"item": "tea", "qty": 2}',
    "multipart/form-data; boundary=xyz": '--xyz\r\nContent-Disposition: form-data; name="item"'
    '\r\n\r\ntea\r\n--xyz\r\nContent-Disposition: form-data; name="qty"\r\n\r\n2\r\n--xyz--\r\n',
}


def write(body: str = BODIES[FORM], *, kind: str = FORM, **more: Any) -> RequestRecord:
    told: dict[str, Any] = {
        "index": 0,
        "step": 1,
        "method": "POST",
        "url": "https://shop.example/order",
        "logical": "shop:/order",
        "site": "shop",
        "request_headers": {"content-type": kind},
        "request_body": body,
        "request_bytes": len(body),
        "blocked": WHY,
    }
    return RequestRecord(**{**told, **more})


def sent(body: str = BODIES[FORM], status: int | None = 302, **more: Any) -> RequestRecord:
    return write(body, blocked=None, status=status, **more)


def step(index: int, action: Action | None, *acted: ActedElement) -> StepEvidence:
    return StepEvidence(
        index=index, action=action, url="u", logical="shop:/", title="", acted=acted
    )


def event(*, trusted: bool, confirmed: bool = False) -> ActedElement:
    return ActedElement(
        event=ElementEvent.CLICK,
        path="button",
        tag="button",
        role="button",
        name="Buy",
        text="Buy",
        value=None,
        logical="shop:/",
        trusted=trusted,
        confirmed=confirmed,
    )


START, CLICKED = step(0, None), step(1, Click(element=7), event(trusted=True))


def evidence(
    *requests: RequestRecord,
    steps: tuple[StepEvidence, ...] = (START, CLICKED, step(2, Stop())),
    world: World = World.ONLINE,
) -> Evidence:
    return make_evidence(*steps, world=world).model_copy(update={"network": requests})


def is_met(found: Evidence, value: object = "true", **locate: Any) -> bool:
    told = {**ORDER, "body": RIGHT, "blocked": True, **locate}
    [verdict] = verdicts((make_check(told, value),), found)
    assert verdict.reason
    assert verdict.status is not CheckStatus.UNKNOWN
    return verdict.status is CheckStatus.MET


@pytest.mark.parametrize("kind", BODIES)
def test_a_write_that_was_stopped_is_read_as_a_sent_one(kind: str) -> None:
    assert is_met(evidence(write(BODIES[kind], kind=kind)))
    assert not is_met(evidence(write(BODIES[kind].replace("tea", "jam"), kind=kind)))


@pytest.mark.parametrize("more", [{}, {"status": "any"}, {"status": 403}, {"last": True}])
def test_what_was_stopped_has_no_effect_and_passes_no_other_check(more: dict[str, Any]) -> None:
    assert not is_met(evidence(write()), blocked=False, **more)
    assert is_met(evidence(write()), "0", blocked=False, read="count", **more)


def test_one_check_holds_in_both_worlds() -> None:
    assert is_met(evidence(sent(), world=World.OFFLINE))
    assert not is_met(evidence(sent(status=422), world=World.OFFLINE))
    assert not is_met(evidence(sent(status=None), world=World.OFFLINE))


@pytest.mark.parametrize(
    ("requests", "met"),
    [
        ((write(), write()), True),
        ((write("item=jam&qty=2"), write()), True),
        ((write(), write("item=jam&qty=2")), False),
        ((write(), write(logical="shop:/track", request_body="x=1")), True),
        ((write(), write(method="GET", blocked=None, status=200)), True),
    ],
)
def test_the_last_request_is_the_final_one(requests: tuple[RequestRecord, ...], met: bool) -> None:  # noqa: FBT001
    assert is_met(evidence(*requests)) is met
    assert is_met(evidence(*requests), "1", read="count") is met


@pytest.mark.parametrize(
    "lazy",
    [
        write(""),
        write("item=&qty="),
        write("item=tea"),
        write(method="GET", request_body=None, request_bytes=0, blocked=None, status=200),
        write(method="PUT"),
        write(logical=None, site=None, url="https://tracker.example/order"),
        write(logical="shop:/order/preview"),
    ],
)
def test_less_than_the_write_does_not_pass(lazy: RequestRecord) -> None:
    assert not is_met(evidence(lazy))


@pytest.mark.parametrize(
    ("steps", "at", "met"),
    [
        ((START,), 0, False),
        ((START, step(1, Goto(url="https://shop.example/x"))), 1, False),
        ((START, CLICKED, step(2, Goto(url="https://shop.example/x"))), 2, False),
        ((START, step(1, Press(keys="Enter"))), 1, True),
        ((START, CLICKED, step(2, Wait())), 2, True),
        ((START, CLICKED, step(2, Stop())), 2, True),
        ((START, CLICKED), 2, True),
        ((START, step(1, None)), 1, False),
        ((START, step(1, None, event(trusted=False))), 1, False),
        ((START, step(1, None, event(trusted=False, confirmed=True))), 1, True),
    ],
)
def test_the_agent_must_have_brought_it_about(
    steps: tuple[StepEvidence, ...],
    at: int,
    met: bool,  # noqa: FBT001
) -> None:
    assert is_met(evidence(write(step=at), steps=steps)) is met


def test_a_secret_is_compared_by_its_mark() -> None:
    body = f"item=tea&qty=2&card_number={redacted('4111111111111111', 'ab')}"
    wanted = {**RIGHT, "card_number": "4111111111111111"}
    assert is_met(evidence(write(body)), body=wanted)
    assert not is_met(evidence(write(body)), body={**RIGHT, "card_number": "4242"})


def test_a_write_that_only_the_guard_saw_leaves_the_check_open() -> None:
    found = evidence(write(is_whole=False, request_body=None, request_bytes=0))
    [verdict] = verdicts((make_check({**ORDER, "body": RIGHT, "blocked": True}, "true"),), found)
    assert verdict.status is CheckStatus.UNKNOWN


@pytest.mark.parametrize(
    "more",
    [
        {"method": None},
        {"method": "GET"},
        {"status": 200},
        {"status": "any"},
        {"response": {"id": 1}},
        {"response_headers": {"location": "*"}},
        {"read": "status"},
    ],
)
def test_what_has_no_answer_cannot_be_asked_for_one(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="blocked"):
        NetworkLocator.model_validate({**ORDER, "blocked": True, **more})
