"""A suite as tasks of Harbor: one folder a task, played on a running `arena serve` or by itself.

A folder has no golds and no token of Arena's. The container `arena` beside the agent's holds the
one episode of its trial, and what it writes down there is all that the verifier reads.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from string import Template
from typing import Final

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import SeesByReference
from orchestrator.export.harbor_sites import SITES_FILE, unfit_with_sites, written_out
from sites.registry import SiteRegistry
from tasks.loader import suite_names
from tasks.schema import Suite, Task

IMAGE: Final = "python:3.12-slim-bookworm"
_TEMPLATES: Final = "harbor_task"
_RELAY: Final = "relay.py"  # a program: nothing is filled in
_IMAGE_NAME: Final = re.compile(r"[a-zA-Z0-9][\w./:@-]{0,254}")
_NOT_OF_NAMES: Final = re.compile(r"[^a-z0-9._-]+")
_STEP_S: Final = 60.0  # what an agent may take for an action, installed and thinking
_LEAST_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class Beside:
    """What a trial has in containers of its own, in place of a running `arena serve`.

    Attributes:
        arena: an image with Arena and a browser in it.
        registry: the sites, whose images are those of Arena's.
    """

    arena: str
    registry: SiteRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborFolders:
    """What was written.

    Attributes:
        folders: one a task.
        left_out: tasks that cannot be played so, by id, with the reason.
    """

    folders: tuple[Path, ...]
    left_out: tuple[tuple[str, str], ...]


def write_harbor(
    suite: Suite,
    source: str,
    tasks: Sequence[Task],
    out: Path,
    *,
    world: World,
    image: str,
    beside: Beside | None = None,
) -> HarborFolders:
    """Write tasks of a suite into a new folder, as Harbor reads them.

    Args:
        source: how `arena serve` finds it: a name, or a path.
        out: a folder that does not exist yet, or is empty.
        image: what all containers are built from: it has a shell and Python 3.8 or later.
        beside: each trial has sites and Arena of its own; None where `arena serve` runs.
    """
    if not _IMAGE_NAME.fullmatch(image):
        raise UsageError(f"--image {image!r}: that is no image's name", hint=f"such as {IMAGE}")
    if beside is not None:
        _require_playable(beside, source, world)
    reasons = {task.id: why for task in tasks if (why := _unfit(task, world, beside))}
    chosen = [task for task in tasks if task.id not in reasons]
    if not chosen:
        raise UsageError(f"no task of '{source}' can be exported: {sorted(set(reasons.values()))}")
    if source not in suite_names() and Path(source).exists():
        source = str(Path(source).resolve())
    try:
        if out.exists() and any(out.iterdir()):
            raise UsageError(f"{out}: holds something already", hint="name a new folder")
        with as_file(files("orchestrator.export") / _TEMPLATES) as templates:
            for task in chosen:
                _write(templates, out / task.id, _filled_in(suite, source, task, world, image))
                if beside is not None:
                    _write_sites(out / task.id / "environment", task, beside)
                asked = {"task": f"{source}/{task.id}", "world": world.value, "goal": task.intent}
                episode = out / task.id / "environment" / "arena" / "episode.json"
                episode.write_text(
                    json.dumps(asked, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
                )
    except OSError as cause:
        message = f"{out}: cannot be written: {cause.strerror or cause}"
        raise UsageError(message, hint="name another folder") from cause
    return HarborFolders(
        folders=tuple(out / task.id for task in chosen), left_out=tuple(reasons.items())
    )


def _require_playable(beside: Beside, source: str, world: World) -> None:
    if not _IMAGE_NAME.fullmatch(beside.arena):
        raise UsageError(f"--arena {beside.arena!r}: that is no image's name")
    if world is not World.OFFLINE:
        message = "--arena: the sites of a trial are replicas, which are played offline"
        raise UsageError(message, hint="leave --arena out and start arena serve")
    if source not in suite_names():
        message = f"--arena: '{source}' is no suite of Arena's, so its image does not have it"
        raise UsageError(message, hint="leave --arena out and start arena serve")


def _unfit(task: Task, world: World, beside: Beside | None) -> str | None:
    if world not in task.worlds:
        return f"it is not played {world.value}"
    if task.files:
        return "it uploads files, and no tool does that"
    return None if beside is None else unfit_with_sites(task, beside.registry)


def _write_sites(environment: Path, task: Task, beside: Beside) -> None:
    compose, sites = written_out(task, beside.registry, beside.arena)
    (environment / "docker-compose.yaml").write_text(compose, encoding="utf-8")
    (environment / "arena" / SITES_FILE).write_text(sites, encoding="utf-8")


def _filled_in(suite: Suite, source: str, task: Task, world: World, image: str) -> dict[str, str]:
    """Return what stands for the names in the templates; texts are quoted for where they stand."""
    oracle = make_agent("oracle")
    observe = set(oracle.observations)
    if isinstance(oracle, SeesByReference):
        observe |= oracle.observations_of(task.reference_actions)
    short = _NOT_OF_NAMES.sub("-", f"{suite.suite}-{task.id}".lower()).strip("-._")
    return {
        "name": _quoted(f"arena/{short}"),
        "intent": _quoted(task.intent),
        "suite": _quoted(source),
        "version": _quoted(str(suite.version)),
        "task": _quoted(task.id),
        "revision": str(task.revision),
        "world": _quoted(world.value),
        "seconds": str(max(_LEAST_S, _STEP_S * task.limits.steps)),
        "steps": str(task.limits.steps),
        "observe": json.dumps(sorted(observe)),
        "image": image,
    }


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, which is JSON's but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(templates: Path, folder: Path, values: dict[str, str]) -> None:
    plain = {**values, "intent": json.loads(values["intent"])}
    for template in sorted(one for one in templates.rglob("*") if one.is_file()):
        if "__pycache__" in template.parts:
            continue
        path = folder / template.relative_to(templates)
        path.parent.mkdir(parents=True, exist_ok=True)
        if template.name == _RELAY:
            shutil.copyfile(template, path)
            continue
        fill = values if template.suffix == ".toml" else plain
        text = Template(template.read_text(encoding="utf-8")).substitute(fill)
        path.write_text(text, encoding="utf-8")
        if template.suffix == ".sh":
            path.chmod(0o755)
