"""A suite's own functions run in a process of their own, with limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest
from make_evidence import make_evidence
from plugged import install

from arena_core.errors import TaskError
from arena_core.plugins import Group
from evaluators.network import RequestRecord
from orchestrator.access import functions
from orchestrator.access.functions import call_function

SOURCE = """
import os, socket, sys, time

def total(evidence, arguments):
    print("this is no answer")
    return [evidence.answer, arguments["n"], True, len(evidence.network or ()), os.getpid()]

def crash(evidence, arguments):
    raise ValueError("no\\nsuch total")

def leave(evidence, arguments):
    os._exit(3)

def sleep(evidence, arguments):
    time.sleep(60)

def spin(evidence, arguments):
    while True:
        pass

def write(evidence, arguments):
    with open("file", "w") as file:
        file.write("x")
    return []

def secret(evidence, arguments):
    return [os.environ.get("ARENA_TEST_KEY", "none"), os.getcwd()]

def text(evidence, arguments):
    return "text"

def much(evidence, arguments):
    return ["x" * (2 << 20)]
"""
NAMES = ("total", "crash", "leave", "sleep", "spin", "write", "secret", "text", "much")


@pytest.fixture(autouse=True)
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {Group.FUNCTIONS: {name: f"acme_totals:{name}" for name in NAMES}}
    install(tmp_path, "acme-totals", points, modules={"acme_totals": SOURCE})
    monkeypatch.syspath_prepend(str(tmp_path))


async def call(name: str, seconds: int = 5) -> tuple[str, ...]:
    sent = RequestRecord(index=0, step=1, method="GET", url="http://s/")
    evidence = make_evidence(answer="47").model_copy(update={"network": (sent,)})
    return await call_function(name, {"n": 1.5}, evidence, seconds)


async def test_a_function_gets_evidence_and_arguments_in_another_process() -> None:
    *values, process = await call("total")
    assert values == ["47", "1.5", "true", "1"]
    assert int(process) != os.getpid()
    assert "acme_totals" not in sys.modules


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("crash", "ValueError: no such total"),
        ("leave", "exit code 3"),
        ("write", "File too large"),
        ("text", "a list of values, not str"),
        ("much", "more than"),
        ("gone", "registers a function 'gone'"),
    ],
)
async def test_what_goes_wrong_is_no_verdict_and_says_why(name: str, said: str) -> None:
    with pytest.raises(TaskError, match=said):
        await call(name)


@pytest.mark.parametrize("name", ["sleep", "spin"])
async def test_one_that_never_ends_is_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_START_S", 2.0)
    with pytest.raises(TaskError, match=r"did not end|broke off"):
        await call(name, seconds=1)


async def test_it_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TEST_KEY", "s3cr3t")
    found, folder = await call("secret")
    assert found == "none"
    assert folder.startswith(gettempdir())
