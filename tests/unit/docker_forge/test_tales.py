"""What issues say fits their subject, and notes answer what stands above them."""

from __future__ import annotations

import re
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

matter = import_module("forgeseed.matter")
people = import_module("forgeseed.people")
projects = import_module("forgeseed.projects")
reports = import_module("forgeseed.reports")
sources = import_module("forgeseed.sources")
story = import_module("forgeseed.story")
talk = import_module("forgeseed.talk")

BROWSERS = re.compile(r"\b(Firefox|Safari|Chromium|Edge|browser|NVDA|cookie)\b")
SIDES = (("slots", "web"), ("slots_device", "device"), ("slots_tool", "tool"))
PROJECTS = {"web": "gazette-site", "device": "kettle-firmware", "tool": "ropewalk"}


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    return {one.identifier: one for one in projects.projects(people.people())}


def matters(held: dict[str, Any]) -> list[Any]:
    """Every failure, condition, feature and question in a project that may have it."""
    told = sources.vocabulary("issues")
    made = []
    for name, profile in SIDES:
        lists = {**told["slots"], **told[name]}
        project = held[PROJECTS[profile]]
        said = {"thing": project.things[0], "other": project.things[1], "name": project.name}
        said |= {"who": "editors", "where": "North Quay"}
        kinds = [("broken", "fails", one) for one in lists["fails"]]
        kinds += [(kind, "when", one) for kind in ("log", "disagree") for one in lists["when"]]
        kinds += [("question", "when", one) for one in lists["when"]]
        kinds += [("add", "feature", one) for one in lists["feature"]]
        kinds += [("let", "may", one) for one in lists["may"]]
        kinds += [(kind, "ask", one) for kind in ("how", "please") for one in lists["ask"]]
        made += [matter.Matter(project, kind, {**said, slot: word}) for kind, slot, word in kinds]
    return made


def turn(who: str, **more: Any) -> Any:
    known = {"days": 3.0, "is_author": False, "is_maker": False, "is_manager": False}
    return talk.Turn(who=who, **{**known, "is_assignee": False, **more})


MAKER = {"is_maker": True, "is_assignee": True}


def told(one: Any, seed: int, outcome: str) -> SimpleNamespace:
    """A description and four notes: of a developer, the author, the developer, and the last one."""
    made = story.Story(Random(seed), one, "Ada")
    described = reports.report(made, by_maker=False)
    said = talk.Talk(made, outcome, 2)
    turns = [
        turn("dev", **MAKER),
        turn("ada", is_author=True),
        turn("dev", **MAKER),
        turn("dev", ends=True, **MAKER),
    ]
    return SimpleNamespace(story=made, described=described, notes=[said.say(one) for one in turns])


@pytest.mark.parametrize("outcome", [talk.FIXED, talk.REFUSED])
def test_every_matter_can_be_told_without_a_gap(held: dict[str, Any], outcome: str) -> None:
    for seed, one in enumerate(matters(held)):
        made = told(one, seed, outcome)
        for text in (made.described, *made.notes):
            assert len(text) > 8, (one.kind, one.said)
            assert not re.search(r"\{\w+\}|None|\s\.|\.\.", text), text


def test_a_device_and_a_tool_have_no_browser(held: dict[str, Any]) -> None:
    for seed, one in enumerate(matters(held)):
        if one.profile != "web" and one.kind not in ("how", "please", "let"):
            made = told(one, seed, talk.FIXED)
            assert not BROWSERS.search("\n".join([made.described, *made.notes]))


def test_whoever_is_asked_gives_the_answer_to_that_question(held: dict[str, Any]) -> None:
    when = {"thing": "byline", "other": "feed", "name": "Gazette Website", "when": "after midnight"}
    one = matter.Matter(held["gazette-site"], "disagree", when)
    asked = 0
    for seed in range(60):
        made = told(one, seed, talk.OPEN)
        for question, answer in one.known(Random(0))["qa"]:
            if made.story.fill(question).lower()[2:-2] in made.notes[0].lower():
                asked += 1
                assert made.story.fill(answer).lower()[2:-2] in made.notes[1].lower()
    assert asked > 5


def test_a_bug_that_was_fixed_has_one_cause_and_its_fix(held: dict[str, Any]) -> None:
    for seed, one in enumerate(matters(held)):
        if not one.is_bug:
            continue
        made = told(one, seed, talk.FIXED)
        below = "\n".join(made.notes).lower()
        causes = [pair for pair in one.known(Random(0))["why"] if pair[0] == made.story.cause]
        assert not causes or causes[0][1] == made.story.fix
        assert made.story.fill(made.story.fix).lower()[2:-2] in below


def test_a_bug_that_is_refused_was_neither_seen_nor_explained_before(held: dict[str, Any]) -> None:
    for seed, one in enumerate(matters(held)):
        if one.is_bug:
            made = told(one, seed, talk.REFUSED)
            below = "\n".join(made.notes).lower()
            assert made.story.fill(made.story.cause).lower()[2:-2] not in below


def test_no_note_says_again_what_stands_above(held: dict[str, Any]) -> None:
    for seed, one in enumerate(matters(held)):
        made = told(one, seed, talk.FIXED)
        assert len(set(made.notes)) == len(made.notes), made.notes
        assert not [note for note in made.notes if note in made.described]
