"""What a task sets up: how it is written, read, inherited from the suite, and linted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from arena_core.errors import TaskError
from sites.registry import SiteRegistry, load_registry
from tasks.given import digest_of
from tasks.lint.linter import lint_suite
from tasks.lint.sql import SiteTables, statements_fault
from tasks.loader import load_suite
from tasks.schema import Suite, Task

NOTES = SiteTables(state={"desk_note": ("id", "title"), "desk_member": ("id",)})
SQL = {"sql": "UPDATE desk_note SET title = 'Rope' WHERE id = 36"}


@pytest.fixture(scope="module")
def shipped() -> SiteRegistry:
    return load_registry()


def task(**changes: object) -> dict[str, Any]:
    return {
        "id": "rope",
        "family": "content",
        "intent": "Say what the note on the rope says.",
        "sites": ["tools"],
        "roles": {"tools": "emma"},
        "start": ["tools:/notes"],
        "worlds": ["offline"],
        "checks": [
            {
                "name": "said",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "exact", "value": "done"},
            }
        ],
        "reference": [{"do": "stop", "answer": "done"}],
        **changes,
    }


def suite(folder: Path, *tasks: dict[str, Any], **head: object) -> Path:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "poster.png").write_bytes(b"\x89PNG")
    path = folder / "mine.yaml"
    document = {"suite": "mine", "version": 1, "title": "Mine", **head, "tasks": list(tasks)}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def faults(registry: SiteRegistry, *steps: object, site: str = "tools") -> list[str]:
    read = Task.model_validate(task(given={site: list(steps)}))
    found = lint_suite(
        Suite(suite="mine", version=1, title="Mine", tasks=(read,)), registry, None, {site: NOTES}
    )
    return [f"{one.where}: {one.message}" for one in found if "given" in one.where]


def test_every_kind_of_step_is_read_and_written_back_the_same(tmp_path: Path) -> None:
    steps = [
        SQL,
        {"api": {"role": "emma", "method": "PUT", "path": "/api/notes/1", "json": {"a": [1]}}},
        {"file": {"path": "/srv/tools/state/x.png", "from": "poster.png"}},
        {"file": {"path": "/srv/tools/state/x.txt", "text": "hello"}},
        {"command": "touch /srv/tools/state/y"},
        {"as": "emma", "start": "/notes", "do": [{"do": "click", "role": "link", "name": "New"}]},
        {"clock": "2026-12-24T18:00:00Z"},
    ]
    read = load_suite(str(suite(tmp_path, task(given={"tools": steps}))))
    (tmp_path / "files" / "poster.png").unlink()
    again = Suite.model_validate_json(read.model_dump_json())
    assert again == read
    given = again.tasks[0].given["tools"]
    assert digest_of(given) == digest_of(read.tasks[0].given["tools"])
    assert given[2].file.content == b"\x89PNG"  # type: ignore[union-attr]
    assert given[3].file.content == b"hello"  # type: ignore[union-attr]


def test_a_task_that_sets_nothing_up_is_written_as_before() -> None:
    assert "given" not in Task.model_validate(task()).model_dump()


@pytest.mark.parametrize("other", [{"sql": "DELETE FROM desk_note"}, {"command": "true"}])
def test_other_steps_have_another_digest(other: object) -> None:
    one = Task.model_validate(task(given={"tools": [SQL]}))
    two = Task.model_validate(task(given={"tools": [other]}))
    both = Task.model_validate(task(given={"tools": [SQL, other]}))
    digests = {digest_of(each.given["tools"]) for each in (one, two, both)}
    assert len(digests) == 3


def test_what_a_suite_sets_up_comes_first_and_only_on_the_sites_of_a_task(tmp_path: Path) -> None:
    before = {"sql": "DELETE FROM desk_note"}
    shared = {"tools": [before], "shop": [{"command": "true"}]}
    path = suite(tmp_path, task(given={"tools": [SQL]}), task(id="plain"), given=shared)
    own, plain = load_suite(str(path)).tasks
    assert [one.sql for one in own.given["tools"]] == [before["sql"], SQL["sql"]]  # type: ignore[union-attr]
    assert [one.sql for one in plain.given["tools"]] == [before["sql"]]  # type: ignore[union-attr]
    assert set(plain.given) == {"tools"}


def test_the_contents_of_a_suite_are_those_of_its_tasks_on_the_sites_that_they_visit(
    tmp_path: Path,
) -> None:
    long, own = {"sql": "UPDATE desk_note SET title = 'long'"}, {"sql": "DELETE FROM desk_note"}
    contents = {
        "long": {"tools": [long], "shop": [{"command": "true"}]},
        "elsewhere": {"shop": [{"command": "true"}]},
    }
    path = suite(
        tmp_path,
        task(given={"tools": [SQL]}, contents={"long": {"tools": [own]}}),
        task(id="plain"),
        contents=contents,
    )
    first, plain = load_suite(str(path)).tasks
    assert set(first.contents) == set(plain.contents) == {"long"}
    assert plain.given == {}
    varied = first.with_content("long")
    assert [one.sql for one in varied.given["tools"]] == [SQL["sql"], long["sql"], own["sql"]]  # type: ignore[union-attr]
    assert [one.sql for one in first.given["tools"]] == [SQL["sql"]]  # type: ignore[union-attr]
    assert plain.with_content("elsewhere") == plain
    assert "contents" not in Task.model_validate(task()).model_dump()


def test_a_file_of_a_content_goes_with_the_suite(tmp_path: Path) -> None:
    step = {"file": {"path": "/srv/tools/state/x.png", "from": "poster.png"}}
    path = suite(tmp_path, task(), contents={"picture": {"tools": [step]}})
    (read,) = load_suite(str(path)).tasks
    assert read.contents["picture"]["tools"][0].file.content == b"\x89PNG"  # type: ignore[union-attr]


def test_the_steps_of_a_content_are_linted_in_their_place(shipped: SiteRegistry) -> None:
    steps = [{"sql": "DELETE FROM no_such_table"}]
    read = Task.model_validate(task(contents={"long": {"tools": steps, "shop": steps}}))
    mine = Suite(suite="mine", version=1, title="Mine", tasks=(read,))
    found = lint_suite(mine, shipped, None, {"tools": NOTES})
    faults = [f"{one.where}: {one.message}" for one in found if "contents" in one.where]
    assert "no_such_table" in faults[0]
    assert "long" in faults[0]
    assert any("sets up 'shop', which is not one of the task's sites" in one for one in faults)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"given": {"tools": []}}, "given.tools: must have at least 1 entry"),
        ({"given": {"tools": [{"sq": "SELECT"}]}}, "a step needs one of sql, api, file, command"),
        ({"given": {"tools": [{**SQL, "why": "x"}]}}, "given.tools.0.why"),
        ({"given": {"tools": [{**SQL, "command": "x"}]}}, "given.tools.0.command"),
        (
            {"given": {"tools": [{"file": {"path": "/x", "from": "none.png"}}]}},
            "there is no file 'none.png'",
        ),
        (
            {"given": {"tools": [{"file": {"path": "/x", "from": "../poster.png"}}]}},
            "must be a file's name, without any folder",
        ),
        (
            {"given": {"tools": [{"file": {"path": "/x"}}]}},
            "a file needs `text` or `from`, and not both",
        ),
        (
            {"given": {"tools": [{"file": {"path": "/srv/tools/state/../x", "text": ""}}]}},
            "must hold no '.' or '..'",
        ),
        ({"given": {"tools": [{"clock": "2026-12-24T18:00:00"}]}}, "given.tools.0.clock"),
        (
            {"given": {"tools": [SQL]}, "worlds": ["offline", "online"]},
            "a live site is as it is: `worlds: [offline]`",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TaskError) as raised:
        load_suite(str(suite(tmp_path, task(**changes))))
    assert message in raised.value.message
    assert "mine.yaml:" in raised.value.message


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"sql": "UPDATE desk_notes SET x = 1"}, "there is no table 'desk_notes'"),
        ({"sql": "SELECT 'unclosed"}, "the statements cannot be read"),
        ({"sql": ";"}, "there is no statement"),
        ({"api": {"role": "king", "path": "/api"}}, "unknown role of site 'tools'"),
        ({"file": {"path": "/etc/passwd", "text": ""}}, "written under /srv/tools/state/"),
        ({"as": "king", "do": [{"do": "back"}]}, "unknown role of site 'tools'"),
        ({"do": [{"do": "stop"}]}, "ends an episode, and here none has begun"),
        ({"do": [{"do": "goto", "page": "shop:/"}]}, "these are steps for site 'tools'"),
        ({"do": [{"do": "press", "keys": "Nope+X"}]}, "Nope"),
        ({"clock": "2026-10-01T09:00:00Z"}, "it has no effect"),
    ],
)
def test_the_linter_says_which_step_cannot_be_done(
    shipped: SiteRegistry, step: object, message: str
) -> None:
    (found,) = faults(shipped, step)
    assert message in found
    assert "given.tools.0" in found


@pytest.mark.parametrize(
    "step",
    [
        SQL,
        {"sql": "CREATE TABLE tmp_a (id INT); INSERT INTO tmp_a SELECT id FROM desk_note"},
        {"api": {"role": "emma", "path": "/api/notes", "json": {}}},
        {"clock": "2026-12-24T18:00:00Z"},
        {"as": "emma", "do": [{"do": "goto", "page": "tools:/notes"}]},
    ],
)
def test_sound_steps_have_no_fault(shipped: SiteRegistry, step: object) -> None:
    assert faults(shipped, step) == []


def test_two_clocks_a_site_without_state_and_one_that_is_not_visited(
    shipped: SiteRegistry,
) -> None:
    clock = {"clock": "2026-12-24T18:00:00Z"}
    assert "sets the clock twice" in faults(shipped, clock, clock)[0]
    not_visited, stateless = faults(shipped, SQL, site="wiki")
    assert "'wiki', which is not one of the task's sites" in not_visited
    assert "has no `state` in its manifest" in stateless


def test_statements_on_tables_of_another_schema_are_the_databases_matter() -> None:
    assert statements_fault("INSERT INTO other.thing VALUES (1)", NOTES) is None
    assert statements_fault("DELETE FROM gone", None) is None
