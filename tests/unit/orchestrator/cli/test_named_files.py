"""Files that messages and help name are there, also where Arena is installed without a checkout."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.agents.arena_process import Ended
from support.tasks.code_blocks import ROOT

from orchestrator.cli.entry import _PANELS

Call = Callable[..., Ended]

COMMANDS = [name for panel in _PANELS.values() for name in panel]
# A path of the checkout that an installed package has not, or has elsewhere.
OF_A_CHECKOUT = re.compile(
    r"(?:^|[\s`'(\"])((?:docs|docker|examples|tests|sites|tasks|orchestrator)/[\w./-]+\.(?:md|sh|py))"
    r"|\bFAQ\b"
)
PACKAGES = ("orchestrator", "sites", "evaluators", "tasks", "arena_core")


@ONE_QUICK
@pytest.mark.parametrize("command", COMMANDS)
def test_no_help_points_to_a_file_of_the_checkout(call: Call, command: str) -> None:
    assert OF_A_CHECKOUT.search(call(command, "--help").out) is None


@SLOW
def test_no_message_points_to_a_file_of_the_checkout() -> None:
    texts = [
        (path, line.strip())
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"(message|hint|help)\b.*[=(].*\"", line) and OF_A_CHECKOUT.search(line)
    ]
    assert texts == []


def test_the_script_that_installs_what_is_missing_is_where_the_message_says(call: Call) -> None:
    ended = call("status")
    [named] = re.findall(r"run (\S+bootstrap\.sh)", ended.err)
    assert Path(named).is_file()
