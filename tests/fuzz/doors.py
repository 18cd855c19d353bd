"""Where files of other people come in, and what reads them there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fuzz.http_doors import converse, read_requests, read_responses
from fuzz.http_mutants import REQUESTS, RESPONSES
from fuzz.mutants import Shape
from support.runs.published_run import evidence, run, task
from support.studies.registered_study import make_study
from support.tapes.making import made, page
from support.tasks.small_suites import BRUGES, bells, profile, write_suite
from support.worlds.worldless import WorldlessArena

from arena_core.actions import Goto
from arena_core.errors import ManifestError
from orchestrator import load_checkpoint, save_checkpoint
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.analysis.studies.progress import read_progress
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.study_file import read_study_file
from orchestrator.analysis.studies.verification import verify_study
from orchestrator.authoring.recorder.imports import import_steps
from orchestrator.gateway.tapes.wacz import open_tape
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.recovery import recover
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.reset.state import Fingerprint, TableState, TakenState
from orchestrator.sandbox.states.state_file import SavedState, read_state, write_state
from sites.documents import read_document
from sites.manifest import Site
from tasks.loader import load_suite

REPOSITORY: Final = Path(__file__).parents[2]
_NOW: Final = datetime(2026, 10, 1, 9, 0, 30, tzinfo=UTC)
_STUDY: Final = """
name: oracles
agents:
  steady: {agent: oracle}
  shaky: {command: python my_agent.py}
suites: [{suite: demo, tasks: [wiki-*]}]
worlds: [offline, online]
repeats: 3
seed: 7
budget: {max_usd: 20, max_tokens: 100000}
limits: {steps: 20, seconds: 300}
variations: {dark: [look=dark]}
questions:
  - {id: q, kind: difference, of: agents, first: steady, second: shaky}
  - {id: r, kind: non_inferiority, of: worlds, first: online, second: offline, margin: 0.1}
secondary: [{id: cheaper, outcome: usd, of: agents, first: steady, second: shaky}]
contamination: none
"""
_RUN: Final = """
suite: demo
agent: oracle
worlds: [offline]
repeats: 2
workers: 2
vary: [look=dark, page=notice@3]
browser: headless-shell
budget: {max_usd: 3}
shard: 1/4
"""
_CODEGEN: Final = """\
page.goto("http://wiki.arena.test/")
page.get_by_role("link", name="Kettle", exact=True).click()
page.get_by_label("Colour").select_option("Blue")
"""


@dataclass(frozen=True, slots=True)
class Door:
    """A file that may come from anybody.

    Attributes:
        make: writes what surrounds it into a folder, and returns the file itself.
        read: reads it as a user's command would, with what depends on it.
        seeds: more originals of which mutants are made, beside the file itself.
        times: how many mutants are tried for each one of another door.
    """

    name: str
    shape: Shape
    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    seeds: tuple[bytes, ...] = ()
    times: int = 1


def _writing(name: str, text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return write


def _suite(folder: Path) -> Path:
    locate = {"by": "db", "site": "shop", "sql": "SELECT 2"}
    match = {"how": "number", "value": 2, "tolerance": 0.5}
    given = {"shop": [{"sql": "UPDATE a SET b = 2"}, {"clock": "2026-10-01T09:00:00Z"}]}
    checks = [{"name": "a", "when": "end", "locate": locate, "match": match}]
    rich = profile("three", given=given, checks=checks, says=["It is 2."], says_not=["3"])
    return write_suite(folder, bells("one"), profile("two"), rich)


def _run(folder: Path) -> RunFolder:
    return run(folder / "run", [task("a"), task("b")], [evidence("a"), evidence("b", "1766")])


def _score_and_report(folder: Path) -> object:
    """Do what `arena eval --resume`, `arena score` and `arena report` read of a run."""
    found = RunFolder.open(folder)
    with found.writing() as ledger:
        recover(found, ledger)
    return render_html(read_run(found))


def _verify(folder: Path) -> object:
    read_progress(folder)
    return verify_study(StudyFolder.open(folder))


def _state(folder: Path) -> Path:
    prints = Fingerprint(tables=(TableState("t", 1, "c", 2, "d"),))
    image = f"sha256:{'a' * 64}"
    taken = TakenState(
        site="shop", image_id=image, packed=b"blocks" * 9, fingerprint=prints, clock=_NOW
    )
    write_state(SavedState(_NOW, {"shop": taken}), folder / "a.arena-state")
    return folder / "a.arena-state"


def _checkpoint(folder: Path) -> Path:
    path = folder / "a.arena-checkpoint"
    suite = write_suite(folder, bells("one"))

    async def take() -> None:
        async with WorldlessArena() as arena, arena.episode(f"{suite}/one") as episode:
            await episode.reset()
            await episode.step(Goto(url=BRUGES))
            save_checkpoint(await episode.checkpoint("bruges"), path)

    asyncio.run(take())
    return path


def _tape(path: Path) -> None:
    with open_tape(path) as tape:
        for entry in tape.entries:
            tape.load(entry)


def _chrome(folder: Path) -> Path:
    click = {"type": "click", "selectors": [["aria/Kettle"], ["#kettle"]], "target": "main"}
    steps = [{"type": "navigate", "url": "http://wiki.arena.test/"}, click]
    text = json.dumps({"title": "t", "steps": [*steps, {"type": "keyDown", "key": "Enter"}]})
    return _writing("chrome.json", text)(folder)


def _manifest(site: str) -> Door:
    text = (REPOSITORY / "sites" / site / "site.yaml").read_text(encoding="utf-8")
    return Door(
        f"manifest of {site}",
        Shape.YAML,
        _writing("site.yaml", text),
        lambda path: read_document(path, Site, ManifestError),
    )


def _messages(name: str, seeds: tuple[bytes, ...], read: Callable[[Path], object]) -> Door:
    """Return a door for what comes by a wire, and is read much faster than a file."""
    first, *others = seeds
    make = _writing("messages", first.decode("latin-1"))
    return Door(name, Shape.HTTP, make, read, tuple(others), times=60)


def _inside(part: str, make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    return lambda folder: next(make(folder).glob(part))


DOORS: Final = (
    Door("suite", Shape.YAML, _suite, lambda path: load_suite(str(path))),
    _manifest("shop"),
    _manifest("wiki"),
    Door("study", Shape.YAML, _writing("study.yaml", _STUDY), read_study_file),
    Door("run file", Shape.YAML, _writing("run.yaml", _RUN), lambda path: RunSpec.read(path, {})),
    Door(
        "evidence",
        Shape.JSON,
        _inside("evidence/*-a-*/evidence.json", lambda folder: _run(folder).path),
        lambda path: _score_and_report(path.parents[2]),
    ),
    Door(
        "ledger",
        Shape.BYTES,
        _inside("ledger.sqlite", lambda folder: _run(folder).path),
        lambda path: _score_and_report(path.parent),
    ),
    Door(
        "lock",
        Shape.JSON,
        _inside("lock.json", lambda folder: _run(folder).path),
        lambda path: _score_and_report(path.parent),
    ),
    Door(
        "kept suite",
        Shape.JSON,
        _inside("suite.json", lambda folder: _run(folder).path),
        lambda path: _score_and_report(path.parent),
    ),
    Door(
        "registration",
        Shape.JSON,
        _inside("registration.json", lambda folder: make_study(folder / "study").path),
        lambda path: _verify(path.parent),
    ),
    Door("state", Shape.ZIP, _state, read_state),
    Door("checkpoint", Shape.ZIP, _checkpoint, load_checkpoint),
    Door("tape", Shape.ZIP, lambda folder: made(folder, page("/a", "A"), page("/b", "B")), _tape),
    Door("codegen", Shape.BYTES, _writing("codegen.py", _CODEGEN), import_steps),
    Door("recording", Shape.JSON, _chrome, import_steps),
    _messages("requests", REQUESTS, read_requests),
    _messages("responses", RESPONSES, read_responses),
    _messages("conversation", REQUESTS, converse),
)
