"""A run's canary at a live site: what is deployed while an agent plays, and a site that refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended, arena
from support.runs.run_at import RunAt

from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.kept_looks import When, read_looks

pytestmark = [pytest.mark.docker, pytest.mark.browser]

OWN_SITES = Path(__file__).parents[2] / "own_sites"
SUITE = """\
suite: live-ledger
version: 1
title: A ledger on the live web
tasks:
  - id: opens-the-ledger
    family: navigation
    intent: Open the page of all entries.
    sites: [ledger]
    worlds: [online]
    start: ["ledger:/about"]
    checks:
      - name: entries
        when: step
        required: true
        locate: {by: url}
        match: {how: exact, value: "ledger:/entries"}
    reference:
      - {do: click, role: link, name: Entries}
      - {do: stop}
"""


class Pages(BaseHTTPRequestHandler):
    """The live ledger, whose link is renamed once its first page was loaded so many times."""

    loads: ClassVar[int] = 0
    renamed_after: ClassVar[int] = 1_000
    retry_after: ClassVar[str | None] = None

    def do_GET(self) -> None:
        kind = type(self)
        link = "Entries" if kind.loads < kind.renamed_after else "Records"
        kind.loads += self.path == "/about"
        body = f"<title>Ledger</title><h1>{self.path}</h1><a href=/entries>{link}</a>".encode()
        self.send_response(200 if kind.retry_after is None else 429)
        if kind.retry_after is not None:
            self.send_header("retry-after", kind.retry_after)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def live(run: RunAt, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Pages]]:
    """The ledger with a live origin on this machine, and a suite in the run's folder."""

    class TheirPages(Pages):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), TheirPages)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    folder = run.cwd / "arena-sites" / "ledger"
    folder.mkdir(parents=True)
    (folder / "docker").symlink_to(OWN_SITES / "ledger" / "docker")
    manifest = (OWN_SITES / "ledger" / "site.yaml").read_text("utf-8")
    origin = f"http://127.0.0.1:{server.server_port}"
    (folder / "site.yaml").write_text(f"{manifest}\nlive: {{origin: '{origin}'}}\n", "utf-8")
    (run.cwd / "live.yaml").write_text(SUITE, "utf-8")
    monkeypatch.delenv("ARENA_SITES", raising=False)
    yield TheirPages
    server.shutdown()
    serving.join()
    server.server_close()


def done(run: RunAt, *words: str) -> Ended:
    return arena(*words, cwd=run.cwd, env={"XDG_DATA_HOME": str(run.cwd / "data")})


def test_a_deploy_in_the_middle_of_an_episode_unscores_it_and_no_look_is_repeated(
    run: RunAt, live: type[Pages]
) -> None:
    live.renamed_after = 2  # a look before, and the agent
    words = ("--suite", "live.yaml", "--agent", "idle", "--online", "--canary", "--out", "run")

    ended = done(run, "eval", *words)

    assert run.attempts() == [("retried", "drifted"), ("finished", "unscored: drifted")], ended.err
    looks = read_looks(run.path)
    assert [(one.when, one.status, one.plays) for one in looks] == [
        (When.BEFORE, CanaryStatus.VALID, 1),
        (When.AFTER, CanaryStatus.DRIFTED, 2),
    ]
    assert live.loads == 4
    assert "canary: 2 looks, 3 plays, 4 pages loaded" in ended.err
    [evidence] = [
        json.loads(path.read_bytes()) for path in (run.path / "evidence").glob("*-a2/evidence.json")
    ]
    assert "reference action 1: expected click link 'Entries'" in evidence["fault"]["message"]

    again = run.resume()

    assert again.code == 90, again.err  # nothing is left to play, and nothing is scored
    assert live.loads == 4


@SLOW
def test_an_agent_that_fails_at_a_site_that_holds_has_failed(run: RunAt, live: type[Pages]) -> None:
    words = ("--suite", "live.yaml", "--agent", "idle", "--online", "--canary", "--out", "run")
    ended = done(run, "eval", *words, "--repeats", "2", "--workers", "2")
    assert run.attempts() == [("finished", "failure")] * 2, ended.err
    assert {one.status for one in read_looks(run.path)} == {CanaryStatus.VALID}
    assert len(read_looks(run.path)) <= 3


def test_a_site_that_says_when_to_ask_again_is_not_asked_before(
    run: RunAt, live: type[Pages]
) -> None:
    live.retry_after = "3600"
    ended = done(run, "canary", "live.yaml", "--online", "--browser", "chromium", "--json")
    assert ended.code == 5, ended.err
    [task] = ended.document["tasks"]
    assert (task["status"], task["wall"]["kind"]) == ("blocked", "rate limit")
    left = datetime.fromisoformat(task["retry_at"]) - datetime.now(UTC)
    assert 3_000 < left.total_seconds() <= 3_600
    assert live.loads == 1
    assert ended.document["browser"] == "chromium"
