"""An agent from elsewhere, a program with a client of its own, plays real tasks over CDP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, profile, write_suite

from arena_core.actions import Goto, Stop
from arena_core.errors import AgentCrashedError
from evaluators.evidence import ElementEvent, Ended
from evaluators.verdicts import CheckStatus, verdicts
from tasks.loader import load_suite

EXAMPLE = Path(__file__).parents[3] / "examples" / "over_cdp" / "my_agent.py"

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PLAYWRIGHT = """
import json, os
from playwright.sync_api import sync_playwright

episode = json.load(open(os.environ["ARENA_EPISODE"], encoding="utf-8"))
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["ARENA_CDP_URL"])
    page = browser.contexts[0].pages[0]
    assert page.url == os.environ["ARENA_START_URL"], page.url
    answer = None
    if "bells" in episode["task"]:
        page.get_by_role("link", name="Bruges", exact=True).first.click()
        page.wait_for_load_state()
        answer = "47"
    else:
        page.goto("http://shop.arena.test/accounts/profile/")
    print(page.title())
    browser.close()
print(json.dumps({"answer": answer, "usage": {"input_tokens": 7}}))
"""


def test_a_playwright_script_passes_tasks_over_the_endpoint_of_each(
    run: RunAt, tmp_path: Path
) -> None:
    script = tmp_path / "my_agent.py"
    script.write_text(PLAYWRIGHT, encoding="utf-8")
    suite = write_suite(tmp_path, bells("bells"), profile("profile"))
    played = run.play(suite, "--agent-cmd", f"{sys.executable} {script}", "--json")
    assert played.code == 0, played.err
    assert [outcome for _, outcome in run.attempts()] == ["success", "success"]
    assert run.lock.agent.kind == "command"
    assert run.lock.agent.options["command"] == f"{sys.executable} {script}"
    assert run.containers() == ()

    clicked = run.evidence("bells")
    assert clicked.ended is Ended.STOPPED
    assert clicked.input_tokens == 7
    (acted,) = [one for step in clicked.steps for one in step.acted]
    assert (acted.event, acted.name, acted.trusted) == (ElementEvent.CLICK, "Bruges", True)
    assert len(clicked.steps) == 3  # the opening, the click, the end
    assert clicked.steps[1].logical == "wiki:/article/Bruges"

    went = run.evidence("profile")
    assert [type(step.action) for step in went.steps] == [type(None), Goto, Stop]
    log = run.path / "evidence" / "offline-bells-r0-a1" / "agent.log"
    assert "Bruges" in log.read_text(encoding="utf-8")
    report = json.loads(played.out)
    assert report["totals"]["offline"]["success"] == 1.0


FORGER = """
import json, os
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["ARENA_CDP_URL"])
    page = browser.contexts[0].pages[0]
    page.evaluate("history.pushState(0, '', '/wiki/A/Bruges')")
    page.evaluate("setTimeout(() => history.pushState(0, '', '/wiki/A/Bruges'), 800)")
    page.wait_for_timeout(1500)
    browser.close()
print(json.dumps({"answer": "47"}))
"""


def test_an_agent_that_only_sets_the_address_of_a_page_has_not_been_there(
    run: RunAt, tmp_path: Path
) -> None:
    script = tmp_path / "forger.py"
    script.write_text(FORGER, encoding="utf-8")
    task: dict[str, Any] = dict(bells("bells"))
    article = task["checks"][0]
    task["checks"] = [*task["checks"], {**article, "name": "there", "when": "end"}]
    suite = write_suite(tmp_path, task)
    run.play(suite, "--agent-cmd", f"{sys.executable} {script}")
    assert run.attempts() == [("finished", "failure")]
    evidence = run.evidence("bells")
    found = verdicts(load_suite(str(suite)).tasks[0].checks, evidence)
    unmet = [one.check for one in found if one.status is CheckStatus.UNMET]
    assert unmet == ["article", "there"]
    assert evidence.answer == "47"
    visits = [one for step in evidence.steps for one in step.visits]
    assert [(one.logical, one.counts) for one in visits[1:]] == [
        ("wiki:/article/Bruges", False)
    ] * 2
    assert evidence.steps[-1].is_forged


def test_the_example_answers_from_the_page_it_opened(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    played = run.play(suite, "--agent-cmd", f"{sys.executable} {EXAMPLE}")
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")]


def test_an_agent_that_does_nothing_fails(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    played = run.play(suite, "--agent-cmd", f"{sys.executable} -c pass")
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]


def test_a_budget_holds_what_a_program_says_that_it_spent(run: RunAt, tmp_path: Path) -> None:
    script = tmp_path / "spends.py"
    script.write_text('print(\'{"usage": {"usd": 0.02}}\')', encoding="utf-8")
    suite = write_suite(tmp_path, bells("bells"))
    words = ("--agent-cmd", f"{sys.executable} {script}", "--repeats", "3", "--max-usd", "0.03")
    played = run.play(suite, *words, "--json")
    assert [outcome for _, outcome in run.attempts()] == ["failure", "failure", "unscored: budget"]
    assert "$0.0400 of $0.03" in played.err
    assert json.loads(played.out)["usd"] == 0.04


def test_a_last_line_that_cannot_be_used_is_a_crash_that_is_named(
    run: RunAt, tmp_path: Path
) -> None:
    script = tmp_path / "says.py"
    script.write_text("print({'answer': '47'})", encoding="utf-8")
    suite = write_suite(tmp_path, bells("bells"))
    played = run.play(suite, "--agent-cmd", f"{sys.executable} {script}")
    assert played.code == AgentCrashedError.exit_code
    assert run.evidence("bells").ended is Ended.AGENT_CRASHED
    assert "is no JSON" in played.err
