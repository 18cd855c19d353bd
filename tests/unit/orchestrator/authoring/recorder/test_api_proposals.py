"""The data that pages asked for is proposed as a check where it says what a person did."""

from __future__ import annotations

import json

import pytest
from support.recorder.made_recording import event, recording_of, step_of

from orchestrator.authoring.recorder.proposals import asks, is_data, of_end
from orchestrator.authoring.recorder.recording import Recording, RecordingEnd
from orchestrator.authoring.recorder.trying import Bench, Trial, asked_by

TYPED = step_of(1, [event("input", "input", name="Title", value="Leeks")])
AT = '$["items"][1]["title"]'


def answered(body: object, path: str = "wiki:/api/list?page=1") -> Recording:
    text = body if isinstance(body, str) else json.dumps(body)
    return recording_of(TYPED, end=RecordingEnd(looked={asked_by(asks(path)): (text,)}))


def proposed(made: Recording, answer: str | None = None) -> list[str]:
    return [one.label for one in of_end(made, answer) if one.key.startswith("end-api")]


LIST = {"items": [{"title": "Kale"}, {"title": "Leeks", "id": 7}], "count": 214}


def test_what_was_typed_is_proposed_where_the_data_says_it() -> None:
    made = answered(LIST)
    (one,) = [one for one in of_end(made, None) if one.key.startswith("end-api")]
    assert one.label == f"the data at wiki:/api/list?page=1 says “Leeks” at {AT}"
    written = one.check.model_dump(exclude_unset=True)
    assert written["locate"] == {
        "by": "api",
        "site": "wiki",
        "path": "/api/list?page=1",
        "json_path": AT,
    }
    assert not one.likely  # where it stands in a list may differ the next time
    found = Bench(recording=made).attempt(one.check)
    assert found.trial is Trial.UNTRIED
    end = RecordingEnd(looked={asked_by(one.check): ("Leeks",)})
    assert Bench(recording=recording_of(TYPED, end=end)).attempt(one.check).trial is Trial.MET


def test_the_answer_is_proposed_too_and_short_ones_are_not() -> None:
    assert len(proposed(answered(LIST), "214")) == 2
    assert len(proposed(answered(LIST), "7")) == 1


@pytest.mark.parametrize("body", ["<h1>Leeks</h1>", "Leeks", '"Leeks"', "[" * 5000, "", "{}" * 2])
def test_what_is_no_data_is_not(body: str) -> None:
    assert not is_data(body)


def test_data_that_says_it_very_often_is_proposed_a_few_times_under_names_of_their_own() -> None:
    made = answered({'odd "key"': ["Leeks"] * 1000})
    keys = {one.key for one in of_end(made, None) if one.key.startswith("end-api")}
    assert len(keys) == len(proposed(made)) == 5
