"""A suite as Harbor's tasks: what the folders say, and what stands in them nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest
import yaml
from support.agents.arena_process import Ended

from arena_core.errors import UsageError
from orchestrator import Arena
from orchestrator.export.harbor import HarborFolders
from tasks.loader import load_suite

# Harbor 0.24.0, models/task/config.py: ORG_NAME_PATTERN, and the fields that are used here.
NAME = re.compile(r"^[a-zA-Z0-9_][a-zA-Z0-9._-]*/[a-zA-Z0-9_][a-zA-Z0-9._-]*$")
TABLES = {
    "": {"schema_version", "artifacts", "task", "metadata", "agent", "environment", "verifier"}
    | {"solution"},
    "task": {"name", "description", "keywords"},
    "agent": {"timeout_sec"},
    "environment": {"build_timeout_sec", "mcp_servers"},
    "verifier": {"environment_mode", "timeout_sec", "environment", "collect"},
    "solution": {"env"},
}
BELLS = "wiki-bells-of-bruges"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> HarborFolders:
    out = tmp_path_factory.mktemp("harbor") / "tasks"
    return Arena().suites.export_harbor("demo", out, image="some/image:1")


def text_in(folder: Path) -> str:
    return "\n".join(one.read_text() for one in sorted(folder.rglob("*")) if one.is_file())


def test_each_task_is_a_folder_as_harbor_reads_it(exported: HarborFolders) -> None:
    assert [one.name for one in exported.folders] == [one.id for one in load_suite("demo").tasks]
    for folder in exported.folders:
        found = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        for table, names in TABLES.items():
            assert set(found[table] if table else found) == names
        assert NAME.match(found["task"]["name"])
        assert found["verifier"]["environment_mode"] == "separate"
        (server,) = found["environment"]["mcp_servers"]
        assert set(server) == {"name", "transport", "url"}
        assert server["transport"] == "streamable-http"
        (artifact,) = found["artifacts"]
        (collect,) = found["verifier"]["collect"]
        assert artifact["service"] == collect["service"] == "arena"
        compose = yaml.safe_load((folder / "environment" / "docker-compose.yaml").read_text())
        assert set(compose["services"]) == {"main", "arena"}
        for script in ("tests/test.sh", "solution/solve.sh"):
            assert os.access(folder / script, os.X_OK)
            subprocess.run(["sh", "-n", folder / script], check=True)
        for file in folder.rglob("Dockerfile"):
            assert "FROM some/image:1\n" in file.read_text()


def test_the_agents_container_is_given_neither_token_nor_socket(exported: HarborFolders) -> None:
    for folder in exported.folders:
        compose = yaml.safe_load((folder / "environment" / "docker-compose.yaml").read_text())
        assert set(compose["services"]["main"]) == {"depends_on"}
        assert "COPY" not in (folder / "environment" / "Dockerfile").read_text()
        config = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        assert config["solution"].pop("env") == {"ARENA_TOKEN": "${ARENA_TOKEN:-}"}
        assert "TOKEN" not in json.dumps(config)


@pytest.mark.parametrize("suite", ["demo", "arena-120"])
def test_no_folder_says_how_its_task_is_done(suite: str, tmp_path: Path) -> None:
    """It is the same for every task but for the intent and what the task is called."""
    exported = Arena().suites.export_harbor(suite, tmp_path / "tasks")
    tasks = {one.id: one for one in load_suite(suite).tasks}
    said = set()
    for folder in exported.folders:
        task, text = tasks[folder.name], text_in(folder)
        for own in (json.dumps(task.intent, ensure_ascii=False)[1:-1], task.intent, task.id):
            text = text.replace(own, "…")
        said.add(re.sub(r"at most \d+ actions|(?:revision|timeout_sec) = [\d.]+", "…", text))
    first, *others = said
    assert others == [], "\n".join(unified_diff(first.splitlines(), others[0].splitlines()))


def own_suite(folder: Path, **more: object) -> Path:
    """Write a suite of the bells, with something changed."""
    wiki = next(one for one in load_suite("demo").tasks if one.id == BELLS)
    entry = {**wiki.model_dump(mode="json", exclude_unset=True), **more}
    entries = [entry, {**entry, "id": "without", "files": []}]
    suite = folder / "own.yaml"
    document = {"suite": "own", "version": 1, "title": "own", "tasks": entries}
    suite.write_text(json.dumps(document), encoding="utf-8")
    return suite


def test_what_no_tool_does_is_left_out_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    suite = own_suite(tmp_path, files=["a.txt"])
    exported = Arena().suites.export_harbor(str(suite), tmp_path / "tasks")
    assert exported.left_out == ((BELLS, "it uploads files, and no tool does that"),)
    assert [one.name for one in exported.folders] == ["without"]


def test_what_the_text_of_a_task_holds_breaks_no_file(tmp_path: Path) -> None:
    intent = 'Say "$image" \\ ${x} $(id) `id`, and then é.'
    suite = own_suite(tmp_path, intent=intent)
    folder, _ = Arena().suites.export_harbor(str(suite), tmp_path / "tasks").folders
    config = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    assert config["task"]["description"] == intent
    assert (folder / "instruction.md").read_text(encoding="utf-8").startswith(intent)
    episode = json.loads((folder / "environment/arena/episode.json").read_text(encoding="utf-8"))
    assert episode == {"task": f"{suite}/{BELLS}", "world": "offline", "goal": intent}


def test_the_command_says_what_it_wrote_and_what_it_left_out(
    call: Callable[..., Ended], tmp_path: Path
) -> None:
    (tmp_path / "demo").mkdir()  # the suite's name means the suite, whatever stands here
    done = call("tasks", "export", "harbor", "demo", "out", "--world", "online", "--json")
    assert done.code == 0
    assert str(Path("out", BELLS)) in done.document["folders"]
    assert {one["why"] for one in done.document["left_out"]} == {"it is not played online"}
    assert "left out: 3 tasks: it is not played online" in done.err
    episode = json.loads((tmp_path / "out" / BELLS / "environment/arena/episode.json").read_text())
    assert (episode["task"], episode["world"]) == (f"demo/{BELLS}", "online")
    again = call("tasks", "export", "harbor", "demo", "out")
    assert "holds something already" in again.err
    assert "tasks are not exported as 'x'" in call("tasks", "export", "x", "demo", "new").err


@pytest.mark.parametrize("image", ["a b", "x\nRUN id", "-x"])
def test_an_image_that_is_no_name_is_refused(image: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no image's name"):
        Arena().suites.export_harbor("demo", tmp_path / "tasks", image=image)


def test_a_folder_that_holds_something_and_a_world_without_tasks_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(UsageError, match="holds something already"):
        Arena().suites.export_harbor("demo", tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]
    with pytest.raises(UsageError, match="it is not played online"):
        Arena().suites.export_harbor("demo", tmp_path / "a", ["merchant-*"], world="online")
