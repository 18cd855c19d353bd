"""How long a compatible scorer takes on 800 KB of evidence, beside webarena-verified itself.

webarena-verified is installed from PyPI into an environment of its own, which lasts from one bench
to the next in the user's cache.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.figures import Figure, Series, at_most, times_faster
from support.agents.foreign_clients import python_with

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.network import RequestRecord
from evaluators.scorers.base import OriginalTask
from evaluators.scorers.verified.scorer import VERIFIED_SCORER
from orchestrator.runs.store.run_folder import RunFolder

_PEER: Final = "webarena-verified==1.2.3"
_SCRIPT: Final = Path(__file__).parent / "peers" / "verified_scoring.py"
_REQUESTS: Final = 359  # as many as the HAR file that comes with it has
_ROUNDS: Final = 30
_GOAL_MS: Final = 10
_SHOP: Final = "http://shop.arena.test"
_RECORD: Final[dict[str, Any]] = {
    "sites": ["shopping"],
    "task_id": 1,
    "intent_template_id": 1,
    "start_urls": ["__SHOPPING__"],
    "intent": "Put a kettle into the basket",
    "intent_template": "Put a {{thing}} into the basket",
    "instantiation_dict": {"thing": "kettle"},
    "revision": 1,
    "eval": [
        {
            "evaluator": "AgentResponseEvaluator",
            "results_schema": {"type": "null"},
            "expected": {"task_type": "mutate", "status": "SUCCESS", "retrieved_data": None},
        },
        {
            "evaluator": "NetworkEventEvaluator",
            "expected": {
                "url": "__SHOPPING__/cart/add",
                "http_method": "POST",
                "response_status": 302,
                "post_data": {"product": "kettle"},
            },
        },
    ],
}
_ANSWER: Final = json.dumps({"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None})


def imported_figures() -> list[Figure]:
    """Score one task from the same requests, by the scorer and by the package."""
    evidence = _evidence()
    with TemporaryDirectory(prefix="arena-bench-") as made:
        theirs = _theirs(Path(made), evidence)
        both, alone, size = _ours(Path(made), evidence)
    what = f"scoring a webarena-verified task from {size / 1000:.0f} KB, ms"
    return [
        at_most(f"{what} (reference: its goal)", Series(alone), _GOAL_MS),
        times_faster(
            f"{what}, read from disk (reference: webarena-verified)", Series(both), theirs, 1
        ),
    ]


def _ours(made: Path, evidence: Evidence) -> tuple[list[float], list[float], int]:
    original = OriginalTask(
        format="webarena-verified",
        id="1",
        file_sha256="0" * 64,
        record=_RECORD,
        bases={"__SHOPPING__": _SHOP},
    )
    folder = RunFolder(made)
    folder.evidence_folder("episode").parent.mkdir(parents=True)
    folder.save_evidence("episode", evidence, {})
    both, alone = [], []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        found = folder.evidence("episode")
        read = time.perf_counter()
        score = VERIFIED_SCORER.score(original, found, {})
        ended = time.perf_counter()
        if score.value != 1.0:
            sys.exit(f"the episode is no success: {score.because}")
        both.append((ended - began) * 1000)
        alone.append((ended - read) * 1000)
    return both, alone, len(evidence.model_dump_json())


def _theirs(made: Path, evidence: Evidence) -> Series:
    files = {"task.json": _RECORD, "har.har": {"log": {"entries": _entries(evidence)}}}
    for name, document in files.items():
        (made / name).write_text(json.dumps(document))
    (made / "answer.json").write_text(_ANSWER)
    given = [made / name for name in ("task.json", "answer.json", "har.har")]
    ended = subprocess.run(
        [python_with(_PEER, [_PEER]), _SCRIPT, *given, str(_ROUNDS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if ended.returncode:
        sys.exit(f"webarena-verified failed:\n{ended.stderr[-2000:]}")
    return Series(json.loads(ended.stdout.splitlines()[-1]))


def _evidence() -> Evidence:
    steps = [
        StepEvidence(
            index=index, action=Stop() if index else None, url=_SHOP, logical="shop:/", title=""
        )
        for index in range(2)
    ]
    return Evidence(
        suite="bench",
        task="kettle",
        world=World.OFFLINE,
        agent="bench",
        repeat=0,
        attempt=1,
        started_at="2026-10-01T09:00:00+00:00",
        seconds=1.0,
        answer=_ANSWER,
        ended=Ended.STOPPED,
        steps=tuple(steps),
        network=tuple(_request(index) for index in range(_REQUESTS)),
    )


def _request(index: int) -> RequestRecord:
    """Make a request as a shop's page sends them: one in nine is a form."""
    is_form = index % 9 == 0
    is_wanted = index == _REQUESTS - 8
    path = "/cart/add" if is_wanted else f"/catalogue/item_{index}/?page={index}&sort=price"
    body = f"product=kettle&form_key={index:032d}&qty=1" if is_form or is_wanted else None
    headers = {
        "accept": "text/html,application/xhtml+xml,application/xml;q=0.9",
        "cookie": "; ".join(f"visit_{number}={index:040d}" for number in range(20)),
        "content-type": "application/x-www-form-urlencoded" if body else "text/plain",
        "referer": f"{_SHOP}/catalogue/",
    }
    return RequestRecord(
        index=index,
        step=1,
        method="POST" if body else "GET",
        url=f"{_SHOP}{path}",
        status=302 if body else 200,
        request_headers=headers,
        request_body=body,
        request_bytes=len(body or ""),
        response_headers={"content-type": "text/html; charset=utf-8", "etag": f"{index:0400d}"},
    )


def _entries(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the requests as a HAR file has them."""
    return [
        {
            "request": {
                "url": one.url,
                "method": one.method,
                "headers": _pairs(one.request_headers),
                **({"postData": _body(one)} if one.request_body else {}),
            },
            "response": {
                "status": one.status,
                "headers": _pairs(one.response_headers),
                "redirectURL": "",
                "cookies": [],
            },
        }
        for one in evidence.network or ()
    ]


def _body(record: RequestRecord) -> dict[str, str | None]:
    return {"mimeType": record.request_headers["content-type"], "text": record.request_body}


def _pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
