from __future__ import annotations

import re

import pytest

from orchestrator.cli.console import Console
from orchestrator.cli.sites.startup_progress import StartProgress
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    assert all(re.match(r" *\d+\.\d s  ", line) for line in lines), lines
    return [line.partition(" s  ")[2] for line in lines]


def on_event(watch: StartProgress, replica: str, phase: Phase, detail: str = "") -> None:
    watch.on_event(PoolEvent(replica=replica, phase=phase, detail=detail))


def test_each_site_that_is_ready_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    watch = StartProgress(Console(), replicas=2)
    on_event(watch, "shop", Phase.STARTING, "waits for /health/")
    on_event(watch, "shop", Phase.READY)
    on_event(watch, "wiki", Phase.READY, "logged in: nobody")
    assert said(capsys) == [
        "shop starting: waits for /health/",
        "shop ready: (1 of 2)",
        "wiki ready: logged in: nobody (2 of 2)",
    ]


def test_what_is_awaited_is_one_line_with_those_not_begun(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watch = StartProgress(Console(), replicas=5)
    for name in ("shop", "forum"):
        on_event(watch, name, Phase.STARTING, "waits for /health/")
    on_event(watch, "forum", Phase.HEALTHY)
    on_event(watch, "wiki", Phase.READY)
    said(capsys)
    watch.remind()
    assert said(capsys) == [
        "shop still waits for /health/; forum still logs its roles in; 2 more after these"
    ]


def test_nothing_is_awaited_once_all_are_ready_or_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watch = StartProgress(Console(), replicas=2)
    on_event(watch, "shop", Phase.STARTING, "waits for /health/")
    on_event(watch, "shop", Phase.READY)
    on_event(watch, "forum", Phase.STARTING, "waits for /health/")
    on_event(watch, "forum", Phase.FAILED, "it exited")
    said(capsys)
    watch.remind()
    assert said(capsys) == []
