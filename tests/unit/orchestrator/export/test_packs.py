"""Packs as the programs of their publishers read them; these are restated here, word by word.

Online-Mind2Web: the rules of data/schema_v2, and `src/run.py`; WebVoyager:
`evaluation/auto_eval.py`; WebHarbor: `agent_demo/eval_judge.py`, and the `verify_lib.py` of its
sites. None of them is on PyPI.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.published_run import SITE, acted, evidence, published, run, step, task

from arena_core.actions import Action, AnswerStatus, Infeasible, MouseClick, Stop, Type, Write
from evaluators.evidence import AgentResponse, ElementEvent, Ended, Evidence
from orchestrator import Arena
from orchestrator.export.exporting import Exported
from orchestrator.export.online_mind2web import _VERBS

MIND2WEB = {
    "task_id": "1b867afecf072cb877ebfa4069263746",
    "confirmed_task": "Find out when the kettle was invented.",
    "website": "https://wiki.test/",
    "reference_length": 6,
}
VOYAGE = {
    "web_name": "Google Flights",
    "id": "Google Flights--8",
    "ques": "When was\nthe kettle invented? Please interact with it.",
    "web": "https://www.google.com/travel/flights/",
}
HARBOR = {
    "web_name": "Wiki",
    "id": "Wiki--3",
    "ques": "When was the kettle invented?",
    "web": "http://localhost:40009/",
    "upstream_url": "https://wiki.test/",
    "verifier_path": "sites/wiki/verify/verify_3.py",
    "judge_rubric": "MUST name a year",
}
PNG = b"\x89PNG\r\n\x1a\n"


def packed(
    tmp_path: Path, form: str, row: dict[str, Any], one: Evidence, /, **options: object
) -> Exported:
    number = str(row.get("task_id") or row["id"])
    bases = {"http://localhost:40009": SITE}
    played = task(one.task, published(form, row, number, bases))
    folder = run(tmp_path / "run", [played], [one])
    return Arena().runs.export(folder.path, form, tmp_path / "pack", options=options)


def mind2web(tmp_path: Path, one: Evidence, **options: object) -> tuple[dict[str, Any], Path]:
    done = packed(tmp_path, "online-mind2web", MIND2WEB, one, **options)
    folder = done.path / str(MIND2WEB["task_id"])
    return json.loads((folder / "result.json").read_text("utf-8")), folder


def judged_by_mind2web(result: dict[str, Any], folder: Path) -> tuple[list[str], list[Path], Any]:
    """What `run.py` hands its judges: actions, screenshots and the final answer."""
    shots = folder / "trajectory"
    if result.get("schema_version") != "online-mind2web-v2":
        names = sorted(shots.iterdir(), key=lambda one: int(re.findall(r"\d+", one.name)[0]))
        return result["action_history"], names, result["final_result_response"]
    history = result["action_history"]
    assert re.fullmatch(r"[A-Za-z0-9_\-]+", result["task_id"])
    assert [one["step"] for one in history] == list(range(len(history)))
    for one in history:
        assert (shots / one["screenshot"]).read_bytes().startswith(PNG)
        assert "thought" in one
        suffix = re.search(r"\| (SUCCESS|FAILED)$", one["action"])
        assert one["action_status"] == (suffix[1] if suffix else None)
    shown = [one["screenshot"] for one in history]
    assert sorted(path.name for path in shots.iterdir()) == shown
    last = history[-1]["action"]
    assert last.startswith("TASK_COMPLETE -> ANSWER: ")
    if result["agent_final_answer"] is not None:
        said = last.removeprefix("TASK_COMPLETE -> ANSWER: ")
        assert said.split() == result["agent_final_answer"].split()
    return (
        [one["action"] for one in history[:-1]],
        [shots / name for name in shown],
        result["agent_final_answer"],
    )


def test_online_mind2web_reads_facts_pictures_and_the_answer(tmp_path: Path) -> None:
    result, folder = mind2web(tmp_path, evidence("a", "In\n1891."))
    actions, shots, answer = judged_by_mind2web(result, folder)
    assert answer == "In\n1891."
    assert len(shots) == 4
    assert actions == [
        "TYPE #search -> type “kettle” into textbox “search”, Enter | SUCCESS",
        "CLICK page -> click element 7 | SUCCESS",
        "page -> NAVIGATE -> open another page by its address | FAILED",
    ]
    history = result["action_history"]
    paths = [one["url"].removeprefix(SITE) for one in history]
    assert paths == ["/", "/search", "/wiki/A", "/wiki/A"]
    assert [one["thought"] for one in history] == [None, "that is it", None, "it says so"]
    assert (result["reference_length"], result["task"]) == (6, MIND2WEB["confirmed_task"])
    # Neither what the agent thought nor what it answered is an action.
    assert not any("1891" in one or "that is it" in one for one in actions)


def test_online_mind2webs_first_form_is_read_as_well(tmp_path: Path) -> None:
    result, folder = mind2web(tmp_path, evidence("a"), schema=1)
    actions, shots, answer = judged_by_mind2web(result, folder)
    assert (len(actions), len(result["thoughts"]), answer) == (3, 3, "1891")
    assert [one.name for one in shots] == [f"{n}_full_screenshot.png" for n in range(4)]
    assert all(isinstance(one, str) for one in actions)


@ONE_QUICK
@pytest.mark.parametrize("ended", [Ended.STEP_LIMIT, Ended.AGENT_GAVE_UP, Ended.AGENT_CRASHED])
def test_the_last_action_of_an_agent_that_never_ended_is_no_lost_one(
    tmp_path: Path, ended: Ended
) -> None:
    """Its judge drops the last step: one without an answer stands there."""
    steps = evidence("a").steps[:-1]
    result, folder = mind2web(tmp_path, evidence("a", None, ended=ended, steps=steps))
    actions, _, answer = judged_by_mind2web(result, folder)
    assert (len(actions), answer) == (3, None)


def test_what_went_into_a_field_that_hides_it_is_not_told(tmp_path: Path) -> None:
    hidden = acted(ElementEvent.INPUT, "password")
    steps = (
        step(0, None),
        step(1, Type(element=4, text="hunter2"), acted=(hidden,)),
        step(2, Write(text="hunter2"), acted=(hidden,)),
        step(3, Stop(answer="1891")),
    )
    result, _ = mind2web(tmp_path, evidence("a", steps=steps))
    assert "hunter2" not in json.dumps(result)


def test_a_point_is_a_point_and_an_unknown_action_is_one(tmp_path: Path) -> None:
    steps = (step(0, None), step(1, MouseClick(x=10, y=20.5)), step(2, None))
    result, folder = mind2web(tmp_path, evidence("a", None, steps=steps, ended=Ended.STEP_LIMIT))
    actions, _, _ = judged_by_mind2web(result, folder)
    assert actions[0] == "CLICK coords(10, 20.5) -> click at 10, 20.5 | SUCCESS"
    assert "how is not known" in actions[1]


def test_every_kind_of_action_has_a_verb_of_the_publishers() -> None:
    kinds = {one.model_fields["kind"].default for one in get_args(get_args(Action)[0])}
    assert kinds - {"stop", "infeasible"} == set(_VERBS)
    verbs = "NAVIGATE CLICK TYPE SCROLL HOVER WAIT PRESS_KEY SELECT GO_BACK GO_FORWARD REFRESH"
    assert set(_VERBS.values()) <= set(verbs.split())


def voyage(tmp_path: Path, one: Evidence) -> tuple[Exported, Path, list[dict[str, Any]]]:
    done = packed(tmp_path, "webvoyager", VOYAGE, one)
    folder = done.path / "taskGoogle Flights--8"
    return done, folder, json.loads((folder / "interact_messages.json").read_text("utf-8"))


def judged_by_webvoyager(messages: list[dict[str, Any]]) -> tuple[str, str | None]:
    """What `auto_eval.py` asks its judge about: the task, and the answer where it finds one."""
    info = messages[1]["content"]
    info = info[0]["text"] if isinstance(info, list) else info
    assert "Now given a task" in info
    asked = re.search(r"Now given a task:(.+?)Please interact with", info)
    assert asked is not None
    last = messages[-1]["content"]
    if "Action: ANSWER" not in last:
        return asked[1].strip(), None
    found = re.search(r"ANSWER[; ]+\[?(.[^\]]*)\]?", last)
    assert found is not None
    return asked[1].strip(), found[1].strip()


def test_webvoyager_finds_the_task_the_answer_and_the_screenshots(tmp_path: Path) -> None:
    done, folder, messages = voyage(tmp_path, evidence("a", "In\n1891."))
    asked, answer = judged_by_webvoyager(messages)
    assert asked == "When was the kettle invented? please interact with it."
    assert answer == "In 1891."
    roles = [one["role"] for one in messages]
    assert roles == ["system", *["user", "assistant"] * 4]
    said = [one["content"] for one in messages if one["role"] == "assistant"]
    assert said[0].endswith("Action: Type [4]; kettle")
    assert said[1] == "Thought: that is it\n\nAction: Click [7]"
    assert "The last action was not done" in messages[-2]["content"][0]["text"]
    names = [one.name for one in folder.glob("*.png")]
    assert sorted(names) == [f"screenshot{n}.png" for n in (1, 2, 3, 4)]
    assert not done.left_out


@ONE_QUICK
@pytest.mark.parametrize("thought", ["ANSWER; 1766", "the ANSWER [is] near"])
def test_webvoyager_takes_no_thought_for_the_answer(tmp_path: Path, thought: str) -> None:
    steps = (*evidence("a").steps[:-1], step(4, Stop(answer="1891"), thought=thought))
    _, _, messages = voyage(tmp_path, evidence("a", steps=steps))
    assert judged_by_webvoyager(messages)[1] == "1891"


@pytest.mark.parametrize("answer", [None, ""])
def test_webvoyager_finds_no_answer_where_there_is_none(tmp_path: Path, answer: str | None) -> None:
    """An empty one would end its program with an exception."""
    steps = (*evidence("a").steps[:-1], step(4, Stop(answer=answer)))
    done, _, messages = voyage(tmp_path, evidence("a", answer, steps=steps))
    assert judged_by_webvoyager(messages)[1] is None
    assert any("without an answer" in note for note in done.notes)


def test_an_answer_that_webvoyager_would_cut_is_noted(tmp_path: Path) -> None:
    done, _, _ = voyage(tmp_path, evidence("a", "see [1] and 1891"))
    assert any("hold a ]" in note for note in done.notes)


def harbor(tmp_path: Path, one: Evidence) -> tuple[dict[str, Any], Path, Exported]:
    done = packed(tmp_path, "webharbor", HARBOR, one)
    folder = done.path / "Wiki--3"
    return json.loads((folder / "trajectory.json").read_text("utf-8")), folder, done


def shots_are_there(trajectory: dict[str, Any], folder: Path) -> None:
    """As `screenshots_ok` of its verifiers asks."""
    shots = {one.name for one in (folder / "screenshots").glob("step_*.png")}
    named = set()
    for one in trajectory["steps"]:
        for key in ("screenshot_before", "screenshot_after"):
            assert one[key] in shots
            assert (folder / "screenshots" / one[key]).read_bytes().startswith(PNG)
            named.add(one[key])
    assert named == shots


def test_webharbors_verifiers_find_identity_urls_pictures_and_the_end(tmp_path: Path) -> None:
    found, folder, done = harbor(tmp_path, evidence("a"))
    shots_are_there(found, folder)
    assert (found["task_id"], found["task"]) == ("Wiki--3", HARBOR["ques"])
    assert (found["terminated"], found["termination_reason"]) == (True, "agent_done")
    assert (found["final_answer"], found["judge_rubric"]) == ("1891", "MUST name a year")
    assert found["verifier_path"] == HARBOR["verifier_path"]
    urls = [one[key] for one in found["steps"] for key in ("url", "url_after")]
    assert all(one.startswith("http://localhost:40009/") for one in [*urls, found["final_url"]])
    calls = [(one["action"], one["params"]) for one in found["steps"]]
    assert calls == [
        ("input", {"index": 4, "text": "kettle"}),
        ("click", {"index": 7}),
        ("navigate", {"url": "http://localhost:40009/wiki/A"}),
        ("done", {"text": "1891", "success": True}),
    ]
    assert found["steps"][2]["action_result"]["error"] == "the page cannot be opened"
    assert any("initial.db and after.db are not in it" in note for note in done.notes)


def test_webharbor_sees_that_the_steps_were_used_up(tmp_path: Path) -> None:
    steps = evidence("a").steps[:-1]
    one = evidence("a", None, steps=steps, ended=Ended.STEP_LIMIT)
    found, folder, _ = harbor(tmp_path, one)
    shots_are_there(found, folder)
    assert (found["terminated"], found["termination_reason"]) == (False, "max_steps")
    assert (found["final_answer"], len(found["steps"])) == (None, 3)


@SLOW
def test_what_cannot_be_done_is_said_in_every_pack(tmp_path: Path) -> None:
    steps = (*evidence("a").steps[:-1], step(4, Infeasible(reason="nobody sells it")))
    one = evidence(
        "a",
        None,
        steps=steps,
        ended=Ended.INFEASIBLE,
        response=AgentResponse(status=AnswerStatus.INFEASIBLE, reason="nobody sells it"),
    )
    found, folder, _ = harbor(tmp_path / "one", one)
    shots_are_there(found, folder)
    assert found["final_answer"] == "nobody sells it"
    assert found["steps"][-1]["params"]["success"] is False
    _, _, messages = voyage(tmp_path / "two", one)
    assert judged_by_webvoyager(messages)[1] == "nobody sells it"
    result, path = mind2web(tmp_path / "three", one)
    assert judged_by_mind2web(result, path)[2] == "nobody sells it"
