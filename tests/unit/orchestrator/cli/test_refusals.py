"""What a person mistypes: one clear line on stderr, the documented exit code, an empty stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.agents.arena_process import Ended
from support.runs.tiny_run import SUITE, make_lock
from support.tasks.small_suites import bells, write_suite

from arena_core import errors
from orchestrator.runs.store.run_folder import RunFolder

Call = Callable[..., Ended]

ANSWER = {
    "name": "bells",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 47},
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, bells("bells"))


def assert_refused(ended: Ended, code: int, *said: str) -> None:
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    lines = ended.err.splitlines()
    assert lines[0].startswith("arena: ")
    assert [line for line in lines[1:] if not line.startswith("  → ")] == []
    for words in said:
        assert words in ended.err


def test_an_unknown_suite_is_named(call: Call) -> None:
    ended = call("eval", "--suite", "nowhere")
    assert_refused(ended, errors.UnknownNameError.exit_code, "nowhere", "demo")


def test_tasks_are_listed_of_a_suite_that_an_option_names_as_elsewhere(
    call: Call, suite: Path
) -> None:
    by_option = call("tasks", "list", "--suite", suite, "--json")
    assert (by_option.code, by_option.out) == (0, call("tasks", "list", suite, "--json").out)
    twice = call("tasks", "list", suite, "--suite", "demo")
    assert_refused(twice, errors.UsageError.exit_code, "two suites are named")


def test_an_unknown_task_is_named(call: Call, suite: Path) -> None:
    ended = call("eval", "nothing-like-it", "--suite", suite)
    assert_refused(ended, errors.UnknownNameError.exit_code, "nothing-like-it")


def test_an_unknown_task_is_named_by_show_too(call: Call, suite: Path) -> None:
    ended = call("tasks", "show", "nothing-like-it", "--suite", suite)
    assert_refused(ended, errors.UnknownNameError.exit_code, "nothing-like-it")


def test_a_pattern_that_fits_several_tasks_is_answered_with_their_names(
    call: Call, tmp_path: Path
) -> None:
    ended = call("tasks", "show", "b*", "--suite", write_suite(tmp_path, bells("b1"), bells("b2")))
    assert_refused(ended, errors.UsageError.exit_code, "b1, b2")


@ONE_QUICK
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("suite: bad\nversion: 1\ntitle: [unclosed\ntasks: []\n", ":4"),
        ("suite: bad\nversion: one\ntitle: Bad\ntasks: []\n", ":2"),
        ("suite: bad\nversion: 1\ntitle: Bad\nsurprise: 1\ntasks: []\n", ":4"),
    ],
    ids=["no-yaml", "wrong-value", "unknown-field"],
)
def test_a_malformed_suite_is_refused_with_file_and_line(
    call: Call, tmp_path: Path, text: str, line: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    ended = call("eval", "--suite", path)
    assert_refused(ended, errors.TaskError.exit_code, f"bad.yaml{line}")


URL = ("--model-url", "http://127.0.0.1:9/v1")
CHAT = ("--agent", "chat", "--model", "m", *URL)
HERE = "en.wikipedia.org:443:127.0.0.1:8443"


@ONE_QUICK
@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--model", "gpt-4o"), "--model has no effect: the agent 'oracle'"),
        (URL, "--model-url has no effect: the agent 'oracle'"),
        (("--model-deadline", "120"), "--model-deadline has no effect: the agent 'oracle'"),
        (("--temperature", "0"), "--temperature has no effect: the agent 'oracle'"),
        (("--seed", "0"), "seed has no effect on the oracle without error_rate"),
        (("--agent", "idle", "--seed", "1"), "--seed has no effect: the agent 'idle'"),
        (("--agent", "random", "--model", "m"), "--model has no effect: the agent 'random'"),
        (("--agent", "idle", "--max-usd", "1"), "the agent idle does not say what it spends"),
        (("--agent", "idle", "--max-tokens", "9"), "the agent idle does not say what it spends"),
        (("--staged",), "--staged says where --online leads"),
        (("--resolve", HERE), "--resolve says where --online leads"),
        (("--strategy", "rewind"), "--strategy has no effect"),
        (("--spares", "1"), "--spares has no effect"),
        ((*CHAT, "--strategy", "auto"), "--strategy has no effect"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_an_option_without_effect_is_refused(
    call: Call, suite: Path, given: tuple[str, ...], named: str
) -> None:
    """The suite's only task is offline, on a site without state."""
    assert_refused(call("eval", "--suite", suite, *given), errors.UsageError.exit_code, named)


@SLOW
@pytest.mark.parametrize(
    ("task", "given", "named"),
    [
        ("wiki-*", ("--resolve", "shop.test:443:127.0.0.1:1"), "en.wikipedia.org:443"),
        ("wiki-*", ("--resolve", HERE, "--resolve", HERE), f"--resolve {HERE} has no effect"),
        ("wiki-*", ("--resolve", HERE, "--staged"), f"--resolve {HERE} has no effect"),
        ("wiki-*", ("--memory", "4GiB"), "--memory has no effect"),
    ],
    ids=["another host", "twice", "staged", "no replica"],
)
def test_an_option_about_origins_that_are_not_visited_is_refused(
    call: Call, task: str, given: tuple[str, ...], named: str
) -> None:
    ended = call("eval", task, "--online", *given)
    assert_refused(ended, errors.UsageError.exit_code, named)


@SLOW
def test_a_pace_without_effect_is_refused_beside_resume_too(call: Call, tmp_path: Path) -> None:
    """The run's only task visits a site without state."""
    RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    ended = call("eval", "--resume", tmp_path / "run", "--spares", "1")
    assert_refused(ended, errors.UsageError.exit_code, "--spares has no effect")


def test_workers_of_a_lint_that_plays_nothing_are_refused(call: Call, suite: Path) -> None:
    ended = call("tasks", "lint", suite, "--workers", "4")
    assert_refused(ended, errors.UsageError.exit_code, "workers: has no effect without --prove")


@pytest.mark.parametrize("value", ["nan", "-1", "2.5", "warm"])
def test_a_temperature_that_is_none_is_refused(call: Call, suite: Path, value: str) -> None:
    ended = call("eval", "--suite", suite, *CHAT, "--temperature", value)
    assert ended.code == errors.UsageError.exit_code
    assert ended.out == ""
    assert "--temperature" in ended.err
    assert "Traceback" not in ended.err


def test_a_task_that_plays_in_no_world_asked_for_is_no_empty_run(call: Call, suite: Path) -> None:
    """The suite's only task is offline."""
    ended = call("eval", "--suite", suite, "--online")
    assert_refused(ended, errors.UsageError.exit_code, "online")


@pytest.mark.parametrize("command", [("eval", "--resume"), ("report",), ("score",)])
@pytest.mark.parametrize("is_there", ["empty", "missing"])
def test_a_folder_that_is_no_run_is_refused(
    call: Call, tmp_path: Path, command: tuple[str, ...], is_there: str
) -> None:
    folder = tmp_path / "elsewhere"
    if is_there == "empty":
        folder.mkdir()
    ended = call(*command, folder)
    assert_refused(ended, errors.StoreError.exit_code, "elsewhere", "not a run folder")


@pytest.mark.parametrize("command", [("eval", "--resume"), ("report",), ("score",)])
def test_a_run_whose_copy_of_the_suite_was_edited_is_refused(
    call: Call, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Episodes played before and after would be of two suites, under one name."""
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    kept = folder.path / "suite.json"
    kept.write_text(kept.read_text().replace("1891", "1892"))
    ended = call(*command, folder.path)
    said = (f"{kept}: was changed after the run began", "put it back", "arena score")
    assert_refused(ended, errors.StoreError.exit_code, *said)
    assert len(ended.err.splitlines()) == 2


def test_options_of_a_new_run_are_refused_beside_resume(call: Call, tmp_path: Path) -> None:
    """A run goes on as its lock says: an option that is silently ignored would lie."""
    ended = call("eval", "--resume", tmp_path, "--agent", "idle")
    assert_refused(ended, errors.UsageError.exit_code, "--resume", "--agent")


@ONE_QUICK
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "4 potatoes"), "'4 potatoes' is no amount of memory"),
        (("--memory", "4"), "'4' is no amount of memory"),
        (("--strategy", "magic"), "unknown strategy 'magic'; there are: auto, swap, "),
        (("--strategy", "swap", "--spares", "0"), "the strategy swap needs a spare"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("resumed", [False, True], ids=["new", "resumed"])
def test_a_pace_that_makes_no_sense_is_quoted(
    call: Call, suite: Path, options: tuple[str, ...], said: str, *, resumed: bool
) -> None:
    run = ("--resume", suite.parent) if resumed else ("--suite", suite)
    assert_refused(call("eval", *run, *options), errors.UsageError.exit_code, said)


@pytest.mark.parametrize("options", [("--workers", "0"), ("--spares", "-1"), ("--workers", "two")])
def test_a_number_that_is_none_is_refused(
    call: Call, suite: Path, options: tuple[str, ...]
) -> None:
    ended = call("eval", "--suite", suite, *options)
    assert ended.code == errors.UsageError.exit_code
    assert ended.out == ""
    assert options[0] in ended.err
    assert "Traceback" not in ended.err


@ONE_QUICK
@pytest.mark.parametrize("nonsense", ["x", "host:notaport:1.2.3.4:80", "host:443:1.2.3.4", ":::"])
def test_a_resolve_that_makes_no_sense_is_quoted(call: Call, suite: Path, nonsense: str) -> None:
    ended = call("eval", "--suite", suite, "--online", "--resolve", nonsense)
    assert_refused(ended, errors.UsageError.exit_code, nonsense)


def test_no_engine_is_said_with_what_mends_it(call: Call, suite: Path) -> None:
    ended = call("eval", "--suite", suite)
    assert not (suite.parent / "arena-runs").exists()
    assert_refused(ended, errors.EngineMissingError.exit_code, "/nonexistent", "  → ")


def test_an_unknown_command_is_refused(call: Call) -> None:
    ended = call("evaluate")
    assert ended.code == errors.UsageError.exit_code
    assert ended.out == ""
    assert "evaluate" in ended.err
    assert "Traceback" not in ended.err


def test_an_unknown_option_is_refused(call: Call) -> None:
    ended = call("eval", "--fast")
    assert ended.code == errors.UsageError.exit_code
    assert ended.out == ""
    assert "--fast" in ended.err


WRONG_TASKS = {
    "a foreign start page": (bells("bells", start=["forum:/"]), "not one of the task's sites"),
    "no stop at the end": (
        bells("bells", reference=[{"do": "click", "role": "link", "name": "Bruges"}]),
        "must end with `do: stop`",
    ),
    "two checks of one name": (bells("bells", checks=[ANSWER, ANSWER]), "two checks are called"),
    "a role that its site has not": (
        bells("bells", roles={"wiki": "admin"}),
        "unknown role 'admin' of site 'wiki'",
    ),
}


@ONE_QUICK
@pytest.mark.parametrize("mistake", WRONG_TASKS)
def test_a_suite_with_a_mistake_is_not_played(call: Call, tmp_path: Path, mistake: str) -> None:
    task, says = WRONG_TASKS[mistake]
    suite = write_suite(tmp_path, bells("sound"), task)
    ended = call("eval", "--suite", suite, "--out", tmp_path / "run")
    assert_refused(ended, errors.TaskError.exit_code, f"{suite}:", "task 'bells'", says)
    assert f"arena tasks lint {suite}" in ended.err
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_a_task_that_is_not_chosen_stops_nothing(call: Call, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("sound"), bells("wrong", roles={"wiki": "admin"}))
    ended = call("eval", "sound", "--suite", suite)
    assert_refused(ended, errors.EngineMissingError.exit_code)


@pytest.mark.parametrize("name", ["./mine", "mine/", "mine", "{here}/mine", "./mine/tasks.yaml"])
def test_a_suites_folder_is_named_by_any_path_of_it(call: Call, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    write_suite(folder, bells("bells")).rename(folder / "suite.yaml")
    (folder / "tasks.yaml").write_text("tasks: []\n")
    path = name.format(here=tmp_path)
    if path.endswith("tasks.yaml"):
        assert_refused(call("tasks", "list", path), errors.TaskError.exit_code, "holds no task")
    else:
        assert "bells" in call("tasks", "list", path).out


@ONE_QUICK
@pytest.mark.parametrize(
    "words", [("tasks", "list"), ("tasks", "show", "x"), ("status",), ("eval",)]
)
def test_a_variable_that_names_no_folder_of_sites_is_refused_everywhere(
    call: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ARENA_SITES", "/nope")
    ended = call(*words)
    assert_refused(ended, errors.ManifestError.exit_code, "ARENA_SITES names /nope", "arena site")


@pytest.mark.parametrize("sites", ["/proc/x", "file"])
def test_a_folder_that_cannot_be_made_is_one_line(call: Call, tmp_path: Path, sites: str) -> None:
    (tmp_path / "file").touch()
    ended = call("site", "new", "my-notes", "--sites", sites)
    assert_refused(ended, errors.UsageError.exit_code, f"{sites}/my-notes cannot be made")


def test_a_run_folder_that_may_not_be_read_is_one_line(call: Call, tmp_path: Path) -> None:
    ended = call("report", tmp_path / ("x" * 300))
    assert_refused(ended, errors.PrerequisiteError.exit_code, "File name too long")


def test_a_broken_site_of_ones_own_is_named_and_stops_nothing_else(
    call: Call, tmp_path: Path
) -> None:
    mine = tmp_path / "arena-sites" / "mine"
    mine.mkdir(parents=True)
    (mine / "site.yaml").write_text("name: mine\nclock: {zone: Mars/Base}\n")
    ended = call("tasks", "lint", write_suite(tmp_path, bells("bells")))
    assert ended.code == 0
    assert f"site 'mine' of your own is left out: {mine}/site.yaml:" in ended.err
    assert call("site", "check", "mine").code == errors.ManifestError.exit_code


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CHROMIUM", "/nonexistent")


@SLOW
@pytest.mark.usefixtures("no_browser")
def test_doctor_names_a_broken_site_and_looks_at_all_else(call: Call, tmp_path: Path) -> None:
    mine = tmp_path / "arena-sites" / "mine"
    mine.mkdir(parents=True)
    (mine / "site.yaml").write_text("name: mine\n")
    document = call("doctor", "--json").document
    checks = {one["name"]: one for one in document["checks"]}
    assert checks["own site mine"]["state"] == "broken"
    assert "title: is required" in checks["own site mine"]["found"]
    assert {"Python", "Docker engine", "Chromium"} <= checks.keys()


@SLOW
@pytest.mark.usefixtures("no_browser")
def test_doctor_looks_at_all_else_where_the_sites_folder_is_none(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_SITES", "/nope")
    document = call("doctor", "--json").document
    checks = {one["name"]: one for one in document["checks"]}
    assert checks["own sites"]["state"] == "missing"
    assert {"Python", "Docker engine", "Chromium"} <= checks.keys()


def test_the_oracle_refuses_tasks_without_a_reference(call: Call, tmp_path: Path) -> None:
    without = {name: value for name, value in bells("bells").items() if name != "reference"}
    suite = write_suite(tmp_path, without, bells("played"))
    ended = call("eval", "--suite", suite, "--agent", "oracle")
    assert_refused(ended, errors.UsageError.exit_code, "1 of the 2 tasks have none: bells")
    # Any other agent gets as far as the engine.
    ended = call("eval", "--suite", suite, "--agent", "idle")
    assert_refused(ended, errors.EngineMissingError.exit_code)


@SLOW
def test_an_option_that_the_agent_does_not_declare_is_refused(call: Call, suite: Path) -> None:
    ended = call("eval", "--suite", suite, "--agent", "random", "--agent-option", "sede=1")
    assert_refused(
        ended, errors.UsageError.exit_code, "'random' takes: seed (whole number; default: 0)"
    )
    ended = call("eval", "--suite", suite, "--agent", "random", "--agent-option", "seed=one")
    assert_refused(ended, errors.UsageError.exit_code, "--seed 'one' is not valid")
    given = ("--seed", "1", "--agent-option", "seed=1")
    ended = call("eval", "--suite", suite, "--agent", "random", *given)
    assert_refused(ended, errors.UsageError.exit_code, "say the same thing twice")


@ONE_QUICK
@pytest.mark.parametrize(
    "options", [("--repeats", "99999999"), ("--workers", "5000"), ("--rollouts", "99999999")]
)
def test_sizes_that_are_rarely_meant_ask_for_a_yes(
    call: Call, suite: Path, options: tuple[str, str]
) -> None:
    command = "sample" if "--rollouts" in options else "eval"
    asked = (command, "--suite", suite, "--agent", "random", *options)
    assert_refused(call(*asked), errors.UsageError.exit_code, "rarely meant", "--yes")
    meant = call(*asked, "--yes")
    assert meant.code == errors.EngineMissingError.exit_code


@SLOW
def test_a_reason_to_play_again_is_one_that_there_is(call: Call, tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    ended = call("eval", "--resume", "run", "--again", "internal,infar")
    assert_refused(ended, errors.UsageError.exit_code, "'infar'", "did you mean 'infra'?")
    ended = call("eval", "--resume", "run", "--again", "internal,infra")
    assert ended.code == errors.EngineMissingError.exit_code
    ended = call("eval", "--again", "internal")
    assert_refused(ended, errors.UsageError.exit_code, "--again has no effect without --resume")


@ONE_QUICK
@pytest.mark.parametrize(
    "words",
    [
        ("schema", "siet"),
        ("site", "new", "mine", "--kind", "flask"),
        ("site", "published", "webarean"),
        ("eval", "--suite", "zero"),
        ("study", "plan", "zero.yaml"),
        ("eval", "--agent", "random", "--agent-option", "seed=x"),
        ("eval", "--agent", "random", "--agent-option", "sede=1"),
        ("export", "dpo", "run", "--option", "shape=zzz"),
        ("judge", "check", "object.json", "--model", "m", "--model-url", "http://127.0.0.1:9/v1"),
        ("up", "shop"),
    ],
)
def test_no_message_speaks_of_pythons_types_and_exceptions(
    call: Call, tmp_path: Path, words: tuple[str, ...]
) -> None:
    RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    for name in ("zero", "zero.yaml"):
        (tmp_path / name).write_bytes(bytes(9))
    (tmp_path / "object.json").write_text("{}")
    ended = call(*words)
    assert ended.code != 0
    for inner in (
        *("Value error", "<unicode string>", "[Errno", "Input should", "tuple", "Literal["),
        *("str |", "None", "int =", ": int", ": str"),
    ):
        assert inner not in ended.err, ended.err


@SLOW
def test_a_suite_away_from_its_sites_says_where_sites_are_looked_for(
    call: Call, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, bells("one", sites=["my-shop"], start=["my-shop:/"]))
    for words in (("tasks", "lint", suite, "--json"), ("eval", "--suite", suite)):
        ended = call(*words)
        assert "ARENA_SITES" in ended.out + ended.err
        assert "./arena-sites" in ended.out + ended.err


@SLOW
def test_a_file_says_what_to_run_and_options_come_before_it(call: Call, suite: Path) -> None:
    file = suite.parent / "run.yaml"
    file.write_text(f"suite: {suite.name}\nagent: genius\nattempts: 2\n", "utf-8")
    ended = call("eval", "--config", file)
    assert_refused(ended, errors.UnknownNameError.exit_code, "genius", "oracle")
    ended = call("eval", "--config", file, "--agent", "idle", "nothing-like-it")
    assert_refused(ended, errors.UnknownNameError.exit_code, "nothing-like-it")
    ended = call("eval", "--config", file, "--agent", "idle")
    assert_refused(ended, errors.EngineMissingError.exit_code)
    ended = call("eval", "--config", file, "--agent-seconds", "9")
    assert_refused(ended, errors.UsageError.exit_code, "seconds: has no effect without `command`")
    ended = call("eval", "--resume", suite.parent, "--config", file)
    assert_refused(ended, errors.UsageError.exit_code, "it takes no --config")


def test_an_unknown_field_of_a_runs_file_is_named_with_its_line(call: Call, suite: Path) -> None:
    file = suite.parent / "run.yaml"
    file.write_text(f"suite: {suite.name}\nwokers: 2\n", "utf-8")
    ended = call("eval", "--config", file)
    assert_refused(
        ended,
        errors.InputError.exit_code,
        f"{file}:2: wokers: unknown field; did you mean 'workers'?",
    )
