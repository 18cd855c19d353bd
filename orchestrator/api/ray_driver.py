"""Plays a run on the nodes of a Ray cluster: more shards than slots, a task each, merged here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import Field, ValidationError

from arena_core.errors import StoreError, UsageError
from arena_core.logs import REDACTED as HIDDEN
from arena_core.names import counted, listed
from arena_core.regular_files import read_regular
from arena_core.worlds import World
from orchestrator.agents.model.options import KEY_VARIABLE, URL_VARIABLE
from orchestrator.agents.options import REDACTED
from orchestrator.analysis.run_report.html import write_html
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import RUNS
from orchestrator.export.training.bands import BANDS_FILE
from orchestrator.runs.new_run import prepare
from orchestrator.runs.packed import unpack
from orchestrator.runs.ray_cluster import Ask, RayCluster
from orchestrator.runs.ray_node import node_images, node_order, play_shard, refuse_failed
from orchestrator.runs.request import RunRequest
from orchestrator.runs.shard import MOST_SHARDS, Shard
from orchestrator.runs.spec import RunSpec, SpendingLimits
from orchestrator.runs.store.merging import Allowed, merge
from orchestrator.runs.store.run_folder import RunFolder
from sites.fields import Strict

SHARDS_A_SLOT: Final = 4
_SHARDS: Final = ".shards"
PLAN: Final = "plan.json"
_OF_MODELS: Final = (KEY_VARIABLE, URL_VARIABLE)


class RayPlan(Strict):
    """How a run was cut, in the folder of its shards, for a driver that goes on with it.

    Attributes:
        spec: what was asked for, without secrets.
        hidden: the agent's options whose values are none of the plan's.
        images: those that all nodes have, by tag; None where they may differ.
        goldens: the states that all nodes begin on, by tag of the image.
    """

    shards: int = Field(ge=1, le=MOST_SHARDS)
    spec: dict[str, Any]
    hidden: tuple[str, ...] = ()
    images: dict[str, str] | None = None
    goldens: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RayTerms:
    """How a run is played on a cluster; see the arguments of `RayRuns.run`."""

    address: str
    allow: tuple[str, ...]
    environment: tuple[str, ...]
    send: bool
    yes: bool

    @property
    def any_images(self) -> bool:
        """Whether nodes may have other images than each other."""
        return Allowed.IMAGES in self.allow


async def begin_on_ray(
    opened: OpenArena,
    spec: RunSpec,
    terms: RayTerms,
    *,
    out: Path | None,
    shards: int | None,
    on_cut: Callable[[Path], object] = str,
) -> RunReport:
    """Cut a new run into shards, and play it; `on_cut` is called with the folder of its shards."""
    request = _prepared(spec, terms)
    if shards is not None and not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"{shards} shards: from 1 to {MOST_SHARDS:,} are played")
    now = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    run = out or RUNS / f"{now}-{request.suite.suite}-ray"
    for path in (run, shards_of(run)):
        if path.exists() or path.is_symlink():
            raise StoreError(f"{path}: exists already", hint=_going_on(run))
    async with connected(opened, terms) as cluster:
        most = max(1, min(request.episodes, SHARDS_A_SLOT * await cluster.slots()))
        asked = on_nodes(_document(spec), terms, None, {})
        first = await first_answer(cluster, node_images, asked)
        plan = RayPlan(
            shards=shards or most,
            spec=_without_secrets(spec, request),
            hidden=_hidden(request),
            images=None if terms.any_images else first["images"],
            goldens=first["goldens"],
        )
        _say_shares(opened, spec.budget, plan.shards)
        shards_of(run).mkdir(parents=True)
        (shards_of(run) / PLAN).write_text(plan.model_dump_json(indent=1), encoding="utf-8")
        on_cut(shards_of(run))
        await _play(opened, cluster, _orders(run, plan, spec, terms), run)
    return _merged(run, plan.shards, terms)


async def resume_on_ray(
    opened: OpenArena, run: Path, terms: RayTerms, options: Mapping[str, object]
) -> RunReport:
    """Play the shards that are not here yet of a run that was begun, and merge all."""
    plan = _read_plan(run)
    if set(options) != set(plan.hidden):
        needed = listed(plan.hidden, none="no option of its agent")
        raise UsageError(f"{run}: goes on as it began, and is given {needed} again")
    given = {**plan.spec.get("options", {}), **options}
    spec = RunSpec.of(**plan.spec | ({"options": given} if given else {}))
    if left_of(run, plan.shards):
        _prepared(spec, terms)
        async with connected(opened, terms) as cluster:
            await cluster.slots()
            await _play(opened, cluster, _orders(run, plan, spec, terms), run)
    return _merged(run, plan.shards, terms)


def connected(opened: OpenArena, terms: RayTerms) -> RayCluster:
    """Return the cluster; what it does a second time, or drops, is said."""
    return RayCluster(terms.address, send=terms.send, on_note=opened.note)


def _may_twice(spec: Mapping[str, Any]) -> bool:
    """Whether a slow shard may be played again: both spend, and real sites would see both."""
    asked = RunSpec.of(**spec)
    is_live = World.ONLINE in asked.worlds and not asked.staged
    return asked.budget == SpendingLimits() and not is_live


async def _play(
    opened: OpenArena, cluster: RayCluster, orders: Mapping[int, Mapping[str, Any]], run: Path
) -> None:
    """Have shards played, and write each down as it comes."""
    left = len(orders)
    opened.note(f"run {run}: {counted(left, 'shard')} to play on the cluster")
    try:
        twice = any(_may_twice(order["spec"]) for order in [*orders.values()][:1])
        async for number, answer in cluster.answers(play_shard, orders, twice=twice):
            shard = orders[number]["spec"]["shard"]
            refuse_failed(answer, f"shard {shard} failed")
            unpack(answer["packed"], shards_of(run) / str(number))
            left -= 1
            opened.note(f"shard {shard} was played on {answer['node']}; {left} to go")
    except BaseException:
        opened.warn(f"what came is kept; {_going_on(run)}")
        raise


def _orders(
    run: Path, plan: RayPlan, spec: RunSpec, terms: RayTerms
) -> dict[int, Mapping[str, Any]]:
    """Return what nodes are asked for: the shards that are not here yet, by number."""
    each = shares(spec.budget, plan.shards).model_dump(exclude_none=True)
    images = None if terms.any_images else plan.images
    asked = _document(spec) | {"budget": each}
    return {
        number: on_nodes(
            asked | {"shard": str(Shard(number, plan.shards))}, terms, images, plan.goldens
        )
        for number in left_of(run, plan.shards)
    }


def shares(budget: SpendingLimits, count: int) -> SpendingLimits:
    """Return what each of so many shards may spend, so that all together keep to a budget.

    Raises:
        UsageError: there are fewer tokens than shards.
    """
    usd, tokens = budget.max_usd, budget.max_tokens
    if tokens is not None and tokens < count:
        raise UsageError(f"--max-tokens {tokens} leaves none for some of {count} shards")
    return SpendingLimits(
        max_usd=None if usd is None else usd / count,
        max_tokens=None if tokens is None else tokens // count,
    )


def _prepared(spec: RunSpec, terms: RayTerms) -> RunRequest:
    """Refuse here what no node could play, or what must not leave this machine's environment."""
    if spec.shard is not None:
        raise UsageError("--ray cuts the run itself: --shard beside it has no effect")
    unset = [name for name in terms.environment if name not in os.environ]
    if unset:
        raise UsageError(f"--ray-env {unset[0]}: the environment has no such variable")
    request, _ = prepare(spec, None, headless=True, is_meant=terms.yes)
    entry = spec.browser
    is_secret = entry is not None and entry.use != entry.shown and "${" not in entry.use
    if is_secret or HIDDEN in str(request.agent_lock.options.get("command")):
        message = "a secret stands in --browser or --agent-cmd, and would be written down"
        raise UsageError(message, hint="let it be a variable of the environment: --ray-env NAME")
    return request


def _hidden(request: RunRequest) -> tuple[str, ...]:
    kept = request.agent_lock.options
    return tuple(name for name in request.agent_lock.given if kept.get(name) == REDACTED)


def _without_secrets(spec: RunSpec, request: RunRequest) -> dict[str, Any]:
    kept = _document(spec)
    hidden = _hidden(request)
    options = {name: it for name, it in kept.pop("options", {}).items() if name not in hidden}
    return kept | ({"options": options} if options else {})


def _document(spec: RunSpec) -> dict[str, Any]:
    return spec.model_dump(mode="json", exclude_unset=True)


def on_nodes(
    spec: Mapping[str, Any],
    terms: RayTerms,
    images: Mapping[str, str] | None,
    goldens: Mapping[str, str],
) -> dict[str, Any]:
    """Return what nodes are asked for, with the variables of the environment that they get."""
    names = {*terms.environment, *(name for name in _OF_MODELS if name in os.environ)}
    folder = None if terms.send else str(Path.cwd())
    environment = {name: os.environ[name] for name in names}
    return node_order(spec, environment, folder, images, goldens)


async def first_answer(
    cluster: RayCluster, ask: Ask, order: Mapping[str, Any], *, what: str = "the run"
) -> Mapping[str, dict[str, str]]:
    """Return what the node that answers first has of images: all others are held to it."""
    found: Mapping[str, dict[str, str]] = {}
    async for _, answer in cluster.answers(ask, {1: order}):
        refuse_failed(answer, f"{what} cannot be played")
        found = answer
    return found


def _merged(run: Path, count: int, terms: RayTerms) -> RunReport:
    """Make one run of all shards, and remove them."""
    merge([shards_of(run) / str(one + 1) for one in range(count)], run, terms.allow)
    bands = shards_of(run) / BANDS_FILE
    if bands.is_file():
        shutil.copyfile(bands, run / BANDS_FILE)
    shutil.rmtree(shards_of(run), ignore_errors=True)
    report = read_run(RunFolder.open(run))
    write_html(report, report.folder.report_path)
    return report


def shards_of(run: Path) -> Path:
    """Return where the shards of a run or study are kept until all have come."""
    return run.with_name(run.name + _SHARDS)


def left_of(run: Path, count: int) -> list[int]:
    """Return the numbers of the shards that are not here yet."""
    return [one + 1 for one in range(count) if not (shards_of(run) / str(one + 1)).exists()]


def _going_on(run: Path) -> str:
    return f"arena eval --resume {run} --ray ADDRESS goes on"


def _read_plan(run: Path) -> RayPlan:
    path = shards_of(run) / PLAN
    try:
        return RayPlan.model_validate_json(read_regular(path))
    except (OSError, ValidationError) as cause:
        message = f"{path}: is no plan of a run on Ray"
        raise StoreError(message, hint="--resume RUN --ray names what --ray began") from cause


def _say_shares(opened: OpenArena, budget: SpendingLimits, count: int) -> None:
    each = shares(budget, count)
    said: Iterable[str] = [
        *([] if each.max_usd is None else [f"{each.max_usd:.4g} USD"]),
        *([] if each.max_tokens is None else [f"{each.max_tokens:,} tokens"]),
    ]
    if said:
        opened.note(f"the budget is shared out: {' and '.join(said)} to each of {count} shards")
