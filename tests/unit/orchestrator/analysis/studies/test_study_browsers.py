"""The browser as a factor of a study: an agent in each, and agents never mixed up with browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import InputError
from arena_core.worlds import World
from orchestrator.analysis.studies.new_study import NewStudy
from orchestrator.analysis.studies.study_file import StudyFile, parse_study_file
from orchestrator.browser.process.kinds import BrowserKind

STUDY = """\
name: browsers
agents:
  shell: {agent: idle, browser: headless-shell}
  window: {agent: idle, browser: headed}
  usual: {agent: idle}
  other: {agent: random}
suites: [{suite: demo, tasks: [wiki-*]}]
worlds: [online]
"""
QUESTION = "questions: [{id: q, kind: difference, of: agents, first: FIRST, second: SECOND}]\n"


def read(text: str, **changes: str) -> StudyFile:
    for name, value in changes.items():
        text = text.replace(name, value)
    return parse_study_file(text, Path("study.yaml"))


def planned(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "study.yaml"
    path.write_text(text, "utf-8")
    return {one.folder: one.request for one in NewStudy.read(path).runs}


def test_each_agent_is_played_in_its_own_browser_and_the_others_in_the_usual_one(
    tmp_path: Path,
) -> None:
    runs = planned(tmp_path, STUDY)
    kinds = {name: one.settings.browser.kind for name, one in runs.items()}
    assert kinds == {
        "shell": BrowserKind.SHELL,
        "window": BrowserKind.HEADED,
        "usual": BrowserKind.CHROMIUM,
        "other": BrowserKind.CHROMIUM,
    }
    assert runs["shell"].browser.only_shell
    assert not runs["window"].browser.headless


def test_the_studys_browser_is_that_of_agents_that_name_none(tmp_path: Path) -> None:
    runs = planned(tmp_path, STUDY + "browser: headed\n")
    assert runs["usual"].settings.browser.kind is BrowserKind.HEADED
    assert runs["shell"].settings.browser.kind is BrowserKind.SHELL


def test_arms_are_played_in_the_browser_of_the_clean_arm(tmp_path: Path) -> None:
    arms = STUDY.replace("[online]", "[offline, online]") + "variations: {dark: [look=dark]}\n"
    runs = planned(tmp_path, arms)
    assert runs["usual--dark"].settings.worlds == (World.OFFLINE,)
    assert runs["usual--dark"].browser == runs["usual"].browser
    assert runs["shell--dark"].browser == runs["shell"].browser
    offline = planned(tmp_path, "\n".join(arms.splitlines()[:2]) + """
  usual: {agent: idle}
suites: [{suite: demo, tasks: [wiki-*]}]
""")  # fmt: skip
    assert offline["usual"].settings.browser is None


def test_one_agent_in_two_browsers_may_be_asked_about() -> None:
    assert read(STUDY + QUESTION, FIRST="shell", SECOND="window").questions
    assert read(STUDY + QUESTION, FIRST="usual", SECOND="other").questions
    offline = STUDY.replace("[online]", "[offline]") + QUESTION
    assert read(offline, FIRST="shell", SECOND="other").questions


@pytest.mark.parametrize("first", ["shell", "window"])
def test_two_agents_in_two_browsers_may_not(first: str) -> None:
    with pytest.raises(InputError) as refused:
        read(STUDY + QUESTION, FIRST=first, SECOND="other")
    assert f"questions.0: {first} and other are two agents in two browsers" in str(refused.value)
    both = STUDY.replace("[online]", "[offline, online]") + QUESTION
    with pytest.raises(InputError, match="two agents in two browsers"):
        read(both, FIRST=first, SECOND="other")
    within = both.replace("second: SECOND", "second: SECOND, within: {world: offline}")
    assert read(within, FIRST=first, SECOND="other").questions


@pytest.mark.parametrize("where", ["study", "agent"])
def test_no_secret_of_an_address_stands_in_a_studys_file(where: str) -> None:
    secret = "cdp:wss://example.com?apiKey=bb_live_12345678"
    text = STUDY.replace("browser: headed", f"browser: '{secret}'")
    if where == "study":
        text = STUDY + f"browser: '{secret}'\n"
    with pytest.raises(InputError, match="write \\$\\{NAME\\} in its place") as refused:
        read(text)
    assert "bb_live" not in str(refused.value)
    named = read(text.replace("bb_live_12345678", "${KEY}"))
    assert named.agents
