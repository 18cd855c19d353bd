"""`arena eval --browser cdp:URL`: live sites in a browser that Arena did not start."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import ClassVar

import pytest
from support.agents.arena_process import Ended, arena
from support.runs.run_at import RunAt
from support.worlds.running_chromium import RunningChromium, running_chromium

from arena_core.actions import Click, Stop
from orchestrator import Arena
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs.store.lock import RunLock

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
        locate: {by: url}
        match: {how: exact, value: "ledger:/entries"}
      - name: followed
        when: step
        locate: {by: element, event: click, role: link}
        match: {how: exact, value: Entries}
      - name: there
        when: end
        locate: {by: page, at: own, selector: h1}
        match: {how: exact, value: /entries}
    reference:
      - {do: click, role: link, name: Entries}
      - {do: stop}
"""


class Pages(BaseHTTPRequestHandler):
    """The live ledger: each page has its path for a heading, and a link; one may have to wait."""

    may_answer: Event
    asked: Event
    agents: ClassVar[set[str]]

    def do_GET(self) -> None:
        self.agents.add(self.headers["user-agent"])
        if self.path == "/entries":
            self.asked.set()
            self.may_answer.wait(60)
        body = f"<title>Ledger</title><h1>{self.path}</h1><a href=/entries>Entries</a>".encode()
        self.send_response(200)
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
        may_answer = Event()
        asked = Event()
        agents: ClassVar[set[str]] = set()

    pages: type[Pages] = TheirPages
    pages.may_answer.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), pages)
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
    yield pages
    pages.may_answer.set()
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[RunningChromium]:
    with running_chromium(tmp_path / "profile") as running:
        yield running


def played(run: RunAt, *words: str) -> Ended:
    return arena(
        *("eval", "--suite", "live.yaml", "--agent", "oracle", "--out", "run", "--online", *words),
        cwd=run.cwd,
    )


def test_a_live_task_is_played_there_and_the_lock_says_in_what(
    run: RunAt, live: type[Pages], theirs: RunningChromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_SECRET", theirs.secret)
    address = f"cdp:ws://127.0.0.1:{theirs.port}/devtools/browser/${{THEIR_SECRET}}"
    declared = [f"--browser-declared={one}" for one in ("provider=Adas desk", "country=DE")]
    before = theirs.pages()

    done = played(run, "--browser", address, *declared)

    assert done.code == 0, done.err
    assert run.attempts() == [("finished", "success")]
    used = run.lock.browser_used
    assert used is not None
    assert used.model_dump(exclude={"product", "user_agent", "headed"}) == {
        "kind": "cdp",
        "at": f"ws://127.0.0.1:{theirs.port}/…",
        "provider": "Adas desk",
        "proxy": None,
        "country": "DE",
    }
    assert used.product.endswith(f"/{run.lock.browser}")
    assert "Chrome/" in used.user_agent
    assert theirs.is_running
    assert theirs.pages() == before
    assert "reaches sites by itself" in done.err
    everything = [done.out.encode(), done.err.encode(), *_bytes(run.path)]
    assert not any(theirs.secret.encode() in one for one in everything)
    assert "browser" in json.dumps(run.log())


async def test_an_episode_of_a_programs_own_is_played_there(
    run: RunAt, live: type[Pages], theirs: RunningChromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.cwd)
    before = theirs.pages()
    async with (
        Arena() as opened,
        opened.episode(
            "live.yaml/opens-the-ledger", world="online", browser=f"cdp:{theirs.url}", out="run"
        ) as episode,
    ):
        seen = await episode.reset()
        found = re.search(r'\[(\d+)\] link "Entries"', str(seen.parts["axtree"]))
        assert found is not None
        await episode.step(Click(element=int(found[1])))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "success"
    used = run.lock.browser_used
    assert used is not None
    assert used.kind is BrowserKind.CDP
    assert live.agents == {used.user_agent}
    assert theirs.is_running
    assert theirs.pages() == before


def _bytes(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def test_a_connection_that_is_lost_leaves_the_episode_unscored_and_the_run_goes_on_elsewhere(
    run: RunAt, live: type[Pages], theirs: RunningChromium, tmp_path: Path
) -> None:
    live.may_answer.clear()
    with run.start(
        Path("live.yaml"),
        *("--agent", "oracle", "--online", "--attempts", "1"),
        *("--browser", f"cdp:{theirs.url}"),
    ) as process:
        assert live.asked.wait(60)
        theirs.kill()
        live.may_answer.set()
        done = process.wait(120)
    assert run.attempts() == [("finished", "unscored: infra")], done.err
    said = "".join(path.read_text() for path in run.path.rglob("evidence.json"))
    assert f"the connection to the browser at {theirs.url} was lost" in said

    refused = run.resume("--again", "infra", "--browser", "chromium")
    assert (refused.code, "goes on there" in refused.err) == (2, True)
    gone = run.resume("--again", "infra")
    assert (gone.code, f"the browser at {theirs.url} cannot be used" in gone.err) == (60, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--offline",), "reaches no replica: play online alone"),
        (("--staged",), "reaches no staged origin"),
        (("--resolve", "127.0.0.1:80:127.0.0.1:81"), "looks names up by itself"),
        (("--headed",), "name two browsers"),
    ],
)
def test_what_it_cannot_be_given_is_refused_before_anything_starts(
    run: RunAt, live: type[Pages], words: tuple[str, ...], says: str
) -> None:
    done = played(run, "--browser", "cdp:wss://example.com?apiKey=bb_live_12345678", *words)

    assert done.code == 2
    assert says in done.err
    assert "bb_live" not in done.err
    assert not run.path.exists()


STUDY = """\
name: browsers
agents:
  shell: {agent: oracle, browser: headless-shell}
  full: {agent: oracle}
  theirs: {agent: oracle, browser: {use: "cdp:URL", provider: Ada}}
suites: [{suite: live.yaml}]
worlds: [online]
questions:
  - {id: browsers, kind: difference, of: agents, first: shell, second: theirs}
"""


@pytest.mark.skipif(not shutil.which("chromium-headless-shell"), reason="no headless shell here")
def test_a_study_plays_an_agent_in_each_browser_and_keeps_their_scores_apart(
    run: RunAt, live: type[Pages], theirs: RunningChromium
) -> None:
    (run.cwd / "study.yaml").write_text(STUDY.replace("URL", theirs.url), "utf-8")

    done = arena("study", "run", "study.yaml", "--out", "study", cwd=run.cwd)

    assert done.code == 0, done.err
    locks = {
        path.parent.name: RunLock.model_validate_json(path.read_bytes())
        for path in (run.cwd / "study" / "runs").glob("*/lock.json")
    }
    used = {name: lock.browser_used for name, lock in locks.items()}
    assert {name: one and str(one.kind) for name, one in used.items()} == {
        "shell": "headless-shell",
        "full": "chromium",
        "theirs": "cdp",
    }
    agents = live.agents
    assert len(agents) == 3
    assert agents == {one.user_agent for one in used.values() if one}
    again = arena("study", "run", "study", cwd=run.cwd)
    assert again.code == 0, again.err
    said = arena("study", "report", "study", "--json", cwd=run.cwd)
    report = json.loads(said.out)
    assert {one["cell"]["agent"]: one["success"] for one in report["cells"]} == dict.fromkeys(
        locks, 1.0
    )
    assert any("Live sites were visited in 3 browsers" in note for note in report["notes"])
    assert arena("study", "verify", "study", cwd=run.cwd).code == 0
