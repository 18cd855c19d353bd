"""A suite's own functions run in a process of their own, with limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest
from quick_cases import SLOW, quick_first
from support.runs.make_evidence import make_evidence
from support.tasks.plugged import install

from arena_core.errors import TaskError, UsageError
from arena_core.plugins import Group
from evaluators.network import RequestRecord
from orchestrator.sandbox import check_queries
from orchestrator.sandbox.check_queries import call_function, require_one_reading


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select 1;",
        "  SELECT ';' AS a, \"it's; fine\", `a;b` FROM t ;  ",
        "(SELECT 1) UNION (SELECT 2)",
        "SHOW TABLES",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "-- a comment; with a semicolon\nSELECT 1",
        "/* DROP; */ SELECT 1 # and; more",
        "EXPLAIN SELECT 1",
        "DESCRIBE orders",
        "SHOW FULL COLUMNS FROM orders",
        "SELECT lock FROM t",
        r"SELECT 'it\'s; fine'",
    ],
)
def test_one_statement_that_reads_is_let_through(sql: str) -> None:
    require_one_reading(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "is empty: the account is read-only"),
        (";", "is empty"),
        ("-- only a comment", "is empty"),
        ("DELETE FROM t", "a SELECT or SHOW, and begins with 'delete'"),
        ("update t set a = 1", "begins with 'update'"),
        ("SELECT 1; DROP TABLE t", "several statements"),
        ("SELECT 1 /* ' */; DELETE FROM t -- '", "several statements"),
        ("SELECT ''; DELETE FROM t", "several statements"),
        ("/*! DELETE FROM t */", "is empty"),
        ("SELECT 1 /*!; DELETE FROM t */", "a comment that is executed"),
        ("EXPLAIN DELETE FROM t", "holds 'delete'"),
        ("ANALYZE DELETE FROM t", "begins with 'analyze'"),
        ("selection", "begins with 'selection'"),
    ],
)
def test_anything_else_gets_a_clear_line(sql: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        require_one_reading(sql)


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


@SLOW
async def test_a_function_gets_evidence_and_arguments_in_another_process() -> None:
    *values, process = await call("total")
    assert values == ["47", "1.5", "true", "1"]
    assert int(process) != os.getpid()
    assert "acme_totals" not in sys.modules


@SLOW
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


@SLOW
@pytest.mark.parametrize("name", quick_first(["sleep", "spin"]))
async def test_one_that_never_ends_is_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_queries, "_START_S", 2.0)
    with pytest.raises(TaskError, match=r"did not end|broke off"):
        await call(name, seconds=1)


@SLOW
async def test_it_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TEST_KEY", "s3cr3t")
    found, folder = await call("secret")
    assert found == "none"
    assert folder.startswith(gettempdir())
