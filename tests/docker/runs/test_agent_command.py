"""An agent from elsewhere, a program with a client of its own, plays real tasks over CDP."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from run_at import RunAt
from small_suites import bells, profile, write_suite

from arena_core.actions import Goto, Stop
from evaluators.evidence import ElementEvent, Ended

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
