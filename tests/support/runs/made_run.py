"""A finished run made by hand: two worlds that part, faults, receipts, and a page that attacks."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from arena_core.actions import Action, Click, Stop, Type
from arena_core.worlds import World
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Ended,
    EpisodeFault,
    Evidence,
    Receipt,
    RequestNote,
    StepEvidence,
    Timings,
    UnscoredReason,
    UrlVisit,
)
from evaluators.scorers.base import OriginalTask
from evaluators.scores import score
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.store.digests import digest_of_json
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import HostEnvelope, RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite

HOSTILE: Final = "<script>document.title='owned'</script><img src=//evil.test/x onerror=alert(1)>"
LONG: Final = "https://shop.example/catalogue/" + "a-very-long-name-without-a-break_" * 8

_OFFLINE, _ONLINE = World.OFFLINE, World.ONLINE


def make_run(path: Path, originals: Mapping[str, OriginalTask] | None = None) -> RunFolder:
    """Write a run folder: six tasks in two worlds, one of them left to be played.

    Args:
        path: of the folder.
        originals: the published tasks that some tasks were imported from, by id.
    """
    imported = [
        task.model_copy(update={"original": (originals or {}).get(task.id)}) for task in SUITE.tasks
    ]
    suite = SUITE.model_copy(update={"tasks": tuple(imported)})
    folder = RunFolder.create(path, _lock(suite), suite)
    tasks = {task.id: task for task in suite.tasks}
    with folder.writing() as ledger:
        broken = EpisodeKey("broken", _OFFLINE)
        for state in (AttemptState.RETRIED, AttemptState.ABANDONED):
            ledger.end(broken, ledger.start(broken), state, None)
        for evidence in _played():
            key = EpisodeKey(evidence.task, evidence.world)
            number = ledger.start(key)
            shots = {one.screenshot: picture() for one in evidence.steps if one.screenshot}
            folder.save_evidence(key.folder(number), evidence, shots)
            task = tasks[evidence.task]
            outcome = score(task.checks, evidence, task.requires).outcome
            ledger.end(key, number, AttemptState.FINISHED, str(outcome))
    return folder


def keep_other_suite(folder: RunFolder, suite: Mapping[str, object]) -> None:
    """Let a run have been played on another suite, as its JSON document."""
    written = json.dumps(suite)
    (folder.path / "suite.json").write_text(written, encoding="utf-8")
    lock = json.loads((folder.path / "lock.json").read_text(encoding="utf-8"))
    lock["suite_hash"] = digest_of_json(written.encode())
    (folder.path / "lock.json").write_text(json.dumps(lock), encoding="utf-8")


def picture(width: int = 64, height: int = 36) -> bytes:
    """Return a real PNG of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x28\x52\x7a" * width) * height
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )


def _task(name: str, intent: str, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "family": "information",
        "intent": intent,
        "sites": ["shop"],
        "start": ["shop:/"],
        "checks": [
            {
                "name": "product",
                "when": "step",
                "locate": {"by": "url"},
                "match": {"how": "exact", "value": "shop:/product/16"},
            },
            {
                "name": "price",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "include", "value": "39.99"},
            },
        ],
        "reference": [{"do": "stop", "answer": "39.99"}],
        **more,
    }


SUITE: Final = Suite.model_validate(
    {
        "suite": "made",
        "version": 3,
        "title": "A run made by hand",
        "tasks": [
            _task("agrees", "What does the kettle cost?"),
            _task(
                "parts",
                "What does the other kettle cost?",
                expected_divergence={
                    "outcome": "failure",
                    "at": "price",
                    "why": "the price has changed",
                },
            ),
            _task("gone", "What does the kettle cost that is no longer sold?"),
            _task("broken", "What does the kettle of the broken machine cost?"),
            _task("hostile", f"Read what it says: {HOSTILE}"),
            _task("left", "What was never asked, since the run was interrupted?"),
        ],
    }
)


def _lock(suite: Suite) -> RunLock:
    return RunLock(
        run="20261121-000000-made-0001",
        created_at="2026-11-21T00:00:00+00:00",
        suite=SUITE.suite,
        suite_version=SUITE.version,
        suite_hash=hash_suite(suite),
        tasks=tuple(task.id for task in SUITE.tasks),
        worlds=(_OFFLINE, _ONLINE),
        repeats=1,
        attempts=2,
        agent=AgentLock(name="oracle", kind="oracle", options={}, agent_class=AgentClass.REFERENCE),
        staged=("shop",),
        images={"arena/shop:1": "sha256:" + "ab" * 32},
        engine="20.10.24",
        browser="131.0.6778.85",
        packages={"playwright": "1.48"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
    )


def _played() -> Sequence[Evidence]:
    infra = EpisodeFault(reason=UnscoredReason.INFRA, message="site 'shop': container was removed")
    gone = EpisodeFault(
        reason=UnscoredReason.DRIFTED, message="requirement 'sold': no such product"
    )
    return (
        _evidence("agrees", _OFFLINE, "it is £39.99"),
        _evidence("agrees", _ONLINE, "it is £39.99"),
        _evidence("parts", _OFFLINE, "it is £39.99"),
        _evidence("parts", _ONLINE, "it is £44.99", url=LONG),
        _evidence("gone", _OFFLINE, "it is £39.99"),
        _evidence("gone", _ONLINE, None, fault=gone),
        _evidence("broken", _OFFLINE, None, fault=infra),
        _evidence("broken", _ONLINE, "it is £39.99"),
        _evidence("hostile", _OFFLINE, f"it is £39.99 {HOSTILE}", said=HOSTILE),
        _evidence("hostile", _ONLINE, HOSTILE, said=HOSTILE),
        _evidence("left", _OFFLINE, "it is £39.99"),
    )


def _evidence(
    task: str,
    world: World,
    answer: str | None,
    *,
    url: str = "http://shop.arena.test/product/16",
    said: str = "the kettle is what was asked for",
    fault: EpisodeFault | None = None,
) -> Evidence:
    acted = ActedElement(
        event=ElementEvent.CLICK,
        path="a",
        tag="a",
        role="link",
        name="Lantern Kettle" if said != HOSTILE else HOSTILE,
        text="",
        value=None,
        logical="shop:/",
    )
    steps = (
        _step(0, None, "http://shop.arena.test/", "shop:/"),
        _step(1, Type(element=4, text=said[:40], submit=True), url, "shop:/search"),
        _step(2, Click(element=7), url, "shop:/product/16", acted=(acted,), thought=said),
        _step(3, Stop(answer=answer), url, "shop:/product/16", thought=said),
    )
    return Evidence(
        suite=SUITE.suite,
        task=task,
        world=world,
        agent="oracle",
        repeat=0,
        attempt=1,
        started_at="2026-11-21T00:00:00+00:00",
        seconds=2.345,
        answer=answer,
        ended=None if fault else Ended.STOPPED,
        ended_because=said if said == HOSTILE else None,
        steps=steps[:2] if fault else steps,
        fault=fault,
        receipts=(_receipt(1.2), _receipt(0.4)) if world is _OFFLINE else (),
        staged=("shop",) if world is _ONLINE else (),
    )


def _step(
    index: int,
    action: Action | None,
    url: str,
    logical: str,
    *,
    acted: tuple[ActedElement, ...] = (),
    thought: str | None = None,
) -> StepEvidence:
    refused = RequestNote(
        method="GET",
        url="http://tracker.test/x",
        site=None,
        may_write=False,
        refused="unknown host",
    )
    return StepEvidence(
        index=index,
        action=action,
        url=url,
        logical=None if url == LONG else logical,
        title="Kettle",
        visits=(UrlVisit(tab=0, url=url, logical=logical),),
        acted=acted,
        requests=12,
        notes=(refused,) if index == 2 else (),
        timings=Timings(act_ms=12, settle_ms=345),
        thought=thought,
        screenshot=None if isinstance(action, Stop) else f"step-{index:03d}.png",
    )


def _receipt(seconds: float) -> Receipt:
    return Receipt(
        site="shop", strategy="recreate", seconds=seconds, before="b", after="g", golden="g"
    )
