"""What a node of a Ray cluster does for a run: it plays one shard, as `arena eval` does there."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from arena_core.errors import ArenaError, ImageError, NodeDiffersError, PrerequisiteError
from arena_core.extras import extra
from arena_core.plugins import ARENA
from orchestrator.runs.lock_writer import goldens_of, images_used
from orchestrator.runs.packed import pack
from orchestrator.runs.request import tasks_of
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.engine.containers import ImageInfo
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import load_registry
from tasks.loader import Selection, load_source, select_tasks

# Where a node is lost, Ray kills its own process and that one's children, this shell among them.
# The kernel then ends the player below it, with TERM: so it takes its containers down.
_BETWEEN: Final = ("sh", "-c", 'trap : TERM; "$@"; exit $?', "player")
# Other users of the node see what stands in a command line, and in no process's environment.
_WORDS: Final = "ARENA_PLAYER_WORDS"
_PLAYER: Final = (
    "import ctypes, json, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGTERM);"
    f" sys.argv[0] = 'arena'; sys.argv += json.loads(os.environ.pop('{_WORDS}'));"
    " from orchestrator.cli.entry import main; main()"
)
_ENDS_WITHIN_S: Final = 60
_TAIL: Final = 64_000
_SAID: Final = "arena: "
_HINT: Final = "  → "


Order = Mapping[str, Any]  # plain values: an Arena of another version reads them too


def node_order(
    spec: Order,
    environment: Mapping[str, str],
    folder: str | None,
    images: Mapping[str, str] | None,
    goldens: Mapping[str, str],
) -> dict[str, Any]:
    """Return what a node is asked for.

    Args:
        spec: of the run, as JSON has it.
        environment: variables that are set for the player alone, keys of models among them.
        folder: the driver's working folder, which is entered where the node has it too.
        images: by tag, the ids that the node's own must have; None where they may differ.
        goldens: by tag, the digests of the states that its own must be sealed with.
    """
    asked = {"spec": spec, "environment": environment, "folder": folder, "images": images}
    return {"arena": version(ARENA), **asked, "goldens": goldens}


def play_shard(order: Order) -> dict[str, Any]:
    """Play a shard and return its folder as bytes, or why it was not played to its end.

    Returns:
        `node`, `seconds` and `packed`; or `node`, `code`, `message` and `hint` of an error.
    """

    def play() -> dict[str, Any]:
        if order["images"] is not None or order["goldens"]:
            require_images(order, asyncio.run(_images(order["spec"])))
        return played_in(_played, order)

    return answered(order, play)


def node_images(order: Order) -> dict[str, Any]:
    """Return the images that a run needs, as this node has them: their ids and golden states."""
    return answered(order, lambda: in_words(asyncio.run(_images(order["spec"]))))


def answered(order: Order, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do something in the driver's folder; return that, or an error in words, and this node."""
    node = _node()
    try:
        _enter(order)
        return {"node": node, **do()}
    except ArenaError as error:
        return {"node": node} | _said_by(error)


def played_in(play: Callable[[Order, Path], dict[str, Any]], order: Order) -> dict[str, Any]:
    """Play in a folder that is removed then, and say how long it took."""
    with tempfile.TemporaryDirectory(prefix="arena-shard-") as folder:
        began = time.monotonic()
        played = play(order, Path(folder))
        return {"seconds": time.monotonic() - began, **played}


def in_words(images: Mapping[str, ImageInfo]) -> dict[str, Any]:
    """Return what other nodes are held to, as an answer says it."""
    ids = {tag: image.id for tag, image in images.items()}
    return {"images": ids, "goldens": goldens_of(images)}


def refuse_failed(answer: Mapping[str, Any], what: str) -> None:
    """Raise the error that a node answered with, naming the node."""
    if "code" in answer:
        kind = _by_code(ArenaError, answer["code"]) or ArenaError
        raise kind(f"{what} on node {answer['node']}: {answer['message']}", hint=answer["hint"])


def _by_code(kind: type[ArenaError], code: int) -> type[ArenaError] | None:
    if kind.exit_code == code:
        return kind
    return next((it for one in kind.__subclasses__() if (it := _by_code(one, code))), None)


def _said_by(error: ArenaError) -> dict[str, Any]:
    return {"code": error.exit_code, "message": error.message, "hint": error.hint}


def _node() -> str:
    context = extra("ray", "ray", needed_by="--ray").get_runtime_context()
    return f"{platform.node()} ({context.get_node_id()[:8]})"


def _enter(order: Order) -> None:
    """Enter the driver's folder, where relative paths of the run lead on."""
    here = version(ARENA)
    if order["arena"] != here:
        message = f"it has Arena {here}, the driver {order['arena']}"
        raise PrerequisiteError(message, hint="install the same one on all nodes")
    if order["folder"] is not None and Path(order["folder"]).is_dir():
        os.chdir(order["folder"])


def require_images(order: Order, own: Mapping[str, ImageInfo]) -> None:
    """Refuse this node where its images are not those that an order names."""
    goldens = goldens_of(own)
    for tag, wanted in order["goldens"].items():
        if goldens.get(tag) != wanted:
            found = goldens.get(tag, "not known")
            message = f"its golden state of {tag} is {found}, elsewhere in the cluster {wanted}"
            raise NodeDiffersError(message, hint="send the image: arena images save FILE there")
    for tag, wanted in (order["images"] or {}).items():
        found = own[tag].id if tag in own else "not here"
        if found != wanted:
            message = f"its image {tag} is {found}, elsewhere in the cluster {wanted}"
            hint = "build once and send it, or arena pull; --allow images plays all the same"
            raise ImageError(message, hint=hint)


async def _images(document: Order) -> dict[str, ImageInfo]:
    """Return the images of all sites that the chosen tasks visit."""
    spec, registry = RunSpec.of(**document), load_registry()
    chosen = select_tasks(load_source(spec.suite).suite, Selection(ids=spec.tasks))
    upstreams = [
        registry.upstreams(
            dict.fromkeys(site for task in chosen if world in task.worlds for site in task.sites),
            world,
            staged=spec.staged,
            taped=spec.tapes,
        )
        for world in spec.worlds
    ]
    async with await Engine.connect() as engine:
        return await images_used(upstreams, engine)


def _played(order: Order, folder: Path) -> dict[str, Any]:
    """Let a process of its own play the shard; what it finished counts, however it ended."""
    spec = dict(order["spec"])
    words = ["eval", "--yes", "--json", "--suite", spec.pop("suite", "demo")]
    for tape in spec.pop("tape", ()):
        words += ["--tape", tape]
    file, run, said = folder / "run.yaml", folder / "run", folder / "said"
    file.write_text(json.dumps(spec), encoding="utf-8")
    words += ["--config", str(file), "--out", str(run)]
    failed = run_arena(words, order["environment"], said)
    if run.is_dir() and _is_whole(RunFolder.open(run)):
        return {"packed": pack(run)}
    return failed


def run_arena(
    words: Sequence[str],
    environment: Mapping[str, str],
    said: Path,
    *,
    secret: Sequence[str] = (),
) -> dict[str, Any]:
    """Let a process of its own do one command; return its code, and the error that it ended in.

    Args:
        words: of the command.
        environment: variables that it gets.
        said: the file for what it says.
        secret: its last words, which nobody else sees.
    """
    with said.open("wb") as stderr:
        playing = subprocess.Popen(
            [*_BETWEEN, sys.executable, "-c", _PLAYER, *words],
            env={**os.environ, **environment, _WORDS: json.dumps(secret)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = playing.wait()
        finally:
            _end(playing)
    return {"code": code or 1, **_last_said(said.read_bytes()[-_TAIL:].decode(errors="replace"))}


def _end(playing: subprocess.Popen[bytes]) -> None:
    """End a player whose shard was cancelled, as TERM does: its containers go first."""
    if playing.poll() is not None:
        return
    os.killpg(playing.pid, signal.SIGTERM)
    try:
        playing.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        os.killpg(playing.pid, signal.SIGKILL)
        playing.wait()


def _is_whole(run: RunFolder) -> bool:
    """Whether every trial of a shard is finished."""
    lock = run.lock()
    if not run.is_begun:
        return False
    with run.reading() as ledger:
        done = {one.key for one in ledger.attempts() if one.state is AttemptState.FINISHED}
    return done >= set(lock.trials(tasks_of(lock, run.suite())))


def _last_said(stderr: str) -> dict[str, str]:
    """Return the error in which `arena` ended, and its hint."""
    lines = stderr.splitlines()
    begun = [n for n, line in enumerate(lines) if line.startswith(_SAID)]
    error = lines[begun[-1] :] if begun else lines[-1:]
    hints = [line.removeprefix(_HINT) for line in error if line.startswith(_HINT)]
    text = "\n".join(line for line in error if not line.startswith(_HINT))
    return {
        "message": text.removeprefix(_SAID) or "it ended without a word",
        "hint": hints[-1] if hints else "",
    }
