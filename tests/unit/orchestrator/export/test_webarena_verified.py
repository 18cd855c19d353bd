"""A pack for webarena-verified: its files, and what is left out rather than scored wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.runs.published_run import SITE, evidence, published, run, task
from support.tasks.published_tasks import verified_task

from arena_core.actions import AnswerStatus
from arena_core.errors import UsageError
from evaluators.evidence import AgentResponse
from evaluators.network import RequestRecord
from orchestrator import Arena
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task

BASES = {"__REDDIT__": SITE}
STRINGS = {"type": "array", "items": {"type": "string"}}
SAID = '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["1891"]}'
VISIT = RequestRecord(index=0, step=0, method="GET", url=f"{SITE}/f/tea", status=200)
POSTED = {
    "evaluator": "NetworkEventEvaluator",
    "expected": {"url": "__REDDIT__/f/tea", "http_method": "POST", "post_data": {"a": "b"}},
}


def imported(number: int, *events: dict[str, Any], **bases: str) -> Task:
    record = verified_task(STRINGS, ["1891"], *events) | {"task_id": number}
    original = published("webarena-verified", record, str(number), bases or BASES)
    return task(f"verified-{number}", original)


@pytest.fixture
def played(tmp_path: Path) -> RunFolder:
    ended = AgentResponse(status=AnswerStatus.DONE, data=["1891"])
    lost = VISIT.model_copy(update={"method": "POST", "request_bytes": 9_000_000})
    episodes = [
        evidence("verified-5", SAID, network=[VISIT]),
        evidence("verified-6", "1891", response=ended, network=[VISIT]),
        evidence("verified-7", SAID, network=None),
        evidence("verified-8", SAID, network=[]),
        evidence("verified-9", SAID, network=[lost]),
    ]
    tasks = [*map(imported, range(5, 9)), imported(9, POSTED)]
    return run(tmp_path / "run", tasks, episodes)


def test_each_task_has_its_response_and_its_requests(played: RunFolder) -> None:
    done = Arena().runs.export(played.path, "webarena-verified")
    assert done.episodes == 2
    assert (done.path / "5" / "agent_response.json").read_text("utf-8") == SAID
    written = json.loads((done.path / "6" / "agent_response.json").read_text("utf-8"))
    assert written == json.loads(SAID)
    assert any("1 response was written from an ending with status" in one for one in done.notes)
    har = json.loads((done.path / "5" / "network.har").read_text("utf-8"))
    assert [one["request"]["url"] for one in har["log"]["entries"]] == [VISIT.url]
    config = json.loads((done.path / "config.json").read_text("utf-8"))
    assert config == {"environments": {"__REDDIT__": {"urls": [SITE]}}}


def test_what_the_evidence_cannot_tell_is_left_out_and_no_failure(played: RunFolder) -> None:
    done = Arena().runs.export(played.path, "webarena-verified")
    why = {one.what: one.why for one in done.left_out}
    assert "no whole record of the episode's requests" in why["offline-verified-7-r0-a1"]
    assert len(why) == 3
    assert "was not kept" in why["offline-verified-9-r0-a1"]
    assert not (done.path / "7").exists()


def test_tasks_on_different_addresses_make_no_pack(tmp_path: Path) -> None:
    tasks = [imported(5), imported(6, __REDDIT__="http://other.test")]
    episodes = [evidence(one.id, SAID, network=[VISIT]) for one in tasks]
    folder = run(tmp_path / "run", tasks, episodes)
    with pytest.raises(UsageError, match=r"__REDDIT__ is .* for some tasks"):
        Arena().runs.export(folder.path, "webarena-verified")
    assert not (folder.path / "export-webarena-verified").exists()
