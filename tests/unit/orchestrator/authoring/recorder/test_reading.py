"""What the browser reports becomes what a person did: each thing once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.recorder.made_recording import event, page_of, recording_of, row, step_of

from evaluators.evidence import ActedElement
from orchestrator.authoring.recorder.elements import PageElements
from orchestrator.authoring.recorder.reading import (
    PressedKey,
    actions_of,
    goes_on,
    joined,
    keys_of,
    merged,
    said,
    visit_of,
)
from orchestrator.browser.tabs.journal import Activity
from orchestrator.browser.tabs.watcher import KeyReport

NOWHERE = PageElements()


def done(events: Sequence[ActedElement], page: PageElements = NOWHERE) -> list[str]:
    return [
        said(one.action) if one.action is not None else f"no: {one.why_not}"
        for one in actions_of(events, page)
    ]


def test_a_click_on_a_label_is_one_on_its_field() -> None:
    label = event("click", "label", name="Urgent")
    box = [
        event(kind, "input", role="checkbox", name="Urgent", value="true")
        for kind in ("click", "input", "change")
    ]
    assert done([label, *box]) == ["click checkbox “Urgent”"]


def test_letters_are_one_text_and_the_click_before_them_is_none() -> None:
    field = [event("click", "input", name="Title", value="")]
    field += [event("input", "input", name="Title", value="Kettle"[:n]) for n in (1, 4, 6)]
    assert done([*field, event("change", "input", name="Title", value="Kettle")]) == [
        "type “Kettle” into textbox “Title”"
    ]


def test_enter_clicks_the_forms_button_and_both_are_one() -> None:
    typed = event("input", "input", name="Search", value="kettle")
    sent = event("submit", "form")
    assert done([typed, event("change", "input", name="Search", value="kettle"), sent]) == [
        "type “kettle” into textbox “Search” and Enter"
    ]
    button = event("click", "button", name="Go")
    assert done([typed, button, sent]) == [
        "type “kettle” into textbox “Search”",
        "click button “Go”",
    ]


def test_a_choice_is_told_by_its_label_and_by_no_click() -> None:
    choice = [event("click", "select", name="Colour", value="Red")]
    choice += [event(kind, "select", name="Colour", value="Blue") for kind in ("input", "change")]
    assert done(choice) == ["choose “Blue” in “Colour”"]
    assert done(choice[-1:]) == ["choose “Blue” in “Colour”"]


def test_what_scripts_forged_is_not_done() -> None:
    forged = [
        event("click", name="Buy", trusted=False),
        event("input", "input", name="Title", value="forged", trusted=False),
    ]
    assert done(forged) == []
    assert done([*forged, event("click", name="Buy")]) == ["click button “Buy”"]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (event("input", "input", name="Password", value=None), "a password"),
        (event("drag", "li", role="listitem", name="Card"), "has no drag"),
        (event("input", "input", name="Choose File", value="a.pdf"), "chooses a file"),
        (event("submit", "form"), "sent by a script"),
        (event("click", "div", role="generic"), "neither a role nor a name"),
        (event("input", "div", role="textbox", name="Text", value="x" * 200), "longer than"),
    ],
)
def test_what_no_reference_can_say_is_named(one: ActedElement, why: str) -> None:
    (found,) = actions_of([one], NOWHERE)
    assert found.action is None
    assert why in (found.why_not or "")


def test_elements_of_one_name_are_counted_on_the_page_that_was_seen() -> None:
    page = page_of(("button", "Add", "#a"), ("button", "Add", "#b"), ("link", "Add", "#c"))
    second = event("click", name="add", path="#b")
    assert done([second], page) == ["click button “Add” (number 2 of that name)"]


def test_another_page_than_the_one_seen_says_nothing_of_an_element() -> None:
    page = page_of(("link", "Log out", "#b"), logical="wiki:/article/Other")
    assert done([event("click", name="Add", path="#b")], page) == ["click button “Add”"]


def test_an_address_is_a_visit_and_one_of_no_site_is_named() -> None:
    step = step_of(1, visits=["wiki:/article/Samovar"])
    assert [said(one.action) for one in step.actions if one.action] == [
        "go to wiki:/article/Samovar"
    ]
    foreign = [one.model_copy(update={"logical": None}) for one in step.evidence.visits]
    assert visit_of(foreign)[0].action is None
    forged = [one.model_copy(update={"trusted": False}) for one in step.evidence.visits]
    assert visit_of(forged) == ()


def test_more_letters_go_on_with_a_step_and_anything_else_does_not() -> None:
    first = event("input", "input", name="Title", value="Ket")
    more = event("input", "input", name="Title", value="Kettle")
    step = step_of(1, [first])
    assert goes_on(step, Activity(acted=(more,)))
    assert goes_on(step, Activity(acted=(event("click", "input", name="Title"), more)))
    assert goes_on(step, Activity(acted=(event("click", "input", name="Title"),)))
    assert not goes_on(step, Activity(acted=(event("input", "input", name="Body", value="x"),)))
    assert not goes_on(step, Activity(acted=(event("click", name="Save"),)))
    assert not goes_on(step_of(1, [first], ["wiki:/article/A"]), Activity(acted=(more,)))
    both = merged(step.evidence, step_of(7, [more]).evidence)
    assert (both.index, [one.value for one in both.acted]) == (1, ["Kettle"])


SEARCH = event("input", "input", name="Search", value="ketle")
AGAIN = event("input", "input", name="Search", value="kettle")
LINK = event("click", "a", name="Tea")
TEA = "wiki:/article/Tea"


@pytest.mark.parametrize(
    ("first", "second", "made"),
    [
        (([SEARCH], []), ([AGAIN], []), ["type “kettle” into textbox “Search”"]),
        (([LINK], []), ([], [TEA]), ["click link “Tea”"]),
        (([], ["wiki:/"]), ([], [TEA]), [f"go to {TEA}"]),
        (([LINK], []), ([LINK], []), ["click link “Tea”", "click link “Tea”"]),
        (([], [TEA]), ([LINK], []), [f"go to {TEA}", "click link “Tea”"]),
        (
            ([SEARCH], []),
            ([event("input", "input", name="Title", value="x")], []),
            ["type “ketle” into textbox “Search”", "type “x” into textbox “Title”"],
        ),
    ],
)
def test_steps_that_are_merged_do_each_thing_once(
    first: tuple[list[ActedElement], list[str]],
    second: tuple[list[ActedElement], list[str]],
    made: list[str],
) -> None:
    steps = [step_of(number, *one) for number, one in enumerate((first, second), start=1)]
    (_, one) = joined(recording_of(*steps), {2}).steps
    assert [said(action.action) for action in one.actions if action.action is not None] == made
    assert one.number == 1
    assert one.evidence.visits == tuple(v for step in steps for v in step.evidence.visits)


def test_a_merged_step_keeps_what_both_showed_and_changed() -> None:
    rows = [{"shop": [row("t", "1", None, "a")]}, {"cms": [row("t", "2", None, "b")]}]
    steps = [step_of(n, [LINK], [TEA], changes=rows[n - 1], title=f"T{n}") for n in (1, 2)]
    (_, one) = joined(recording_of(*steps), {2}).steps
    assert set(one.changes) == {"shop", "cms"}
    assert (one.heading, one.evidence.screenshot) == ("T2", "step-002.webp")
    assert len(one.evidence.acted) == 2


def test_the_opening_takes_no_step_in_and_three_steps_may_be_one() -> None:
    made = recording_of(*(step_of(n, [LINK]) for n in (1, 2, 3)))
    assert [step.number for step in joined(made, {1, 2, 3}).steps] == [0, 1]
    assert joined(made, set()) == made


MENU = page_of(("link", "Shop", "#m > li:nth-of-type(1) > a"), ("link", "Help", "#m > li > a"))


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("#m > li:nth-of-type(1) > ul > li > a", ["hover link “Shop”", "click link “Tea”"]),
        ("#m > li:nth-of-type(1) > a", ["click link “Shop”"]),
        ("#m > li:nth-of-type(3) > ul > a", ["click link “Tea”"]),  # either could have shown it
        ("#elsewhere", ["click link “Tea”"]),
    ],
)
def test_what_only_shows_under_the_mouse_is_hovered_first(path: str, made: list[str]) -> None:
    assert done([event("click", "a", name="Tea", path=path)], MENU) == made


def key(name: str, at: int = 0, tag: str = "input", role: str = "combobox") -> PressedKey:
    value = "" if tag in {"input", "textarea"} else None
    report = KeyReport(
        path="#x", tag=tag, role=role, name="Town", text="", value=value, key=name, url=None
    )
    return PressedKey(report, at)


TYPED = event("input", "input", role="combobox", name="Town", value="Tu", path="#x")


@pytest.mark.parametrize(
    ("events", "keys", "made"),
    [
        (
            [TYPED],
            [key("ArrowDown", 1), key("Enter", 1)],
            ["type “Tu” into combobox “Town”", "press ArrowDown", "press Enter"],
        ),
        ([], [key("Escape", tag="body", role="generic")], ["press Escape"]),
        ([], [key("Tab", role="textbox"), key("ArrowLeft", role="textbox")], []),
        ([], [key("Tab")], ["press Tab"]),
        ([], [key("ArrowDown", tag="body", role="generic")], []),  # the page scrolls
        ([LINK], [key("Enter", tag="a", role="link")], ["click link “Tea”"]),
        (
            [event("input", "textarea", name="Text", value="a")],
            [key("Enter", 1, tag="textarea", role="textbox")],
            ["type “a” into textbox “Text”"],
        ),
        (
            [event("input", "select", role="combobox", name="Size", value="M", path="#x")],
            [key("ArrowDown", 0, tag="select")],
            ["choose “M” in “Size”"],
        ),
    ],
)
def test_a_key_is_done_where_no_event_tells_of_what_it_did(
    events: list[ActedElement], keys: list[PressedKey], made: list[str]
) -> None:
    found = actions_of(events, NOWHERE, keys_of(events, keys))
    assert [said(one.action) for one in found if one.action is not None] == made


def test_letters_after_a_key_are_a_step_of_their_own() -> None:
    step = step_of(1, [TYPED])
    pressed = step.model_copy(update={"actions": actions_of([TYPED], NOWHERE, [key("Escape", 1)])})
    activity = Activity(acted=(TYPED.model_copy(update={"value": "Tul"}),))
    assert goes_on(step, activity)
    assert not goes_on(pressed, activity)
