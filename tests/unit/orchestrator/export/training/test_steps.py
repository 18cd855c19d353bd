"""`sft` and `rft`: the steps of successful episodes, as they were asked and answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Calls, Says
from support.runs.evidence_changes import change
from support.runs.made_run import picture
from support.runs.played_episode import KETTLE
from support.runs.published_run import acted
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, removals
from support.worlds.fake_world import browsing_task

from arena_core.actions import Goto, Scroll, ScrollDirection, Stop, Write
from arena_core.errors import UsageError
from arena_core.logs import REDACTED
from arena_core.worlds import World
from evaluators.evidence import ElementEvent
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.episode.jsonl_files import read_exchanges
from tasks.schema import MiniWobStart, Task

Play = Callable[..., Any]
Export = Callable[..., Any]

PASSWORD = "harbour-emma-2026"  # of the shop's customer, in its manifest
DOWN = Says.action(Scroll(direction=ScrollDirection.DOWN), "look below")


@SLOW
async def test_each_step_of_a_success_is_what_was_asked_and_what_was_answered(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [TO_KETTLE, WRONG])])
    written, records, card = export("sft", run)
    asked = read_exchanges(run.folder.evidence_folder("offline-kettle-r0-a1"))
    assert [one["messages"][:-1] for one in records] == [
        kept.exchange.request["messages"] for kept in asked
    ]
    replies = [one["messages"][-1] for one in records]
    assert [one["content"] for one in replies] == [TO_KETTLE.text, RIGHT.text]
    assert {one["weight"] for one in replies} == {1}
    assert written.episodes == 1
    [left] = written.left_out
    assert (left.what, left.why) == ("offline-kettle-r1-a1", "is not a success: failure")
    assert card["records"] == 2


@SLOW
async def test_a_record_says_where_it_is_from(play: Play, export: Export) -> None:
    task = browsing_task(template="when-was-it-invented")
    run = await play([Sampled(task, [RIGHT]), Sampled(task, [WRONG])])
    _, [record], _ = export("sft", run)
    seed = read_exchanges(run.folder.evidence_folder("offline-kettle-r0-a1"))[0].exchange.request[
        "seed"
    ]
    assert {name: record[name] for name in record if name not in {"messages", "suite_hash"}} == {
        "tools": "",
        "images": [],
        "run": "run",
        "episode": "offline-kettle-r0-a1",
        "suite": "tiny",
        "task": "kettle",
        "template": "when-was-it-invented",
        "sites": ["wiki"],
        "world": "offline",
        "staged": "",
        "repeat": 0,
        "attempt": 1,
        "step": 1,
        "branch_root": None,
        "branch_step": None,
        "checkpoint": None,
        "seed": seed,
        "run_seed": 5,
        "task_seed": None,
        "temperature": 1.0,
        "site_images": ["arena/wiki:1=sha256:" + "ab" * 32],
        "agent": "chat (scripted)",
        "agent_class": "contestant",
        "model": "scripted",
        "parser": "orchestrator.agents.builtin.chat, arena-orchestrator 0.1.0",
        "prompt_version": "chat arena-orchestrator 0.1.0",
        "prompt_is": "asked",
        "n": 2,
        "n_right": 1,
        "n_unscored": 0,
    }


async def test_an_action_that_could_not_be_done_is_no_example(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [DOWN, TO_KETTLE, RIGHT], refuses={"scroll": "no way"})])
    _, records, card = export("sft", run)
    assert [one["step"] for one in records] == [2, 3]
    assert removals(card) == {"the action could not be done": 1}


async def test_a_reply_that_was_no_command_is_no_example(
    play: Play, export: Export, task: Task
) -> None:
    replies = [
        Says("let me see"),
        Says(f"jump_to('{KETTLE}', False)"),
        Says("finish('1891') # yes"),
    ]
    run = await play([Sampled(task, replies)], agent="autowebglm")
    _, records, card = export("sft", run, shape="autowebglm")
    assert [one["target"] for one in records] == [reply.text for reply in replies[1:]]
    assert all("#Previous commands:" in one["source"] for one in records)
    assert removals(card) == {"the reply held no action, and nothing was done": 1}


async def test_only_the_reply_that_was_taken_is_weighed(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [Says("I click it"), TO_KETTLE, RIGHT])])
    _, records, _ = export("sft", run)
    said = [one for one in records[0]["messages"] if one["role"] == "assistant"]
    assert [(one["content"], one["weight"]) for one in said] == [
        ("I click it", 0),
        (TO_KETTLE.text, 1),
    ]


@SLOW
async def test_functions_that_were_offered_and_called_are_kept(
    play: Play, export: Export, task: Task
) -> None:
    replies = [Calls.one("goto", url=KETTLE), Calls.one("stop", answer="1891")]
    run = await play([Sampled(task, replies)], agent="tools")
    _, records, _ = export("sft", run)
    last = records[-1]["messages"][-1]
    [call] = last["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"answer": "1891"}
    assert "goto" in {one["function"]["name"] for one in json.loads(records[0]["tools"])}
    _, none, card = export("sft", run, shape="autowebglm")
    assert none == []
    assert list(removals(card)) == [
        "the prompt is not one text, as AutoWebGLM's is: --option shape=chat"
    ]


@SLOW
async def test_of_several_calls_in_a_reply_only_one_was_played_so_it_is_no_example(
    play: Play, export: Export, task: Task
) -> None:
    both = Calls((("goto", json.dumps({"url": KETTLE})), ("back", "{}")))
    run = await play([Sampled(task, [both, Calls.one("stop", answer="1891")])], agent="tools")
    _, records, card = export("sft", run)
    assert [one["step"] for one in records] == [2]
    assert removals(card) == {"the reply called several functions, of which one was played": 1}


async def test_images_of_a_prompt_stand_beside_the_data(
    play: Play, export: Export, tmp_path: Any
) -> None:
    task = browsing_task()
    run = await play([Sampled(task, [])], agent="support.runs.sampled_runs:Looker")
    _, [record], card = export("sft", run)
    [folder] = tmp_path.glob("sft-*")
    [image] = record["images"]
    assert (folder / image).read_bytes() == picture()
    assert record["messages"][0]["content"] == [
        {"type": "text", "text": task.intent},
        {"type": "image", "image": image},
    ]
    assert card["images"] == 1
    (run.folder.evidence_folder("offline-kettle-r0-a1") / Path(image).name).unlink()
    _, none, card = export("sft", run)
    assert none == []
    assert removals(card) == {"an image of the prompt is not in the evidence": 1}


async def test_what_the_card_cannot_vouch_for_it_says(play: Play, export: Export) -> None:
    known = await play([Sampled(browsing_task(), [RIGHT])])
    elsewhere = known.rows[0].task.model_copy(update={"sites": ("bank",)})
    episode = replace(known.episodes[0], task=elsewhere)
    row = replace(known.rows[0], episodes={World.OFFLINE: (episode,)})
    _, _, card = export("sft", replace(known, rows=(row,)))
    assert any("no manifest here of bank" in one for one in card["warnings"])


async def test_a_test_problem_of_miniwob_is_never_taken(play: Play, export: Export) -> None:
    run = await play([Sampled(browsing_task(), [RIGHT])])
    wob = MiniWobStart(page="click-test", seed=1, mode="test")
    episode = replace(
        run.episodes[0], task=run.episodes[0].task.model_copy(update={"miniwob": wob})
    )
    row = replace(run.rows[0], episodes={World.OFFLINE: (episode,)})
    written, records, _ = export("sft", replace(run, rows=(row,)))
    assert records == []
    assert "mode: test" in written.left_out[0].why


@SLOW
async def test_a_password_of_a_site_in_any_part_of_a_record_removes_it(
    play: Play, export: Export, task: Task
) -> None:
    inside = Says.action(Goto(url=f"{KETTLE}?p={PASSWORD.replace('-', '%2D')}"), "log in")
    run = await play(
        [
            Sampled(task, [TO_KETTLE, RIGHT]),
            Sampled(task, [inside, TO_KETTLE, RIGHT]),
        ]
    )
    _, plain, _ = export("sft", run)
    assert not any(PASSWORD in json.dumps(one) for one in plain)
    spoken = Says.action(Goto(url=KETTLE), f"the password is {PASSWORD}")
    told = await play([Sampled(task, [spoken, RIGHT])], name="told")
    written, records, card = export("sft", told)
    assert records == []
    assert removals(card) == {"it holds a secret": 2}  # the next prompt repeats the thought
    assert [one.why for one in written.left_out] == [
        "all its records were removed: see the data card"
    ]


@SLOW
async def test_no_training_form_holds_a_password_that_was_typed(
    play: Play, export: Export, task: Task
) -> None:
    typed = Says.action(Write(text=PASSWORD), "log in")
    wrong = Says.action(Stop(answer=f"1791 {PASSWORD}"), "done")
    clean = await play([Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [TO_KETTLE, WRONG])])
    told = await play(
        [
            Sampled(task, [TO_KETTLE, typed, RIGHT]),
            Sampled(task, [TO_KETTLE, RIGHT]),
            Sampled(task, [TO_KETTLE, wrong]),
        ],
        name="told",
    )
    for form in ("sft", "rft", "rewards", "dpo"):
        assert export(form, clean)[1], form  # there is something to keep it out of
        _, records, card = export(form, told)
        assert PASSWORD not in json.dumps(records), form
        assert removals(card)["it holds a secret"] >= 1, form


@SLOW
async def test_what_went_into_a_field_that_hides_it_is_a_secret_of_its_task(
    play: Play, export: Export, task: Task
) -> None:
    typed = Says.action(Write(text="hunter2!"), "log in")
    run = await play([Sampled(task, [typed, TO_KETTLE, RIGHT])])
    assert "hunter2!" in json.dumps(export("sft", run)[1])
    name = run.episodes[0].folder
    steps = run.episodes[0].evidence.model_dump(mode="json")["steps"]
    steps[1]["acted"] = [acted(ElementEvent.INPUT, "password").model_dump(mode="json")]
    change(run.folder, name, steps=steps)
    _, records, _ = export("sft", read_run(run.folder))
    assert "hunter2!" not in json.dumps(records)


async def test_a_record_that_was_redacted_is_not_what_was_asked(
    play: Play, export: Export, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "correct-horse-battery")
    spoken = Says.action(Goto(url=KETTLE), "correct-horse-battery")
    run = await play([Sampled(task, [spoken, RIGHT])])
    assert REDACTED in str(read_exchanges(run.folder.evidence_folder("offline-kettle-r0-a1")))
    _, records, card = export("sft", run)
    assert records == []
    assert removals(card) == {"a secret was redacted when the episode was recorded": 2}


@SLOW
async def test_equal_records_are_written_once_and_counted(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT])] * 3)
    written, records, card = export("sft", run)
    assert len(records) == 2
    assert removals(card) == {"the same prompt and reply as another record": 4}
    assert written.episodes == 1


@SLOW
async def test_an_agent_without_a_model_has_no_prompt_unless_one_says_what_stands_for_it(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [])], agent="oracle")
    written, records, _ = export("sft", run)
    assert records == []
    [left] = written.left_out
    assert "asked no model: --option observation=FORM" in left.why
    assert "recorded: axtree" in left.why
    _, [record], card = export("sft", run, observation="axtree")
    assert record["messages"][0]["content"] == (
        f"{task.intent}\n\nhttp://wiki.arena.test/\n\na page at http://wiki.arena.test/"
    )
    assert json.loads(record["messages"][1]["content"])["answer"] == "1891"
    assert (record["prompt_is"], record["agent_class"]) == ("observed", "reference")
    assert any("reference agent" in warning for warning in card["warnings"])
    for form in ("sft", "rft", "rewards"):
        with pytest.raises(UsageError, match="observation=html has no effect") as caught:
            export(form, run, observation="html")
        assert caught.value.hint == "recorded are: axtree"


async def test_an_unscored_episode_is_no_success(play: Play, export: Export) -> None:
    broken = browsing_task(
        requires=[
            {
                "name": "sold",
                "when": "end",
                "locate": {"by": "db", "site": "wiki", "sql": "SELECT 1"},
                "match": {"how": "exact", "value": "1"},
            }
        ]
    )
    run = await play([Sampled(broken, [RIGHT])])
    written, records, card = export("sft", run)
    assert records == []
    assert "unscored" in written.left_out[0].why
    assert (card["tasks"][0]["right"], card["tasks"][0]["unscored"]) == (0, 1)


@SLOW
async def test_rft_takes_each_way_of_succeeding_once_with_the_counts_of_its_task(
    play: Play, export: Export, task: Task
) -> None:
    another = Says.action(Goto(url=KETTLE), "other words for the same")
    run = await play(
        [
            Sampled(task, [TO_KETTLE, RIGHT]),
            Sampled(task, [another, RIGHT]),
            Sampled(task, [TO_TEAPOT, TO_KETTLE, RIGHT]),
            Sampled(task, [TO_TEAPOT, WRONG]),
        ]
    )
    written, records, card = export("rft", run)
    assert [(one["trace"], one["trace_steps"]) for one in records] == [
        *[("offline-kettle-r0-a1", 2)] * 2,
        *[("offline-kettle-r2-a1", 3)] * 3,
    ]
    assert {(one["n"], one["n_right"]) for one in records} == {(4, 3)}
    assert written.left_out[0].why == "did the same as another successful episode"
    assert (card["tasks"][0]["traces"], card["tasks"][0]["records"]) == (2, 5)
    written, records, _ = export("rft", run, most=1)
    assert {one["trace"] for one in records} == {"offline-kettle-r0-a1"}


async def test_the_card_names_the_file_by_its_digest_and_leaves_the_licence_open(
    play: Play, export: Export, task: Task, tmp_path: Any
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT])])
    _, _, card = export("sft", run)
    [folder] = tmp_path.glob("sft-*")
    assert card["sha256"] == hashlib.sha256((folder / "sft.jsonl").read_bytes()).hexdigest()
    assert card["licence"].startswith("to be filled in")
    words = (folder / "README.md").read_text(encoding="utf-8")
    assert "- Licence: to be filled in" in words
    assert "no split was given" in words
