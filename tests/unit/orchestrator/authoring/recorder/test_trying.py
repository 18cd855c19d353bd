"""A check is tried at once: on what was done, on what was there before, and on siblings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.recorder.made_recording import (
    HEAD,
    event,
    looked_up,
    recording_of,
    row,
    step_of,
)

from evaluators.changes import change_as_text
from evaluators.checks import Check
from evaluators.evidence import Located
from orchestrator.authoring.recorder.proposals import of_end, of_step, slug_of
from orchestrator.authoring.recorder.recording import Recording, RecordingEnd
from orchestrator.authoring.recorder.trying import HOLDS_BEFORE, Bench, Trial, asked_by

DELTA = {
    "name": "exactly-these-changes",
    "when": "end",
    "worlds": ["offline"],
    "locate": {"by": "db_delta", "site": "wiki", "ignore": {"tables": ["noise_*"]}},
    "match": {
        "how": "delta",
        "changes": [
            {"table": "post", "kind": "changed", "columns": {"id": "7", "state": "published"}},
            {"table": "log", "kind": "added", "columns": {"state": "done"}},
        ],
    },
}


def edited() -> Recording:
    """Somebody published a post; a table of its own accord changed along."""
    done = [row("post", "7", "draft", "published"), row("log", "99", None, "done")]
    noise = row("noise_hits", "1", "4", "5")
    head = HEAD.model_copy(update={"idle": {"wiki": (change_as_text(noise),)}})
    step = step_of(1, [event("click", name="Publish")], changes={"wiki": [*done, noise]})
    return recording_of(step, head=head, end=RecordingEnd(deltas={"wiki": DELTA}))


def check_of(**parts: Any) -> Check:
    return Check.model_validate({"name": "it", "when": "end", **parts})


def trial(recording: Recording, check: Check, answer: str | None = None) -> Trial:
    return Bench(recording=recording, answer=answer).attempt(check).trial


def test_every_key_node_of_a_step_is_met_by_it() -> None:
    made = looked_up()
    found = of_step(made.steps[1], made.head.start)
    assert {trial(made, one.check) for one in found} == {Trial.MET}
    assert [one.label for one in found][:2] == [
        "address wiki:/article/Samovar",
        "click link “Samovar”",
    ]


def test_an_address_is_offered_in_its_parts() -> None:
    made = recording_of(step_of(1, visits=["wiki:/search?q=red+kettle&page=2#top"]))
    found = {one.label: one for one in of_step(made.steps[1], made.head.start)}
    assert set(found) == {
        "address wiki:/search",
        "address, whole: wiki:/search?page=2&q=red kettle#top",
        "q=red kettle in the address",
        "page=2 in the address",
        "#top in the address",
    }
    assert {trial(made, one.check) for one in found.values()} == {Trial.MET}


def test_what_holds_at_the_start_already_says_so_and_is_not_good() -> None:
    back = recording_of(step_of(1, [event("click", name="Back")], [HEAD.start[0]]))
    (url,) = [one for one in of_end(back, None) if one.key == "end-url"]
    tried = Bench(recording=back).attempt(url.check)
    assert tried.trial is Trial.HOLDS_BEFORE
    assert tried.reason.startswith(HOLDS_BEFORE)
    assert not tried.is_good


def test_that_nothing_changed_holds_before_you_begin() -> None:
    check = check_of(
        locate={"by": "db_delta", "site": "wiki", "ignore": {"tables": ["noise_*"]}},
        match={"how": "delta", "changes": []},
    )
    assert trial(edited(), check) is Trial.UNMET
    made = recording_of(step_of(1, changes={"wiki": []}))
    made = replace(made, head=made.head.model_copy(update={"idle": {"wiki": ()}}))
    assert trial(made, check) is Trial.HOLDS_BEFORE


def test_a_delta_is_met_by_what_was_changed_and_by_nothing_less() -> None:
    made = edited()
    (delta,) = [one for one in of_end(made, None) if one.key == "end-delta-wiki"]
    assert delta.likely
    assert trial(made, delta.check) is Trial.MET
    halfway = replace(made, steps=(made.steps[0], step_of(1, changes={"wiki": []})))
    assert trial(halfway, delta.check) is Trial.UNMET


def test_changes_that_nobody_read_are_no_verdict() -> None:
    (delta,) = [one for one in of_end(edited(), None) if one.key == "end-delta-wiki"]
    assert trial(looked_up(), delta.check) is Trial.UNTRIED


def test_rows_become_queries_that_hold_the_next_time() -> None:
    asked = {
        one.check.locate.model_dump()["sql"]: one.check.match.model_dump()["value"]
        for one in of_end(edited(), None)
        if one.key.startswith("end-row")
    }
    assert asked == {
        "SELECT state FROM post WHERE id = '7'": "published",
        "SELECT COUNT(*) FROM log WHERE state = 'done'": "1",
    }


def test_a_value_of_a_row_cannot_end_its_query() -> None:
    changes = [{"table": "log", "kind": "added", "columns": {"state": "o'); DROP TABLE x; --"}}]
    delta = {**DELTA, "match": {"how": "delta", "changes": changes}}
    made = replace(edited(), end=RecordingEnd(deltas={"wiki": delta}))
    (found,) = [one for one in of_end(made, None) if one.key.startswith("end-row")]
    sql = found.check.locate.model_dump()["sql"]
    assert sql == "SELECT COUNT(*) FROM log WHERE state = 'o''); DROP TABLE x; --'"


def test_the_answer_is_read_as_what_it_is() -> None:
    kinds = {"1891": "number", "£19.99": "money", "2026-11-20": "date", "Tula": "name"}
    for answer, kind in kinds.items():
        (found, *_) = of_end(looked_up(), answer)
        assert found.check.match.model_dump()["type"] == kind
        assert trial(looked_up(), found.check, answer) is Trial.MET
        assert trial(looked_up(), found.check, "nothing of it") is Trial.UNMET


def test_only_the_running_sites_can_say_what_a_page_shows() -> None:
    made = looked_up()
    (page,) = [one for one in of_end(made, None) if one.key == "end-page"]
    bench = Bench(recording=made)
    assert bench.needs_look(page.check)
    assert bench.attempt(page.check).trial is Trial.UNTRIED
    bench.looked[asked_by(page.check)] = Located(check="it", values=("Samovar", "Parts"))
    assert not bench.needs_look(page.check)
    assert bench.attempt(page.check).trial is Trial.MET
    bench.looked[asked_by(page.check)] = Located(check="it", values=("Kettle",))
    assert bench.attempt(page.check).trial is Trial.UNMET


def test_a_check_that_a_sibling_meets_as_well_is_told() -> None:
    made = looked_up()
    node = of_step(made.steps[1])[0].check
    other = replace(made, head=HEAD.model_copy(update={"name": "another"}))
    tried = Bench(recording=made, siblings=[other]).attempt(node)
    assert tried.trial is Trial.PASSES_SIBLING
    assert "another" in tried.reason
    kettle = recording_of(step_of(1, visits=["wiki:/article/Tea"]))
    assert Bench(recording=made, siblings=[kettle]).attempt(node).trial is Trial.MET


def test_names_are_slugs() -> None:
    assert [slug_of(one) for one in ("Add to basket", "…", "É x")] == ["add-to-basket", "it", "x"]
