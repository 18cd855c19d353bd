"""The example in a command's help is one that the command takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended

Call = Callable[..., Ended]

WITH_AN_EXAMPLE = [
    *("compare", "export", "sample", "score", "tasks import", "tasks lint"),
    "tasks repair",
    *("canary play", "canary report"),
    *(f"study {name}" for name in ("plan", "run", "status", "report", "add", "verify")),
]


@ONE_QUICK
@pytest.mark.parametrize("command", WITH_AN_EXAMPLE)
def test_help_has_an_example_whose_options_it_lists(call: Call, command: str) -> None:
    said = call(*command.split(), "--help").out
    found = re.search(r"Example: (arena .+?)\n\n", said, re.DOTALL)
    assert found is not None, said
    example = shlex.split(" ".join(found[1].split()))
    assert example[1 : 1 + len(command.split())] == command.split()
    listed = said[found.end() :]
    options = [word for word in example if re.fullmatch(r"--?[a-z][a-z-]*", word)]
    assert all(re.search(rf"(^|[ ,]){option}\b", listed, re.MULTILINE) for option in options)
