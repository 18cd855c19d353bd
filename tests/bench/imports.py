"""How long it takes to import and to lint the 812 tasks of WebArena, made of the published half."""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most
from support.sites.stand_in_sites import WEBARENA_ROLES, write_sites
from support.tasks.reference_data import WEBARENA, find_half

from sites.registry import load_registry
from tasks.imports.suite_file import import_suite, suite_text, write_suite
from tasks.lint.linter import lint_suite
from tasks.loader import load_source

_ROUNDS: Final = 3
_IMPORT_GOAL_S: Final = 5
_LINT_GOAL_S: Final = 10


def import_figures() -> list[Figure]:
    """Import, write, read and lint 812 tasks; no figure where the published half is not here."""
    half = find_half(WEBARENA)
    if half is None:
        return []
    records = json.loads(half.read_text(encoding="utf-8"))
    doubled = records + [{**one, "task_id": one["task_id"] + 1} for one in records]
    imported_s, linted_s = [], []
    with TemporaryDirectory(prefix="arena-bench-") as made:
        published, suite = Path(made) / "test.raw.json", Path(made) / "webarena.yaml"
        published.write_text(json.dumps(doubled), encoding="utf-8")
        known = load_registry([])
        missing = {name: one for name, one in WEBARENA_ROLES.items() if name not in known.sites}
        registry = load_registry([write_sites(Path(made) / "sites", missing)]) if missing else known
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            found = import_suite("webarena", [published], name="webarena")
            write_suite(suite_text(found), suite)
            written = time.perf_counter()
            source = load_source(str(suite))
            lint_suite(source.suite, registry, source)
            imported_s.append(written - began)
            linted_s.append(time.perf_counter() - written)
    what = f"{len(doubled)} WebArena tasks"
    return [
        at_most(f"importing {what}, s (reference: goal)", Series(imported_s), _IMPORT_GOAL_S, "s"),
        at_most(f"reading and linting {what}, s", Series(linted_s), _LINT_GOAL_S, "s"),
    ]
