"""What a run is asked to do: read from a file, laid over by options, kept by its lock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.runs.tiny_run import make_lock

from arena_core.errors import InputError, UsageError
from arena_core.worlds import World
from orchestrator.runs.spec import Asked, RunSettings, RunSpec, RunTerms
from orchestrator.runs.store.lock import RunLock, lock_digest

FILE = """\
suite: mine.yaml
agent: chat
options: {model: m, temperature: 0}
worlds: [online, offline]
staged: true
repeats: 3
memory: 4GiB
budget: {max_usd: 5}
"""


def written(path: Path, text: str = FILE) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_options_come_before_the_file_and_leave_the_rest_of_it(tmp_path: Path) -> None:
    path = written(tmp_path / "run.yaml")
    asked = {"repeats": 5, "options": {"temperature": 1}, "max_tokens": 900}
    spec = RunSpec.read(path, asked)
    assert (spec.repeats, spec.staged, spec.memory) == (5, True, 4 << 30)
    assert spec.worlds == (World.OFFLINE, World.ONLINE)
    assert spec.options == {"model": "m", "temperature": 1}
    assert (spec.budget.max_usd, spec.budget.max_tokens) == (5, 900)


def test_another_agent_takes_the_place_of_the_files(tmp_path: Path) -> None:
    path = written(tmp_path / "run.yaml")
    played = RunSpec.read(path, {"command": "python play.py", "seconds": 9})
    assert (played.agent, played.options, played.command) == (None, {}, "python play.py")
    path = written(path, "command: python play.py\nseconds: 9\n")
    assert (RunSpec.read(path, {}).agent, RunSpec.read(path, {}).seconds) == (None, 9)
    assert RunSpec.read(path, {"agent": "idle"}).command is None


def test_a_suite_beside_the_file_is_found_there(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").touch()
    path = written(tmp_path / "run.yaml")
    assert RunSpec.read(path, {}).suite == str(tmp_path / "mine.yaml")
    assert RunSpec.read(path, {"suite": "other.yaml"}).suite == "other.yaml"
    assert RunSpec.read(written(path, "suite: demo\n"), {}).suite == "demo"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("wokers: 2", "run.yaml:2: wokers: unknown field; did you mean 'workers'"),
        ("budget: {max_usd: 0}", "run.yaml:2: budget.max_usd: must be greater than 0"),
        ("memory: lots", "run.yaml:2: memory: 'lots' is no amount of memory"),
        ("strategy: magic", "run.yaml:2: strategy: unknown strategy 'magic'; there are: auto"),
        ("resolve: [x]", "run.yaml:2: resolve.0: --resolve 'x': expected HOST:PORT:ADDR:PORT"),
        ("worlds: [online, online]", "run.yaml:2: worlds: must name no world twice"),
        ("command: play", "run.yaml:1: agent: needs `agent` or `command`, and not both"),
    ],
)
def test_a_files_mistake_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path / "run.yaml", f"agent: idle\n{line}\n")
    with pytest.raises(InputError) as caught:
        RunSpec.read(path, {})
    assert said in caught.value.message


def test_an_option_that_makes_no_sense_keeps_its_next_step() -> None:
    with pytest.raises(UsageError, match="'lots' is no amount of memory") as caught:
        RunSettings.of(memory="lots")
    assert caught.value.hint == "for example 4GiB or 512MiB"


def test_every_setting_may_be_asked_for_by_keyword() -> None:
    by_name = {*Asked.__annotations__} - {"max_usd", "max_tokens"} | {"budget"}
    alone = {"agent", "command", "seconds", "tasks"}
    assert by_name == RunSpec.model_fields.keys() - alone


def test_a_lock_keeps_the_terms_under_the_names_with_which_locks_began() -> None:
    terms = RunSettings.of(
        resolve=["a.test:443:127.0.0.1:1"], memory="1GiB", trace=True, record_requests=True
    )
    lock = make_lock().model_copy(update=terms.terms)
    kept = json.loads(lock.model_dump_json())
    assert {"resolves", "memory_bytes", "traces", "records_requests", "limits"} <= kept.keys()
    assert RunLock.model_validate(kept) == lock
    assert lock.settings() == terms.settings()
    assert lock.settings(memory=None, trace=None) == terms.settings()
    assert lock.settings(workers=7, max_usd=3) == terms.settings(workers=7, budget={"max_usd": 3})


def test_a_lock_without_what_was_added_later_has_the_same_digest() -> None:
    kept = json.loads(make_lock().model_dump_json())
    assert "screenshots" not in kept
    assert "canary" not in kept
    added = {"resolves", "memory_bytes", "traces", "records_requests", "limits", "staged", "spares"}
    added.add("vary")
    earlier = {name: value for name, value in kept.items() if name not in added}
    assert lock_digest(RunLock.model_validate(earlier)) == lock_digest(make_lock())


def test_an_arm_is_kept_whole_and_goes_on_under_no_other_version() -> None:
    asked = RunSettings.of(vary=["look=dark", "network=slow@800,seed=7"])
    lock = make_lock().model_copy(update=asked.terms)
    assert lock.vary == ("look=dark@v1", "network=slow@800,seed=7,v1")
    assert lock.arm == "look=dark network=slow@800,seed=7"
    assert lock.settings().arm == asked.arm
    assert lock_digest(lock) != lock_digest(make_lock())
    other = lock.model_copy(update={"vary": ("look=dark@v9",)})
    assert other.arm == "look=dark@v9"
    with pytest.raises(UsageError, match="version 9 is not this Arena's"):
        other.settings()


@pytest.mark.parametrize(
    ("vary", "worlds", "says"),
    [
        (["look=drak"], ["offline"], "there is no such variation"),
        (["look=dark", "look=large"], ["offline"], "exclude each other"),
        (["look=dark"], ["online"], "live sites are never rewritten"),
        (["look=dark"], ["offline", "online"], "live sites are never rewritten"),
    ],
)
def test_an_arm_that_makes_no_sense_is_refused(
    vary: list[str], worlds: list[str], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        RunSettings.of(vary=vary, worlds=worlds)


def test_what_is_staged_is_told_by_the_sites_of_a_lock() -> None:
    assert make_lock().model_copy(update={"staged": ("wiki",)}).settings().staged
    assert not make_lock().settings().staged
    assert RunTerms().terms.keys() == RunSettings().terms.keys()
