"""What is kept between two drains, and in which form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents.foreign_values import CASES, TEXTS

from evaluators.evidence import ElementEvent
from orchestrator.browser.tabs.address_changes import AddressChange
from orchestrator.browser.tabs.journal import SessionJournal
from orchestrator.browser.tabs.tab import TabVisit
from orchestrator.browser.tabs.watcher import BINDING, EventReport, KeyReport, listen


def _report(event: str, path: str = "#q", value: str | None = None) -> EventReport:
    return EventReport(
        event=ElementEvent(event),
        url="http://s/",
        path=path,
        tag="input",
        role="textbox",
        name="q",
        text="",
        value=value,
    )


def _journal() -> SessionJournal:
    return SessionJournal(lambda url: url.replace("http://s", "shop:"))


def test_successive_inputs_into_one_element_count_as_the_last() -> None:
    journal = _journal()
    for value in ("k", "ke", "ket"):
        journal.event(_report("input", value=value), "http://s/")
    journal.event(_report("input", path="#other", value="x"), "http://s/")
    journal.event(_report("input", value="kett"), "http://s/")
    values = [acted.value for acted in journal.drain().acted]
    assert values == ["ket", "x", "kett"]


def test_successive_clicks_all_count() -> None:
    journal = _journal()
    journal.event(_report("click"), "http://s/")
    journal.event(_report("click"), "http://s/")
    assert len(journal.drain().acted) == 2


def test_an_event_inside_a_frame_belongs_to_the_page_around_it() -> None:
    journal = _journal()
    journal.event(_report("click").model_copy(update={"url": None}), "http://s/cart")
    assert journal.drain().acted[0].logical == "shop:/cart"


def _change(*, trusted: bool, borne_out: bool = False) -> AddressChange:
    return AddressChange(None, lambda: borne_out, trusted=trusted)


@pytest.mark.parametrize(
    ("change", "trusted", "confirmed"),
    [
        (_change(trusted=True), True, False),
        (_change(trusted=False), False, False),
        (_change(trusted=False, borne_out=True), False, True),
    ],
)
async def test_a_visit_counts_once_it_is_judged_and_so_does_what_is_done_there(
    change: AddressChange, *, trusted: bool, confirmed: bool
) -> None:
    journal = _journal()
    journal.visit(0, TabVisit(url="http://s/", same_document=False))
    journal.event(_report("click"), "http://s/", 0)
    journal.visit(0, TabVisit(url="http://s/x", same_document=True, change=change))
    assert journal.is_forged(0)
    there = _report("click").model_copy(update={"url": "http://s/x"})
    journal.event(there, "http://s/x", 0)
    assert await journal.judge_visits() is (trusted or confirmed)
    assert journal.is_forged(0) is not (trusted or confirmed)
    activity = journal.drain()
    assert [(one.trusted, one.confirmed) for one in activity.visits] == [
        (True, False),
        (trusted, confirmed),
    ]
    elsewhere = "shop:/x" if trusted or confirmed else None
    assert [one.logical for one in activity.acted] == ["shop:/", elsewhere]
    journal.event(there, "http://s/x", 0)  # in a later step, at the same address
    await journal.judge_visits()
    assert [one.logical for one in journal.drain().acted] == [elsewhere]


def test_a_drain_forgets() -> None:
    journal = _journal()
    journal.visit(0, TabVisit(url="http://s/", same_document=False))
    journal.visit(0, TabVisit(url="about:blank", same_document=False))
    journal.refuse("POST", "http://s/x", "read-only")
    journal.dialog('alert "a" (accepted)')
    first, second = journal.drain(), journal.drain()
    assert [visit.logical for visit in first.visits] == ["shop:/"]
    assert [(note.site, note.refused) for note in first.refused] == [("shop", "read-only")]
    assert len(first.dialogs) == 1
    assert (second.visits, second.acted, second.refused, second.dialogs) == ((), (), (), ())


@settings(max_examples=CASES)
@given(name=TEXTS, text=TEXTS, value=st.none() | TEXTS)
def test_whatever_stands_in_a_field_is_reported_and_kept(
    name: str, text: str, value: str | None
) -> None:
    """A page's script cuts texts, also in the middle of a code point."""
    line, journal = _Line(), _journal()
    channel: Any = line

    def note(report: EventReport | KeyReport) -> None:
        assert isinstance(report, EventReport)
        journal.event(report, "http://s/")

    listen(channel, note)
    said = _report("input").model_dump(mode="json") | {"name": name, "text": text, "value": value}
    line.report({"name": BINDING, "payload": json.dumps(said)})
    [acted] = journal.drain().acted
    assert type(acted).model_validate_json(acted.model_dump_json()) == acted


class _Line:
    """A page's line to the browser, as far as its watcher reports over it."""

    report: Callable[[dict[str, str]], None]

    def on(self, _: str, handle: Callable[[dict[str, str]], None]) -> None:
        self.report = handle
