"""Requests of episodes as HAR files: what stands in them, and what has none."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
from quick_cases import SLOW
from support.agents.arena_process import Ended as Called
from support.runs.played_episode import ANSWER, NODE
from support.runs.published_run import SITE, evidence, run, task
from support.runs.rollout_runs import rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, Sampled, sampled_run
from support.worlds.fake_world import browsing_task

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.network import RequestRecord, redacted
from orchestrator import Arena

Call = Callable[..., Called]
SECRET = redacted("hunter2", "5a17")
NETWORK = (
    RequestRecord(
        index=0,
        step=0,
        tab=0,
        method="GET",
        url=f"{SITE}/?q=a%20b&q=&token={SECRET}",
        logical="wiki:/",
        site="wiki",
        is_navigation=True,
        status=302,
        request_headers={"accept": "text/html", "cookie": f"sid={SECRET}; theme=dark"},
        response_headers={
            "content-type": "text/html",
            "location": "/wiki",
            "set-cookie": f"sid={SECRET}; HttpOnly\ntheme=light; Path=/",
        },
        sent_at="2026-11-21T00:00:01.250+00:00",
        answer_ms=12.5,
        end_ms=20.0,
    ),
    RequestRecord(
        index=1,
        step=1,
        method="POST",
        url=f"{SITE}/search",
        status=200,
        request_headers={"content-type": "application/json"},
        request_body='{"q": "kettle\\ud83e"}',
        request_bytes=15,
        response_headers={"content-type": "application/json"},
        response_body='{"found": "é"}',
        sent_at="2026-11-21T00:00:02.000+00:00",
        answer_ms=5.0,
        end_ms=5.0,
    ),
    RequestRecord(index=2, step=1, method="POST", url=f"{SITE}/long", request_bytes=2_000_000),
    RequestRecord(index=3, step=2, method="PUT", url=f"{SITE}/shared", is_whole=False),
    RequestRecord(index=4, step=9, method="GET", url="http://gone.test/", failed="net::ERR_FAILED"),
)


def log_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert list(found) == ["log"]
    log: dict[str, Any] = found["log"]
    return log


def named(pairs: list[Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(one["name"], one["value"]) for one in pairs]


def test_every_request_is_an_entry_in_the_order_of_sending(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [task("a")], [evidence("a", network=NETWORK)])
    done = Arena().runs.export(folder.path, "har")
    assert (done.episodes, done.left_out) == (1, ())
    log = log_of(folder.path / "export-har" / "offline-a-r0-a1.har")
    assert (log["version"], log["creator"]["name"]) == ("1.2", "Arena")
    assert [one["request"]["url"] for one in log["entries"]] == [one.url for one in NETWORK]
    first, second, long, shared, gone = log["entries"]
    assert first["startedDateTime"] == "2026-11-21T00:00:01.250+00:00"
    assert (first["time"], first["timings"]) == (20.0, {"send": 0, "wait": 12.5, "receive": 7.5})
    assert named(first["request"]["queryString"]) == [("q", "a b"), ("q", ""), ("token", SECRET)]
    assert named(first["request"]["cookies"]) == [("sid", SECRET), ("theme", "dark")]
    assert named(first["response"]["cookies"]) == [("sid", SECRET), ("theme", "light")]
    lines = [one for name, one in named(first["response"]["headers"]) if name == "set-cookie"]
    assert len(lines) == 2
    assert first["response"]["redirectURL"] == "/wiki"
    assert second["request"]["postData"]["text"] == NETWORK[1].request_body
    assert second["response"]["content"] == {
        "size": len('{"found": "é"}'.encode()),
        "mimeType": "application/json",
        "text": '{"found": "é"}',
    }
    assert "postData" not in long["request"]
    assert "2000000 bytes, was not kept" in long["request"]["comment"]
    assert (long["response"]["status"], long["request"]["bodySize"]) == (-1, 2_000_000)
    assert "only the gateway saw it" in shared["comment"]
    assert "failed: net::ERR_FAILED" in gone["comment"]


def test_it_says_what_is_redacted_missing_and_not_known(tmp_path: Path) -> None:
    fault = "the pages sent more than 20,000 requests"
    episodes = [
        evidence("a", network=NETWORK, network_fault=fault),
        evidence("b", network=()),
    ]
    folder = run(tmp_path / "run", [task("a"), task("b")], episodes)
    done = Arena().runs.export(folder.path, "har")
    comment = log_of(folder.path / "export-har" / "offline-a-r0-a1.har")["comment"]
    assert "task a, offline, repeat 0, attempt 1: success" in comment
    assert "Secrets are redacted" in comment
    assert f"Not all requests are here: {fault}" in comment
    assert "Times are not recorded of all requests" in comment
    assert any(fault in note for note in done.notes)
    silent = log_of(folder.path / "export-har" / "offline-b-r0-a1.har")
    assert silent["entries"] == []
    assert "The episode sent no request." in silent["comment"]


def test_an_episode_whose_requests_were_not_recorded_has_no_har(call: Call, tmp_path: Path) -> None:
    episodes = [evidence("a", network=NETWORK), evidence("b")]
    folder = run(tmp_path / "run", [task("a"), task("b")], episodes)
    ended = call("export", "har", folder.path)
    assert ended.code == 0, ended.err
    assert "offline-b-r0-a1" in ended.err
    assert "its requests were not recorded" in ended.err
    assert [one.name for one in (folder.path / "export-har").glob("*.har")] == [
        "offline-a-r0-a1.har"
    ]


def test_a_run_without_any_is_refused_and_says_how_to_record(call: Call, tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [task("a")], [evidence("a")])
    ended = call("export", "har", folder.path)
    assert ended.code == UsageError.exit_code
    assert "arena eval --record-requests" in ended.err
    assert not (folder.path / "export-har").exists()


@SLOW
async def test_a_branch_has_no_har_and_no_advice_that_nobody_can_follow(tmp_path: Path) -> None:
    """A task or a run whose requests are recorded has no checkpoints."""
    played = browsing_task(checks=[NODE, ANSWER])
    source = await sampled_run(
        tmp_path / "source", [Sampled(played, [TO_KETTLE, RIGHT])], run="source"
    )
    branch = await rolled_out(tmp_path / "run", source, "1", [RIGHT], count=1)
    with pytest.raises(UsageError, match="it goes on from step 1 of source/offline-kettle") as no:
        Arena().runs.export(branch.folder.path, "har")
    assert "--record-requests" not in f"{no.value.message} {no.value.hint}"


def test_times_of_earlier_evidence_stand_at_the_beginning_and_the_har_says_so(
    tmp_path: Path,
) -> None:
    old = [RequestRecord(index=0, step=0, method="GET", url=f"{SITE}/", status=200)]
    folder = run(tmp_path / "run", [task("a")], [evidence("a", network=old)])
    Arena().runs.export(folder.path, "har")
    log = log_of(folder.path / "export-har" / "offline-a-r0-a1.har")
    assert log["entries"][0]["startedDateTime"] == "2026-11-21T00:00:00.000+00:00"
    assert "Times are not recorded" in log["comment"]
    assert "how long it took is not known" in log["entries"][0]["comment"]


def test_several_runs_have_a_folder_each(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / name, [task("a")], [evidence("a", network=NETWORK)]).path
        for name in ("one", "two")
    ]
    Arena().runs.export(runs, "har", tmp_path / "out")
    found = sorted(str(one.relative_to(tmp_path / "out")) for one in tmp_path.glob("out/**/*.har"))
    assert found == ["one/offline-a-r0-a1.har", "two/offline-a-r0-a1.har"]


@pytest.mark.slow(minutes=2)
def test_the_schema_that_har_validator_ships_takes_it(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed here")
    packed = subprocess.run(
        [npm, "pack", "har-schema@2.0.0"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    if packed.returncode:
        pytest.skip(f"har-schema cannot be had here: {packed.stderr.strip()[-200:]}")
    shutil.unpack_archive(next(tmp_path.glob("*.tgz")), tmp_path / "schema")
    schemas = [json.loads(one.read_text()) for one in tmp_path.glob("schema/package/lib/*.json")]
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (one["$id"], referencing.Resource.from_contents(one)) for one in schemas
    )
    [whole] = [one for one in schemas if one["$id"] == "har.json#"]
    worlds = [evidence("a", network=NETWORK), evidence("a", network=(), world=World.ONLINE)]
    folder = run(tmp_path / "run", [task("a")], worlds)
    written = Arena().runs.export(folder.path, "har")
    validator = jsonschema.Draft6Validator(whole, registry=registry)
    found = list(written.path.glob("*.har"))
    assert len(found) == 2
    for one in found:
        assert list(validator.iter_errors(json.loads(one.read_text()))) == []
