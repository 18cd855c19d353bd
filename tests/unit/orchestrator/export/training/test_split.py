"""A split keeps its test tasks out of every data set, with all that is like them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.made_run import make_run
from support.runs.sampled_runs import RIGHT, WRONG, Sampled, removals
from support.tasks.code_blocks import ROOT, blocks_of
from support.worlds.fake_world import browsing_task

from arena_core.errors import InputError, UnknownNameError
from orchestrator.export.training.split import read_split
from tasks.loader import load_suite
from tasks.schema import Suite, Task

GUIDE = ROOT / "docs" / "training-data.md"
Call = Callable[..., Ended]
Play = Callable[..., Any]
Export = Callable[..., Any]


def tasks() -> list[Task]:
    def one(name: str, **more: object) -> Task:
        intent = more.pop("intent", f"Tell when the {name} was invented.")
        return browsing_task(id=name, intent=intent, **more)

    return [
        one("kettle", template="invented"),
        one("teapot", template="invented"),
        one("again", intent="Tell when  the KETTLE was invented."),
        one("spoon"),
        one("fork"),
    ]


def split_file(folder: Path, text: str) -> Path:
    path = folder / "split.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def suite() -> Suite:
    return Suite(suite="tiny", version=1, title="Tiny", tasks=tuple(tasks()))


@SLOW
async def test_no_test_task_nor_one_of_its_template_nor_the_same_question_is_exported(
    play: Play, export: Export, tmp_path: Path
) -> None:
    run = await play([Sampled(one, [reply]) for one in tasks() for reply in (RIGHT, WRONG)])
    path = split_file(tmp_path, "test: [kettle]\n")
    kin = "is an instance of the same template as a test task of the split"
    for form in ("sft", "rft", "rewards", "dpo"):
        _, all_records, _ = export(form, run)
        assert {one["task"] for one in all_records} == {one.id for one in tasks()}, form
        written, records, card = export(form, run, split=str(path))
        assert {one["task"] for one in records} == {"spoon", "fork"}, form
        removed = removals(card)
        assert (removed["is a test task of the split"], removed[kin]) == (2, 4), form
        assert {one.why for one in written.left_out} >= {"is a test task of the split", kin}, form
        assert card["split"].startswith("split.yaml ("), form
        assert not any("no split" in warning for warning in card["warnings"]), form


@SLOW
async def test_where_training_tasks_are_named_no_other_is_taken(
    play: Play, export: Export, tmp_path: Path
) -> None:
    run = await play([Sampled(one, [RIGHT]) for one in tasks()])
    path = split_file(tmp_path, "test: [kettle]\ntrain: [tiny/spo*]\n")
    _, records, card = export("sft", run, split=str(path))
    assert {one["task"] for one in records} == {"spoon"}
    assert removals(card)["is not a training task of the split"] == 1


def own(**splits: str) -> list[Task]:
    return [one.model_copy(update={"split": splits.get(one.id)}) for one in tasks()]


@SLOW
async def test_what_the_suite_holds_out_is_exported_only_when_asked_for_by_name(
    play: Play, export: Export
) -> None:
    given = own(kettle="test", fork="validation", teapot="train", spoon="train")
    run = await play([Sampled(one, [reply]) for one in given for reply in (RIGHT, WRONG)])
    for form in ("sft", "rft", "rewards", "dpo"):
        written, records, card = export(form, run)
        # Of the kettle's template is the teapot, too.
        assert {one["task"] for one in records} == {"spoon"}, form
        assert removals(card)["is held out by its suite's own split"] == 4, form
        kin = "is an instance of the same template as a task held out by its suite"
        assert removals(card)[kin] == 4, form
        assert {one.why for one in written.left_out} >= {kin}, form
        assert card["split"] == "the suites' own", form
        assert not any("no split" in warning for warning in card["warnings"]), form
        _, records, card = export(form, run, include="test")
        assert {one["task"] for one in records} == {"kettle", "teapot", "again", "spoon"}, form
        assert card["split"] == "the suites' own, except test", form


def test_a_file_adds_to_what_the_suite_holds_out(tmp_path: Path) -> None:
    held = suite().model_copy(update={"tasks": tuple(own(kettle="test-website"))})
    path = split_file(tmp_path, "test: [spoon]\ntrain: [kettle, fork]\n")
    split = read_split(path, [held])
    by_name = {one.id: one for one in held.tasks}
    assert [name for name in by_name if split.refuses("tiny", by_name[name]) is None] == ["fork"]
    assert str(split).startswith("split.yaml (")
    assert str(split).endswith(" and the suites' own")
    assert str(read_split(None, [suite()])) == ""


@pytest.mark.parametrize("include", ["tests", "test, validation", "train,x"])
def test_a_split_that_no_task_is_of_is_not_asked_for_in_vain(include: str) -> None:
    held = suite().model_copy(update={"tasks": tuple(own(kettle="test", fork="train"))})
    with pytest.raises(UnknownNameError, match=r"no task is of a split '(tests|validation|x)'"):
        read_split(None, [held], include=include)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("test: [kettel]", UnknownNameError, "names no task of tiny: kettel"),
        ("test: [kettle]\ntrain: [other/*]", UnknownNameError, r"other/\*"),
        ("test: [kettle]\ntrain: [kettle, fork]", InputError, "both|tests: tiny/kettle"),
        ("test: []", InputError, "test"),
        ("train: [kettle]", InputError, "test"),
        ("tests: [kettle]\ntest: [fork]", InputError, "tests"),
        ("- kettle", InputError, "mapping"),
    ],
)
def test_a_split_that_would_keep_less_than_it_says_is_refused(
    tmp_path: Path, text: str, error: type[InputError], said: str
) -> None:
    with pytest.raises(error, match=said):
        read_split(split_file(tmp_path, text), [suite()])


@SLOW
def test_a_flag_names_the_split_to_a_form_that_takes_one(call: Call, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    path = split_file(tmp_path, "test: [agrees]\n")
    ended = call("export", "rewards", run.path, "--split", path)
    assert ended.code == 0, ended.err
    kept = (run.path / "export-rewards" / "rewards.jsonl").read_text(encoding="utf-8")
    assert '"task": "parts"' in kept
    assert '"task": "agrees"' not in kept
    ended = call("export", "jsonl", run.path, "--split", path)
    assert (ended.code, "split: the exporter 'jsonl' has no such option" in ended.err) == (2, True)
    ended = call("export", "sft", run.path, "--split", path, "--option", f"split={path}")
    assert (ended.code, "name two splits" in ended.err) == (2, True)


def test_bands_without_a_run_are_refused(call: Call) -> None:
    ended = call("sample", "--agent", "idle", "--bands", "hard", "--dry-run")
    assert ended.code == 2
    assert "--measured RUN" in ended.err


def test_the_split_of_the_guide_is_one(tmp_path: Path) -> None:
    [text] = [one.text for one in blocks_of(GUIDE) if one.language == "yaml"]
    split = read_split(split_file(tmp_path, text), [load_suite("demo")])
    assert "demo/shop-kettle-price" in split.test
    assert any(name.startswith("demo/both-") for name in split.test)


def test_a_page_of_miniwob_is_the_template_of_its_seeds(tmp_path: Path) -> None:
    wob = load_suite("miniwob")
    split = read_split(split_file(tmp_path, "test: [click-test-s1]\n"), [wob])
    others = {one.id for one in wob.tasks if one.miniwob and one.miniwob.page == "click-test"}
    assert split.kin == {f"miniwob/{name}" for name in others - {"click-test-s1"}}
