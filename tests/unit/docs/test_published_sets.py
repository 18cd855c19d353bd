"""The commands of the page on published task sets, on files as their publishers write them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.sites.stand_in_sites import WEBARENA_ROLES, write_sites
from support.tasks.code_blocks import ROOT, blocks_of
from support.tasks.published_tasks import verified_task, webarena_task

from sites.registry import OWN_SITES, load_registry
from tasks.imports.site_map import Installed, read_site_map

PAGE = ROOT / "docs" / "published-task-sets.md"
NODE = {
    "match_function_name": "url_included_match",
    "content": {
        "key": "",
        "reference_answer": "gamestop.",
        "url": "https://www.gamestop.com/",
    },
}
FILES = {
    "test.raw.json": webarena_task(),
    "webarena-verified.json": verified_task({"type": "null"}, None, kind="mutate"),
    "mind2web-live_test_20241024.json": {
        "index": 0,
        "task": "Find the closest store",
        "reference_task_length": 4,
        "evaluation": [NODE],
    },
    "en/ind/test.json": {"source": "< <a[B]| Go> > #Task: Go on .", "target": "click('B')"},
}


@SLOW
def test_the_commands_of_the_page_import_and_lint(
    call: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, record in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([record]))
    here = load_registry([]).sites
    missing = {name: roles for name, roles in WEBARENA_ROLES.items() if name not in here}
    write_sites(tmp_path / OWN_SITES, missing)
    blocks = [one for one in blocks_of(PAGE) if one.lines[0].startswith("arena tasks ")]
    commands = [line for one in blocks for line in one.lines]
    assert len(commands) == 2 * len(FILES) + 2
    for line in commands:
        program, *words = shlex.split(line)
        assert program == "arena"
        ended = call(*words)
        assert ended.code == 0, f"{line}: {ended.err}"


def test_the_map_of_the_page_can_be_read(tmp_path: Path) -> None:
    [written] = [one for one in blocks_of(PAGE) if one.language == "yaml"]
    path = tmp_path / "map.yaml"
    path.write_text(written.text)
    found = read_site_map(path, Installed())
    assert found.sites["shopping_admin"].path == "/dashboard"
    assert found.hosts["www.gamestop.com"] == "shop"
