"""What live hosts got from a run, as its report says it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from arena_core.worlds import World
from evaluators.evidence import HostUse
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.page_sources import host_totals
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.cli.console import Console
from orchestrator.cli.runs.terminal_report import show_run
from orchestrator.runs.store.ledger import EpisodeKey

SHOP = HostUse(
    host="shop.example",
    requests=40,
    bytes=123_456,
    writes_stopped=1,
    client_errors=3,
    server_errors=2,
    rate_limited=1,
)
CDN = HostUse(host="cdn.example", requests=7, bytes=9)


def attempt(
    report: RunReport, number: int, *hosts: HostUse, began: str, world: World = World.ONLINE
) -> None:
    [first] = [one for one in report.episodes if one.key == EpisodeKey("agrees", World.ONLINE)]
    changed = first.evidence.model_copy(
        update={"hosts": hosts, "started_at": began, "attempt": number, "world": world}
    )
    report.folder.save_evidence(EpisodeKey("agrees", world).folder(number), changed, {})


def test_every_attempt_counts_once_and_none_of_a_replica(report: RunReport) -> None:
    attempt(report, 7, SHOP, CDN, began="2026-01-01T00:00:00Z")
    attempt(report, 8, SHOP, CDN, began="2026-01-01T00:00:00Z")  # ended once more by a fault
    attempt(report, 9, SHOP, began="2026-01-02T00:00:00Z")
    attempt(report, 9, CDN, began="2026-01-02T00:00:00Z", world=World.OFFLINE)
    shop, cdn = host_totals(report)
    assert shop.attempts == 2
    assert shop.used == SHOP.model_copy(
        update={
            "requests": 80,
            "bytes": 246_912,
            "writes_stopped": 2,
            "client_errors": 6,
            "server_errors": 4,
            "rate_limited": 2,
        }
    )
    assert (cdn.used, cdn.attempts) == (CDN, 1)


def test_a_run_that_visited_nothing_live_says_nothing(report: RunReport) -> None:
    assert host_totals(report) == ()
    assert "What live hosts got" not in render_html(report)
    attempt(report, 7, SHOP, began="2026-01-01T00:00:00Z")
    lock = report.lock.model_copy(update={"worlds": (World.OFFLINE,)})
    assert host_totals(replace(report, lock=lock)) == ()


def test_terminal_page_and_json_say_the_same(
    report: RunReport, capsys: pytest.CaptureFixture[str]
) -> None:
    attempt(report, 7, SHOP, began="2026-01-01T00:00:00Z")
    show_run(report, Console(as_json=True))
    [host] = json.loads(capsys.readouterr().out)["hosts"]
    assert host == {**SHOP.model_dump(mode="json"), "attempts": 1}
    show_run(report, Console())
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "live host shop.example: 40 requests, 123,456 bytes, 1 write stopped, 3 answers 4xx"
        " (1 of them 429), 2 answers 5xx in 1 attempt" in said
    )
    page = render_html(report)
    assert "What live hosts got" in page
    assert "123,456" in page
