from __future__ import annotations

import re
from pathlib import Path

import yaml

import tasks
from sites.atlas import load_atlas
from tasks.lint import lint_suite
from tasks.schema import Suite


def test_the_task_in_the_readme_is_a_sound_one() -> None:
    readme = (Path(tasks.__file__).parent / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    suite = Suite.model_validate(
        {"suite": "readme", "version": 1, "title": "Example", "tasks": yaml.safe_load(example)}
    )
    assert lint_suite(suite, load_atlas()) == ()
