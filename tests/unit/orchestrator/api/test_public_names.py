"""What a program may rely on: the names of the package, what they take, and the types they name."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from quick_cases import SLOW

import orchestrator
from orchestrator import (
    Arena,
    Nodes,
    OpenEpisode,
    RayRuns,
    Runs,
    Sites,
    Studies,
    Suites,
    SyncArena,
    SyncEpisode,
    SyncNodes,
    SyncRayRuns,
    SyncRuns,
    SyncSites,
    SyncStudies,
    SyncSuites,
    SyncTapes,
    Tapes,
    plugins,
)
from orchestrator.api.doctor import extension_points

ARENA = {
    "canary": "suite, patterns, *, world, staged, resolve, workers, browser, history, stop",
    "canary_life": "suite, *, history",
    "check_model": "model, *, url, temperature, deadline_s, prices",
    "ci": "agent, patterns, *, bar, finished, summary, junit, out, yes, stop, asked",
    "doctor": "",
    "merge": "runs, into, *, allow",
    "episode": "task, *, world, staged, resolve, agent, observations, out,"
    " screenshots, headless, browser, endpoint, seed, max_steps, max_seconds, viewport, state,"
    " checkpoint",
    "plugins": "",
    "record": "start, out, *, folder, name, sites, roles, given, siblings, port, on_page, stop",
    "registry": "",
    "run": "agent, patterns, *, out, headless, yes, stop, asked",
    "schema": "kind",
}
SITES = {
    "browse": "*, slot, port",
    "build": "names, *, suite, force, staged",
    "check": "name, *, twice",
    "container": "site, *, slot",
    "diff": "site, *, slot, limit, from_golden",
    "diff_as_check": "site, *, slot",
    "down": "names, *, owner, slot",
    "follow_logs": "site, *, slot, tail",
    "list": "names, *, suite",
    "load": "name, archive",
    "load_images": "path, *, sha256",
    "logs": "site, *, slot, tail",
    "new": "name, *, kind, title, folder",
    "published": "which, *, folder",
    "save_images": "path, names, *, suite, staged",
    "facts": "path",
    "pull": "names, *, staged",
    "query": "site, sql, *, slot, limit",
    "reset": "names, *, slot, strategy, verify, check",
    "status": "names",
    "up": "names, *, suite, slots, ports, memory",
    "url": "site, path, *, slot",
}
SUITES = {
    "seal": "suite, out",
    "difficulty": "runs",
    "errata": "format_name",
    "import_tasks": "format_name, files, *, out, site_map, new_sites, errata",
    "export_harbor": "suite, out, patterns, *, world, image, arena_image",
    "instantiate": "suite, *, seed, out, workers",
    "lint": "suite, patterns, *, prove, workers, vary",
    "names": "",
    "new": "path",
    "read": "name",
    "repair": "suite, patterns, *, origins, accept, history",
    "task": "name",
    "tasks": "suite, patterns",
}
NODES = {
    "check": "names, *, suite, staged, like, write",
    "down": "",
    "prepare": "names, *, suite, staged, images, like",
}
RAY_RUNS = {
    "resume": "out, *, address, allow, environment, send, options, yes",
    "run": "spec, *, address, shards, allow, environment, send, out, yes",
    "sample": "agent, patterns, *, rollouts, measured, bands, split, address, shards, allow,"
    " environment, send, out, yes, asked",
    "study": "study, *, address, shards, allow, environment, send, out, options, pace",
}
RUNS = {
    "check_judge": "labelled, judge, second",
    "compare": "runs, *, margin, alpha, seed",
    "export": "runs, form, out, *, options",
    "judge": "run, judge, *, scorers, anew",
    "plan_sample": "patterns, *, suite, worlds, measured, bands, split",
    "read": "run",
    "read_lock": "run",
    "report": "report, html, *, form",
    "resume": "run, *, agent, options, headless, again, yes, stop, changes",
    "sample": "agent, patterns, *, rollouts, measured, bands, split, from_run, from_step, out,"
    " headless, yes, stop, asked",
    "score": "run, suite, *, processes",
    "score_with": "scored, scorers",
    "watch": "run, *, port",
    "steer": "run, order, *, episode, workers, max_usd, max_tokens",
    "write_comparison": "found, folder",
    "write_figures": "analysis, folder",
}
STUDIES = {
    "add": "study, file, *, repeats, runs, max_usd, max_tokens, options",
    "leaderboard": "studies, out",
    "merge": "studies, into, *, allow",
    "plan": "study, pilots, *, difference",
    "report": "study",
    "run": "study, *, out, options, headless, register_only, shard, stop, changes",
    "status": "study",
    "verify": "study, *, registered, head",
}
TAPES = {
    "import_archives": "archives, out",
    "record": "site, out, *, suite, patterns, agent, staged, resolve, ignore_robots, by_hand,"
    " headless, stop",
    "show": "tape",
    "verify": "site, tape, *, suite, patterns, stop",
}
EPISODE = {
    "assignment": "",
    "checkpoint": "name",
    "close": "",
    "cdp_url": "",
    "end": "because, *, ended",
    "finish": "answer, *, status, because, data, confidence",
    "evidence": "",
    "fork": "count, *, at",
    "idle_s": "",
    "is_over": "",
    "observation": "",
    "proxy_url": "",
    "reset": "",
    "restore": "mark",
    "score": "",
    "spend": "usage",
    "step": "action, *, thought",
    "storage_state": "",
    "wait_until_over": "",
}
FACES: list[tuple[type, type, Mapping[str, str]]] = [
    (Arena, SyncArena, ARENA),
    (Sites, SyncSites, SITES),
    (Suites, SyncSuites, SUITES),
    (Nodes, SyncNodes, NODES),
    (RayRuns, SyncRayRuns, RAY_RUNS),
    (Runs, SyncRuns, RUNS),
    (Studies, SyncStudies, STUDIES),
    (Tapes, SyncTapes, TAPES),
    (OpenEpisode, SyncEpisode, EPISODE),
]
KINDS = [kind for face in FACES for kind in face[:2]]
# What only the one face has: attributes of the one are properties of the other.
ONLY_SYNC = {
    SyncArena: {"open": "", "close": ""},
    SyncEpisode: {"task": "", "world": "", "endpoint": ""},
}
OURS = ("arena_core", "evaluators", "orchestrator", "sites", "tasks")
# Their parts are data of a report, which `document()`, a page or a table shows; a checkpoint is
# given back as it was taken.
SHOWN_WHOLE = {"Checkpoint", "Comparison", "StudyAnalysis"}


@pytest.mark.parametrize("package", [orchestrator, plugins], ids=lambda one: str(one.__name__))
def test_each_public_name_is_there(package: Any) -> None:
    assert package.__all__ == sorted(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(dir(package)) >= set(package.__all__)


@pytest.mark.parametrize("package", [orchestrator, plugins], ids=lambda one: str(one.__name__))
def test_what_type_checkers_see_is_what_is_loaded(package: Any) -> None:
    tree = ast.parse(Path(inspect.getfile(package)).read_text(encoding="utf-8"))
    checked, _ = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(package.__all__)
    places = package._NAMES.places
    assert {name: seen[name] for name in places} == places


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Arenas'"):
        _ = orchestrator.Arenas  # type: ignore[attr-defined]


@SLOW
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


@pytest.mark.parametrize(("face", "sync", "methods"), FACES)
def test_both_faces_have_exactly_these_methods_with_these_parameters(
    face: type, sync: type, methods: Mapping[str, str]
) -> None:
    assert dict(signatures(face)) == methods
    assert dict(signatures(sync)) == {**methods, **ONLY_SYNC.get(sync, {})}


def test_the_namespaces_are_attributes_of_both() -> None:
    for arena in (Arena(), SyncArena()):
        kinds: list[object] = [arena.sites, arena.suites, arena.runs, arena.studies, arena.tapes]
        kinds += [arena.ray, arena.nodes]
        prefix = "Sync" if isinstance(arena, SyncArena) else ""
        names = ["Sites", "Suites", "Runs", "Studies", "Tapes", "RayRuns", "Nodes"]
        assert [type(one).__name__ for one in kinds] == [f"{prefix}{name}" for name in names]


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_says_what_it_does_takes_and_raises(kind: type) -> None:
    for name, parameters in signatures(kind):
        said = inspect.getdoc(getattr(kind, name)) or ""
        assert said.partition("\n")[0].endswith((".", ":")), name
        for parameter in [] if "; see `" in said else parameters.replace("*, ", "").split(", "):
            assert parameter in said, f"{name}: {parameter}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_in_a_signature_is_public(kind: type) -> None:
    hidden = types_of_signatures(kind).keys() - set(orchestrator.__all__)
    assert not hidden


@SLOW
def test_every_type_of_a_results_attribute_is_public() -> None:
    """Of the data classes that signatures name; a model of a file has its schema."""
    hidden: dict[str, str] = {}
    for kind in KINDS:
        for name, found in types_of_signatures(kind).items():
            if name in SHOWN_WHOLE or not isinstance(found, type):
                continue
            if dataclasses.is_dataclass(found):
                for inner, of in types_of_attributes(found):
                    if inspect.isclass(of) and inner not in orchestrator.__all__:
                        hidden[inner] = name
    assert hidden == {}


def test_every_event_is_public() -> None:
    assert {one.__name__ for one in orchestrator.ArenaEvent.__args__} <= set(orchestrator.__all__)


def test_what_each_group_of_plug_ins_takes_stands_in_one_module() -> None:
    groups = {str(one.group) for one in extension_points()}
    said = (plugins.__doc__ or "").split("\n")
    rows = {line.split("`")[1]: line for line in said if line.startswith("| `arena.")}
    assert rows.keys() == groups
    for line in rows.values():
        named = {word for word in line.split("`")[3::2] if word.isidentifier()}
        assert named <= set(plugins.__all__), line


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


def types_of_signatures(kind: type) -> dict[str, Any]:
    """Return the types of Arena's that the methods and properties of a class name."""
    found: dict[str, Any] = {}
    made_by_callers = {"__init__"} if kind in {Arena, SyncArena} else set()
    for name in {one for one in dir(kind) if not one.startswith("_")} | made_by_callers:
        method = inspect.getattr_static(kind, name)
        method = method.fget if isinstance(method, property) else method
        if not inspect.isfunction(method):
            continue
        method = inspect.unwrap(method)
        found |= types_in(method.__annotations__, sys.modules[method.__module__])
    return found


def types_of_attributes(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the types of Arena's that the attributes of a class and its bases name."""
    for one in kind.__mro__:
        if one.__module__.split(".")[0] in OURS:
            named = {
                **inspect.get_annotations(one),
                **{
                    name: found.fget.__annotations__["return"]
                    for name, found in one.__dict__.items()
                    if isinstance(found, property) and found.fget is not None
                },
            }
            public = {name: at for name, at in named.items() if not name.startswith("_")}
            yield from types_in(public, sys.modules[one.__module__]).items()


def types_in(annotations: Mapping[str, str], module: ModuleType) -> dict[str, Any]:
    """Return the types of Arena's that annotations name, by their names."""
    places = names_of(module)
    found: dict[str, Any] = {}
    for text in annotations.values():
        for node in ast.walk(ast.parse(text, mode="eval")):
            place = places.get(node.id) if isinstance(node, ast.Name) else None
            if place is not None and place[0].split(".")[0] in OURS:
                found[place[1]] = getattr(import_module(place[0]), place[1])
    return found


@cache
def names_of(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Return where the names of a module come from, those for type checkers too."""
    tree = ast.parse(Path(inspect.getfile(module)).read_text(encoding="utf-8"))
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(place), names=names):
                found |= {one.asname or one.name: (place, one.name) for one in names}
            case ast.ClassDef(name=name):
                found.setdefault(name, (module.__name__, name))
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.setdefault(name, (module.__name__, name))
            case _:
                pass
    return found
