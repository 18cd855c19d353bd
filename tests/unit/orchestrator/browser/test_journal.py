"""What is kept between two drains, and in which form."""

from __future__ import annotations

from evaluators.evidence import ElementEvent
from orchestrator.browser.journal import SessionJournal
from orchestrator.browser.watcher import EventReport


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


def test_a_drain_forgets() -> None:
    journal = _journal()
    journal.visit(0, "http://s/", same_document=False)
    journal.visit(0, "about:blank", same_document=False)
    journal.refuse("POST", "http://s/x", "read-only")
    journal.dialog('alert "a" (accepted)')
    first, second = journal.drain(), journal.drain()
    assert [visit.logical for visit in first.visits] == ["shop:/"]
    assert [(note.site, note.refused) for note in first.refused] == [("shop", "read-only")]
    assert len(first.dialogs) == 1
    assert (second.visits, second.acted, second.refused, second.dialogs) == ((), (), (), ())
