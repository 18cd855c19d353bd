"""Runs as logs of Inspect: read by its own reader, summarised by its own metrics."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import math
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from quick_cases import SLOW
from support.runs.evidence_changes import change
from support.runs.made_run import HOSTILE, picture

from arena_core.errors import PrerequisiteError
from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.episode.jsonl_files import EXCHANGES_FILE, ExchangeWriter
from orchestrator.runs.store.run_folder import RunFolder


@cache
def inspect() -> Any:
    """Import what takes a second only where its tests are played."""
    return importlib.import_module("inspect_ai.log")


def logs(run: RunFolder, **options: object) -> dict[str, Any]:
    """Export a run and read its logs, by world."""
    folder = Arena().runs.export(run.path, "inspect", options=options).path
    found: list[Any] = [inspect().read_eval_log(str(path)) for path in folder.glob("*.eval")]
    return {one.eval.metadata["world"]: one for one in found}


def accuracy(log: Any) -> float:
    return float(log.results.scores[0].metrics["accuracy"].value)


@SLOW
def test_there_is_a_log_for_each_world_that_inspect_lists(run: RunFolder) -> None:
    written = Arena().runs.export(run.path, "inspect")
    assert written.episodes == 11
    assert len(inspect().list_eval_logs(str(written.path))) == 2
    offline, online = (logs(run)[world] for world in ("offline", "online"))
    assert {one.id for one in offline.samples} == {
        *("agrees", "parts", "gone", "broken", "hostile", "left")
    }
    assert len(online.samples) == 5
    assert offline.eval.solver == "oracle"
    assert offline.eval.tags == ["reference agent, not a contestant"]
    assert offline.status == "cancelled", "one episode is not played yet"


@SLOW
@pytest.mark.parametrize("which", ["run", "repeated"])
def test_inspects_mean_is_arenas(which: str, request: pytest.FixtureRequest) -> None:
    folder: RunFolder = request.getfixturevalue(which)
    report = read_run(folder)
    found = logs(folder)
    for world, summary in report.summaries.items():
        log = found[world.value]
        assert accuracy(log) == pytest.approx(summary.success.value)
        inspect().recompute_metrics(log)
        assert accuracy(log) == pytest.approx(summary.success.value)
    assert report.summaries[World.ONLINE].success.value == 0.5


@SLOW
def test_what_is_unscored_has_no_value_and_says_why(run: RunFolder) -> None:
    found = logs(run)
    by_task = {
        (world, one.id): one.scores["success"] for world in found for one in found[world].samples
    }
    for key, reason in ((("offline", "broken"), "infra"), (("online", "gone"), "drifted")):
        assert math.isnan(by_task[key].value)
        assert by_task[key].reason == reason
        assert by_task[key].explanation
    scored = [one for key, one in by_task.items() if one.reason is None]
    assert {one.value for one in scored} == {"C", "I"}
    for world, count in (("offline", 5), ("online", 4)):
        [score] = found[world].results.scores
        assert (score.scored_samples, score.unscored_samples) == (count, 1)


@SLOW
def test_where_all_is_unscored_the_mean_is_no_zero(run: RunFolder) -> None:
    fault = {"reason": "drifted", "message": "gone", "place": None}
    for name in run.evidence_names():
        if name.startswith("online"):
            change(run, name, fault=fault)
    assert math.isnan(accuracy(logs(run)["online"]))


@SLOW
def test_repeats_are_epochs(repeated: RunFolder) -> None:
    log = logs(repeated)["offline"]
    assert log.eval.config.epochs == 2
    assert sorted(one.epoch for one in log.samples if one.id == "parts") == [1, 2]


@SLOW
def test_actions_are_messages_and_events_in_their_order(run: RunFolder) -> None:
    [sample] = [one for one in logs(run)["offline"].samples if one.id == "agrees"]
    assert [one.role for one in sample.messages] == [
        "user",
        *("assistant", "tool") * 3,
    ]
    assert sample.messages[0].text.startswith("What does the kettle cost?")
    calls = [one.tool_calls[0] for one in sample.messages if one.role == "assistant"]
    assert [one.function for one in calls] == ["type", "click", "stop"]
    assert [one.event for one in sample.events] == [
        *("info", "info"),
        *("tool", "tool", "tool"),
        "score",
    ]
    times = [one.timestamp for one in sample.events]
    assert times == sorted(times)
    assert sample.output.completion == "it is £39.99"
    assert sample.total_time == 2.345


@SLOW
def test_limits_and_usage_are_inspects(run: RunFolder) -> None:
    change(run, "offline-agrees-r0-a1", ended="step_limit", input_tokens=70, output_tokens=7)
    change(run, "offline-parts-r0-a1", ended="deadline", input_tokens=10, usd=0.25)
    lock = run.path / "lock.json"
    document = json.loads(lock.read_text())
    document["agent"]["options"] = {"model": "tiny"}
    lock.write_text(json.dumps(document))
    log = logs(run)["offline"]
    by_task = {one.id: one for one in log.samples}
    assert (by_task["agrees"].limit.type, by_task["agrees"].limit.limit) == ("turn", 20)
    assert (by_task["parts"].limit.type, by_task["parts"].limit.limit) == ("time", 180)
    assert by_task["gone"].limit is None
    assert by_task["agrees"].model_usage["arena/tiny"].total_tokens == 77
    assert log.stats.model_usage["arena/tiny"].input_tokens == 80
    assert log.stats.model_usage["arena/tiny"].total_cost == 0.25


@SLOW
def test_the_model_is_named_that_an_agent_without_such_an_option_asked(run: RunFolder) -> None:
    request: dict[str, JsonValue] = {
        "model": "big",
        "messages": [{"role": "user", "content": "what now?"}],
    }
    line = ExchangeWriter().line(1, ModelExchange(request=request, reply="{}"))
    exchanges = run.evidence_folder("offline-agrees-r0-a1") / EXCHANGES_FILE
    with gzip.open(exchanges, "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")
    found = logs(run)
    assert found["offline"].eval.model == "arena/big"
    by_task = {one.id: one.output.model for one in found["offline"].samples}
    assert (by_task["agrees"], by_task["parts"]) == ("arena/big", "none/none")
    assert found["online"].eval.model == "none/none"


@SLOW
def test_pictures_are_in_it_where_they_are_asked_for(run: RunFolder) -> None:
    def size(found: dict[str, Any]) -> int:
        return len(found["offline"].samples[0].model_dump_json())

    assert picture() in {
        path.read_bytes() for path in run.evidence_folder("offline-agrees-r0-a1").glob("*.png")
    }
    assert size(logs(run, images="true")) > size(logs(run))


@SLOW
def test_hostile_and_huge_texts_come_through(run: RunFolder) -> None:
    answer = "\0 \u2028 \U0001f600 " + "x" * 1_000_000
    change(run, "offline-agrees-r0-a1", answer=answer)
    found = logs(run)
    [sample] = [one for one in found["offline"].samples if one.id == "agrees"]
    assert sample.scores["success"].answer == answer
    [sample] = [one for one in found["online"].samples if one.id == "hostile"]
    assert sample.scores["success"].answer == HOSTILE


@SLOW
def test_two_runs_of_one_agent_and_second_are_two_logs(run: RunFolder, tmp_path: Path) -> None:
    other = shutil.copytree(run.path, tmp_path / "other")
    lock = json.loads((other / "lock.json").read_text())
    (other / "lock.json").write_text(json.dumps(lock | {"run": "other"}))
    folder = Arena().runs.export([run.path, other], "inspect", tmp_path / "logs").path
    assert len(inspect().list_eval_logs(str(folder))) == 4


@SLOW
async def test_a_log_is_written_from_a_running_event_loop(run: RunFolder) -> None:
    await asyncio.sleep(0)
    assert Arena().runs.export(run.path, "inspect").episodes == 11


def test_without_inspect_the_command_that_installs_it_is_named(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(PrerequisiteError, match=r"needs inspect_ai\.log") as failed:
        Arena().runs.export(run.path, "inspect")
    assert failed.value.hint == "pip install 'arena-orchestrator[inspect]'"
