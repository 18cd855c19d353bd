"""Plays a study on the nodes of a Ray cluster: its shards, a task each, merged here."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from arena_core.errors import StoreError, UsageError
from arena_core.names import counted
from arena_core.regular_files import read_regular
from arena_core.worlds import World
from orchestrator.analysis.studies.merging import merge_study
from orchestrator.analysis.studies.new_study import (
    NewStudy,
    Options,
    registered_folder,
    study_path,
)
from orchestrator.analysis.studies.progress import StudyProgress, read_progress
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import STUDIES
from orchestrator.api.ray_driver import (
    PLAN,
    SHARDS_A_SLOT,
    RayTerms,
    connected,
    first_answer,
    left_of,
    on_nodes,
    shards_of,
)
from orchestrator.runs.lock_writer import images_used
from orchestrator.runs.packed import pack, unpack
from orchestrator.runs.ray_cluster import RayCluster
from orchestrator.runs.ray_node import (
    answered,
    in_words,
    played_in,
    refuse_failed,
    require_images,
    run_arena,
)
from orchestrator.runs.shard import MOST_SHARDS, Shard
from orchestrator.runs.spec import SpendingLimits
from orchestrator.sandbox.engine.containers import ImageInfo
from orchestrator.sandbox.engine.engine import Engine
from sites.fields import Strict
from sites.registry import load_registry

Order = Mapping[str, Any]


class StudyPlan(Strict):
    """How a study was cut, in the folder of its shards, for a driver that continues with it.

    Attributes:
        study: the digest of its file.
        images: those that all nodes have, by tag; None where they may differ.
        goldens: the states that all nodes begin on, by tag of the image.
    """

    study: str
    shards: int = Field(ge=1, le=MOST_SHARDS)
    images: dict[str, str] | None
    goldens: dict[str, str]


async def play_study_on_ray(
    opened: OpenArena,
    study: Path,
    terms: RayTerms,
    *,
    out: Path | None,
    shards: int | None,
    options: Options,
    pace: Mapping[str, object],
) -> StudyProgress:
    """Cut a study into shards, or continue with one that was cut, and merge what nodes played.

    Secret options go to the nodes, and stand in no file.
    """
    done = registered_folder(study, out, STUDIES)
    if done is not None:
        return read_progress(done.path)
    new = NewStudy.read(study, options)
    if new.file.budget != SpendingLimits():
        message = f"{study}: its budget would be each shard's, and all together could spend more"
        raise UsageError(message, hint="leave the budget out, or play its shards by --shard")
    if shards is not None and not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"{shards} shards: from 1 to {MOST_SHARDS:,} are played")
    path = study_path(new.file, out, STUDIES)
    named = {"study": str(study), "sha256": _digest(new.text), "pace": dict(pace)}
    named |= {"options": {label: dict(given) for label, given in options.items()}}
    async with connected(opened, terms) as cluster:
        slots = await cluster.slots()
        plan = _kept_plan(path, new, shards)
        if plan is None:
            episodes = sum(one.request.episodes for one in new.runs)
            most = shards or max(1, min(episodes, SHARDS_A_SLOT * slots))
            plan = await _new_plan(cluster, path, named, terms, most)
        is_live = World.ONLINE in new.file.worlds and not new.file.staged
        await _play(opened, cluster, _orders(path, named, terms, plan), path, twice=not is_live)
    parts = [shards_of(path) / str(one + 1) for one in range(plan.shards)]
    merged = merge_study(parts, path, terms.allow)
    shutil.rmtree(shards_of(path), ignore_errors=True)
    return read_progress(merged.path)


async def _new_plan(
    cluster: RayCluster, path: Path, named: Mapping[str, Any], terms: RayTerms, shards: int
) -> StudyPlan:
    asked = on_nodes(named, terms, None, {})
    first = await first_answer(cluster, study_images, asked, what="the study")
    plan = StudyPlan(
        study=named["sha256"],
        shards=shards,
        images=None if terms.any_images else first["images"],
        goldens=first["goldens"],
    )
    shards_of(path).mkdir(parents=True)
    (shards_of(path) / PLAN).write_text(plan.model_dump_json(indent=1), encoding="utf-8")
    return plan


def _orders(
    path: Path, named: Mapping[str, Any], terms: RayTerms, plan: StudyPlan
) -> dict[int, Order]:
    """Return what nodes are asked for: the shards that are not here yet, by number."""
    return {
        number: on_nodes(
            {**named, "shard": str(Shard(number, plan.shards))}, terms, plan.images, plan.goldens
        )
        for number in left_of(path, plan.shards)
    }


async def _play(
    opened: OpenArena, cluster: RayCluster, orders: Mapping[int, Order], path: Path, *, twice: bool
) -> None:
    left = len(orders)
    opened.note(f"study {path}: {counted(left, 'shard')} to play on the cluster")
    try:
        async for number, answer in cluster.answers(play_study_shard, orders, twice=twice):
            shard = orders[number]["spec"]["shard"]
            refuse_failed(answer, f"shard {shard} failed")
            unpack(answer["packed"], shards_of(path) / str(number))
            left -= 1
            opened.note(f"shard {shard} was played on {answer['node']}; {left} to go")
    except BaseException:
        opened.warn("what came is kept; the same command continues")
        raise


def _kept_plan(path: Path, new: NewStudy, shards: int | None) -> StudyPlan | None:
    """Return how a study was cut earlier; None where it was not.

    Raises:
        StoreError: it was another file then, or what lies there is no plan.
        UsageError: it was cut into another number of shards.
    """
    kept = shards_of(path) / PLAN
    if not shards_of(path).exists():
        return None
    try:
        plan = StudyPlan.model_validate_json(read_regular(kept))
    except (OSError, ValidationError) as cause:
        raise StoreError(f"{kept}: is no plan of a study on Ray") from cause
    if plan.study != _digest(new.text):
        message = f"{new.path}: was changed since its first shards were asked for"
        raise StoreError(message, hint=f"undo the change, or remove {shards_of(path)}")
    if shards not in {None, plan.shards}:
        raise UsageError(f"{path}: was cut into {plan.shards} shards, and stays so")
    return plan


def play_study_shard(order: Order) -> dict[str, Any]:
    """Play a shard on this node; its folder as bytes, or why it was not played to its end."""

    def play() -> dict[str, Any]:
        require_images(order, asyncio.run(_images(order["spec"])))
        return played_in(_played, order)

    return answered(order, play)


def study_images(order: Order) -> dict[str, Any]:
    """Return the images that a study needs, as this node has them: ids and golden states."""
    return answered(order, lambda: in_words(asyncio.run(_images(order["spec"]))))


async def _images(named: Mapping[str, Any]) -> dict[str, ImageInfo]:
    new, registry = NewStudy.read(Path(named["study"]), named["options"]), load_registry()
    if _digest(new.text) != named["sha256"]:
        message = f"{named['study']}: is another file here than where the command was given"
        raise StoreError(message, hint="copy the file, or let Ray send the folder: --ray-send")
    upstreams = [
        run.request.upstreams(registry, world) for run in new.runs for world in run.request.worlds
    ]
    async with await Engine.connect() as engine:
        return await images_used(upstreams, engine)


def _played(order: Order, folder: Path) -> dict[str, Any]:
    named, at = order["spec"], folder / "study"
    words = ["study", "run", named["study"], "--shard", named["shard"], "--out", str(at), "--json"]
    for name, value in named["pace"].items():
        words += [f"--{name}", str(value)]
    secret = [
        f"--agent-option={label}.{name}={value}"
        for label, given in named["options"].items()
        for name, value in given.items()
    ]
    failed = run_arena(words, order["environment"], folder / "said", secret=secret)
    if (at / "registration.json").is_file():
        progress = read_progress(at)
        if progress.done == progress.total:
            return {"packed": pack(at)}
    return failed


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
