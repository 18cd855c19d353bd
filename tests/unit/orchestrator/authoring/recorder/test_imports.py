"""Other recorders' files: each step is taken over or named, and nothing of them is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena_core.actions import Click, Goto, Select, Type
from arena_core.errors import InputError
from orchestrator.agents.action_spaces.playwright_calls import PlaywrightCalls
from orchestrator.authoring.recorder.imports import ImportedSteps, import_steps
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation

NODES = (
    Node(id=1, depth=0, role="link", name="Kettle"),
    Node(id=2, depth=0, role="searchbox", name="Search for:"),
    Node(id=3, depth=0, role="combobox", name="Colour"),
    Node(id=4, depth=0, role="link", name="Kettle's lid"),
)
SEEN = Observation(step=0, url="", title="", tabs=(), parts={AXTREE: AxTree(NODES)})
PYTHON = """
import re
from playwright.sync_api import Playwright, sync_playwright, expect
def run(playwright: Playwright) -> None:
    browser = playwright.chromium.launch(headless=False)
    context = browser.new_context()
    page = context.new_page()
    page.goto("http://wiki.arena.test/")
    page.get_by_role("link", name="Kettle", exact=True).click()
    page.get_by_role("searchbox", name="Search for:").fill("samovar")
    page.get_by_label("Colour").select_option("Blue")
    expect(page.get_by_role("link")).to_be_visible()
    page.pause()
"""
TYPESCRIPT = """
import { test, expect } from '@playwright/test';
test('test', async ({ page }) => {
  await page.goto('http://wiki.arena.test/');
  await page.getByRole('link', { name: 'Kettle', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search for:' }).fill('samovar');
  await page.getByLabel('Colour').selectOption('Blue');
});
"""
ROLE = {"kind": "role", "body": "link", "options": {"name": "Kettle", "exact": True}}
JSONL = [
    {"browserName": "chromium", "launchOptions": {}},
    {"name": "openPage", "url": "about:blank"},
    {"name": "navigate", "url": "http://wiki.arena.test/"},
    {"name": "click", "selector": "internal:role=link", "locator": ROLE},
    {
        "name": "fill",
        "text": "samovar",
        "locator": {"kind": "role", "body": "searchbox", "options": {"name": "Search for:"}},
    },
    {
        "name": "select",
        "options": ["Blue"],
        "locator": {"kind": "label", "body": "Colour", "options": {}},
    },
]
CHROME = {
    "title": "Samovar",
    "steps": [
        {"type": "setViewport", "width": 1280, "height": 720},
        {"type": "navigate", "url": "http://wiki.arena.test/"},
        {"type": "click", "selectors": [['aria/Kettle[role="link"]'], ["#k"]], "offsetX": 1},
        {"type": "change", "value": "samovar", "selectors": [["aria/Search for:"], ["#s"]]},
        {"type": "keyDown", "key": "Enter"},
        {"type": "click", "selectors": [["#only-css"], ["xpath///*[@id='x']"]]},
    ],
}


def read(folder: Path, text: str) -> ImportedSteps:
    path = folder / "recorded"
    path.write_text(text)
    return import_steps(path)


def played(steps: ImportedSteps) -> list[object]:
    return [PlaywrightCalls().parse(one.call, SEEN) for one in steps.actions]


@pytest.mark.parametrize(
    "text",
    [PYTHON, TYPESCRIPT, "\n".join(map(json.dumps, JSONL))],
    ids=["python", "typescript", "jsonl"],
)
def test_codegen_is_taken_over_in_each_of_its_languages(tmp_path: Path, text: str) -> None:
    assert played(read(tmp_path, text)) == [
        Goto(url="http://wiki.arena.test/"),
        Click(element=1),
        Type(element=2, text="samovar"),
        Select(element=3, option="Blue"),
    ]


def test_the_devtools_recorder_is_taken_over_by_accessible_names(tmp_path: Path) -> None:
    steps = read(tmp_path, json.dumps(CHROME))
    assert played(steps) == [
        Goto(url="http://wiki.arena.test/"),
        Click(element=1),
        Type(element=2, text="samovar"),
    ]
    assert [one.split(" is left out")[0] for one in steps.left_out] == [
        "step 1 (setViewport)",
        "step 5 (keyDown)",
        "step 6 (click)",
    ]
    assert "neither accessible name nor text" in steps.left_out[2]


def test_what_is_not_taken_over_is_named(tmp_path: Path) -> None:
    steps = read(tmp_path, PYTHON)
    assert [one.partition(" is left")[0] for one in steps.left_out] == [
        'line 12 (expect(page.get_by_role("link")).to_be_visible())',
        "line 13 (page.pause())",
    ]
    css = {"name": "click", "locator": {"kind": "default", "body": "#x"}}
    (left,) = read(tmp_path, json.dumps(css)).left_out
    assert left == "line 1 (click) is left out: it has no plain locator"


def test_nothing_of_a_file_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    evil = f"""page.goto(open({str(mark)!r}, "w").name)
    page.get_by_role("link", name=__import__("os").system("touch {mark}")).click()"""
    found = played(read(tmp_path, evil))
    assert not any(isinstance(one, Goto | Click) for one in found)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(CHROME)[:-40], "is no JSON"),
        ('{"steps": ' + "[" * 5000, "nested"),
        ('{"steps": 7}', "steps: Input should be a valid tuple"),
        ('{"steps": [{"type": "click"}' + ', {"type": "click"}' * 600 + "]}", "at most 500"),
        ("hello", "is no recording"),
        ("page.goto('http://a/')\n" * 600, "at most 500"),
        ("x" * 2_000_001, "is larger than 2 MB"),
    ],
    ids=["truncated", "deep", "wrong", "long", "other", "many", "huge"],
)
def test_a_damaged_or_huge_file_gets_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert why in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


def test_a_file_that_is_not_there_or_no_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        import_steps(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        import_steps(tmp_path / "binary")
