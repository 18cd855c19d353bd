"""What a program may rely on: the names of the package, and what they take."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import orchestrator
from orchestrator import Arena, OpenEpisode, SyncArena, SyncEpisode

NAMES = {
    "Agent",
    "AgentClass",
    "AgentFactory",
    "AgentMaker",
    "AgentSpec",
    "Agents",
    "Arena",
    "ArenaError",
    "ArenaEvent",
    "Assignment",
    "AttemptBroke",
    "Decision",
    "Evidence",
    "Exported",
    "LeftOut",
    "LintReport",
    "ProgressNote",
    "Observation",
    "Outcome",
    "OutcomeKind",
    "ResetOutcome",
    "RunBegan",
    "RunReading",
    "RunReport",
    "RunningSite",
    "Score",
    "ScoredTrial",
    "SiteReset",
    "SitesStarting",
    "SyncArena",
    "SyncEpisode",
    "StepResult",
    "StudyBegan",
    "OpenEpisode",
    "TrialEnded",
    "Verdict",
    "WarningNote",
    "World",
    "Written",
    "actions",
    "errors",
}

METHODS = {
    "report_study": "study",
    "add_to_study": "study, file, *, repeats, runs, max_usd, max_tokens, options",
    "plan_study": "study, pilots, *, difference",
    "verify_study": "study, published",
    "atlas": "",
    "browse": "*, slot, port",
    "build": "names, *, suite, force, staged",
    "check_site": "name, *, twice",
    "check_judge": "labelled, judge, second",
    "compare": "runs, *, margin, alpha, seed",
    "container": "site, *, slot",
    "diff": "site, *, slot, limit",
    "diff_as_check": "site, *, slot",
    "doctor": "",
    "down": "*, owner, slot",
    "episode": "task, *, world, staged, resolve, agent, observations, out, screenshots, headless,"
    " endpoint, seed, max_steps, max_seconds, viewport",
    "evaluate": "agent, patterns, *, suite, worlds, repeats, attempts, workers, spares, memory,"
    " strategy, staged, resolve, options, max_usd, max_tokens, out, screenshots,"
    " record_requests, trace, headless, stop",
    "export": "runs, form, out, *, options",
    "follow_logs": "site, *, slot, tail",
    "import_tasks": "format_name, files, *, out, site_map, new_sites",
    "judge": "run, judge, *, readings, anew",
    "lint": "suite, patterns, *, prove, workers",
    "load": "name, archive",
    "logs": "site, *, slot, tail",
    "new_site": "name, *, kind, title, folder",
    "plugins": "",
    "pull": "names, *, staged",
    "plan_sample": "patterns, *, suite, worlds, measured, bands, split",
    "published_sites": "which, *, folder",
    "query": "site, sql, *, slot, limit",
    "read_lock": "run",
    "read_run": "run",
    "reset": "names, *, slot, strategy, verify, check",
    "resume": "run, *, agent, options, workers, spares, memory, strategy,"
    " max_usd, max_tokens, screenshots, headless, stop",
    "sample": "agent, patterns, *, rollouts, suite, worlds, measured, bands, split, attempts,"
    " workers, memory, options, max_usd, max_tokens, out, screenshots, headless, stop",
    "run_study": "study, *, out, options, workers, spares, memory, strategy, headless,"
    " register_only, stop",
    "schema": "kind",
    "score": "run, suite, *, processes",
    "score_readings": "scored, readings",
    "sites": "names, *, suite",
    "status": "names",
    "study_status": "study",
    "suite": "name",
    "suites": "",
    "task": "name",
    "tasks": "suite, patterns",
    "up": "names, *, suite, slots, ports, memory",
    "url": "site, path, *, slot",
    "write_comparison": "found, folder",
    "write_figures": "analysis, folder",
    "write_report": "report, html, *, form",
}


def test_the_package_has_exactly_its_public_names() -> None:
    assert set(orchestrator.__all__) == NAMES
    assert all(getattr(orchestrator, name) is not None for name in NAMES)
    assert set(dir(orchestrator)) >= NAMES


def test_what_type_checkers_see_is_what_is_loaded() -> None:
    tree = ast.parse(Path(inspect.getfile(orchestrator)).read_text(encoding="utf-8"))
    checked, _ = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == NAMES
    assert {name: seen[name] for name in orchestrator._PUBLIC} == orchestrator._PUBLIC


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Arenas'"):
        _ = orchestrator.Arenas  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = (
        "import sys, orchestrator\n"
        "heavy = {'pydantic', 'playwright', 'openai', 'docker', 'yaml', 'asyncio', 'typer'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
        "from orchestrator import Arena, OpenEpisode, SyncArena, SyncEpisode\n"
        "print(sorted({'playwright', 'openai', 'docker', 'typer'} & sys.modules.keys()))\n"
        "import orchestrator.api.starting\n"
        "print(sorted({'evaluators.scores', 'evaluators.evidence'} & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == ["[]", "[]", "[]"]


def test_an_arena_has_exactly_these_methods_with_these_parameters() -> None:
    assert dict(signatures(Arena)) == METHODS


EPISODE = {
    "assignment": "",
    "close": "",
    "cdp_url": "",
    "end": "because, *, ended",
    "finish": "answer, *, status, because, data",
    "evaluate": "",
    "evidence": "",
    "idle_s": "",
    "is_over": "",
    "proxy_url": "",
    "reset": "",
    "spend": "usage",
    "step": "action, *, thought",
    "storage_state": "",
    "wait_until_over": "",
}


def test_an_episode_has_exactly_these_methods_in_both_faces() -> None:
    assert dict(signatures(OpenEpisode)) == EPISODE
    assert dict(signatures(SyncEpisode)) == {**EPISODE, "task": "", "world": ""}


def test_the_synchronous_face_has_the_same_and_open_and_close() -> None:
    assert dict(signatures(SyncArena)) == {**METHODS, "open": "", "close": ""}


@pytest.mark.parametrize("kind", [Arena, SyncArena, OpenEpisode, SyncEpisode])
def test_every_method_says_what_it_does_takes_and_raises(kind: type) -> None:
    for name, parameters in signatures(kind):
        said = inspect.getdoc(getattr(kind, name)) or ""
        assert said.partition("\n")[0].endswith((".", ":")), name
        is_pointer = "; see `Arena." in said or "; see `OpenEpisode." in said
        for parameter in [] if is_pointer else parameters.replace("*, ", "").split(", "):
            assert parameter in said, f"{name}: {parameter}"


def signatures(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of a class, and their parameters."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        if not inspect.isfunction(found):
            yield name, ""
            continue
        parameters = list(inspect.signature(found).parameters.values())[1:]
        words = [one.name for one in parameters]
        firsts = [at for at, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY]
        yield name, ", ".join([*words[: firsts[0]], "*", *words[firsts[0] :]] if firsts else words)
