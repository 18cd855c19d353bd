from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import tasks
from evaluators.checks import Computed
from sites.registry import load_registry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite
from tasks.templates import Template

README = (Path(tasks.__file__).parent / "README.md").read_text(encoding="utf-8")


def _example(heading: str) -> str:
    """Return the YAML below a heading."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    [found] = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    return str(found)


def test_the_task_in_the_readme_is_a_sound_one() -> None:
    suite = Suite.model_validate(
        {
            "suite": "readme",
            "version": 1,
            "title": "Example",
            "tasks": yaml.safe_load(_example("Add a task")),
        }
    )
    assert lint_suite(suite, load_registry()) == ()


@pytest.mark.parametrize("line", _example("Say where a key comes from").strip().splitlines())
def test_the_ways_to_compute_a_key_in_the_readme_are_read(line: str) -> None:
    assert Computed.model_validate(yaml.safe_load(line)["computed"]).site in load_registry().sites


def test_the_template_in_the_readme_has_the_instances_that_it_says() -> None:
    document: dict[str, Any] = yaml.safe_load(_example("Ask the same thing several times"))
    template = Template.model_validate(document["templates"][0])
    second = list(template.written(()))[1]
    assert (second["id"], second["intent"]) == ("price-of-2", "What does the Harbour pan cost?")
