"""The shipped JSON Schemas are those of the models, and hold for every file that names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from quick_cases import ONE_QUICK, SLOW
from support.runs.made_run import make_run

from arena_core import plugins
from evaluators.locators.kinds import _kinds_on as installed_kinds_on
from evaluators.matchers.kinds import _matchers_on as installed_matchers_on
from orchestrator.authoring.schemas.documents import make_schema, schema_text
from orchestrator.authoring.schemas.kinds import VERSIONS, SchemaKind, file_name, shipped_text

ROOT = Path(__file__).parents[3]
MARK = "# yaml-language-server: $schema="


TEMPLATE: dict[str, Any] = {
    "id": "price",
    "params": [{"name": "Kettle", "price": 19.99, "world": "offline", "sites": ["shop"]}],
    "task": {
        "family": "information",
        "intent": "What does {name} cost?",
        "sites": "{sites}",
        "start": ["shop:/"],
        "worlds": ["{world}"],
        "checks": [
            {
                "name": "price",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "number", "value": "{price}"},
            }
        ],
    },
}


class AsWritten(yaml.CSafeLoader):
    """Reads a date as the text that stands there, as editors do."""


AsWritten.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def written_files() -> Iterator[Path]:
    yield from sorted(ROOT.glob("tasks/suites/**/*.yaml"))
    yield from sorted(ROOT.glob("sites/*/site.yaml"))
    yield from sorted(ROOT.glob("examples/**/*.yaml"))


def named(path: Path) -> SchemaKind:
    return SchemaKind.SITE if path.name == "site.yaml" else SchemaKind.SUITE


def wrong(kind: SchemaKind, document: object) -> list[str]:
    found = jsonschema.Draft202012Validator(json.loads(shipped_text(kind))).iter_errors(document)
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message}" for one in found]


@pytest.fixture
def own_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide what other packages plug in: the shipped schemas name Arena's own alone."""
    every = plugins.registered
    kinds = (installed_kinds_on, installed_matchers_on)
    monkeypatch.setattr(
        plugins, "registered", lambda group: tuple(one for one in every(group) if one.is_own)
    )
    for cached in kinds:
        cached.cache_clear()
    yield
    for cached in kinds:
        cached.cache_clear()


@SLOW
@pytest.mark.parametrize("kind", list(SchemaKind))
@pytest.mark.usefixtures("own_plugins")
def test_the_shipped_schema_is_what_the_models_say(kind: SchemaKind) -> None:
    assert shipped_text(kind) == schema_text(kind), "write it anew: make schemas"
    jsonschema.Draft202012Validator.check_schema(make_schema(kind))


def test_only_the_schemas_of_today_are_shipped() -> None:
    there = {path.name for path in (ROOT / "orchestrator" / "authoring" / "schemas").glob("*.json")}
    assert there == {file_name(kind) for kind in SchemaKind}
    assert set(VERSIONS) == set(SchemaKind)


@ONE_QUICK
@pytest.mark.parametrize(
    "path", list(written_files()), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_file_names_its_schema_first_and_is_what_it_says(path: Path) -> None:
    first, _, _ = path.read_text(encoding="utf-8").partition("\n")
    assert first.startswith(MARK)
    assert (path.parent / first.removeprefix(MARK)).resolve() == (
        ROOT / "orchestrator" / "authoring" / "schemas" / file_name(named(path))
    )
    document = yaml.load(path.read_text(encoding="utf-8"), AsWritten)  # noqa: S506 - a safe loader
    assert wrong(named(path), document) == []


@SLOW
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sites": "wiki"}, "tasks.0.sites"),
        ({"intnet": "Say it."}, "tasks.0"),
        ({"checks": []}, "tasks.0.checks"),
        ({"reference": [{"do": "clik", "role": "link", "name": "x"}]}, "tasks.0.reference"),
    ],
)
def test_a_mistake_in_a_suite_is_one_for_the_schema_too(
    change: dict[str, object], place: str
) -> None:
    path = ROOT / "tasks" / "suites" / "demo.yaml"
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), AsWritten)  # noqa: S506
    document["tasks"][0] |= change
    assert any(one.startswith(place) for one in wrong(SchemaKind.SUITE, document))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"intnet": "Say it."}, "templates.0.task"),
        ({"id": "mine"}, "templates.0.task"),
        ({"worlds": ["mars"]}, "templates.0.task.worlds"),
        ({"checks": [{"name": "x", "when": "end", "locate": {"by": "answr"}}]}, "templates.0.task"),
    ],
    ids=lambda one: one if isinstance(one, str) else next(iter(one)),
)
def test_a_mistake_in_a_template_is_one_for_the_schema_too(
    change: dict[str, object], place: str
) -> None:
    document = {"templates": [TEMPLATE]}
    assert wrong(SchemaKind.SUITE, document) == []
    document = {"templates": [TEMPLATE | {"task": {**TEMPLATE["task"], **change}}]}
    assert any(one.startswith(place) for one in wrong(SchemaKind.SUITE, document))


@SLOW
def test_a_runs_files_are_what_their_schemas_say(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    assert wrong(SchemaKind.LOCK, json.loads((folder.path / "lock.json").read_text())) == []
    for name in folder.evidence_names():
        path = folder.evidence_folder(name) / "evidence.json"
        assert wrong(SchemaKind.EVIDENCE, json.loads(path.read_text())) == []
