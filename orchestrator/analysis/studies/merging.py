"""One study made of the shards of a study: each of its runs merged, and registered as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena_core.errors import StoreError, UsageError
from arena_core.names import listed
from orchestrator.analysis.studies.registration import (
    LOG,
    RegisteredRun,
    Registration,
    Study,
    StudyFolder,
)
from orchestrator.analysis.studies.seals import seal_study
from orchestrator.runs.shard import Shard, in_order
from orchestrator.runs.store.lock import lock_digest
from orchestrator.runs.store.merging import added_up, join_lines, merge


def merge_study(studies: Iterable[Path], into: Path, allow: Iterable[str] = ()) -> StudyFolder:
    """Make one study of all shards of a study; they stay as they are.

    What breaks this off leaves nothing at `into`.
    """
    allowed = tuple(allow)
    shards = _in_order(studies)
    played = [one.study() for one in shards]  # refuses a file that was changed since
    registered = [one.registration for one in played]
    _require_alike(registered)
    if into.is_symlink():
        raise StoreError(f"{into}: exists already", hint="name a folder that is not there yet")
    with StudyFolder.creating(into) as whole:
        runs = tuple(_merged(run, shards, whole, allowed) for run in registered[0].runs)
        join_lines(whole.log_path, [one.path / LOG for one in shards])
        whole.register(shards[0].study_bytes(), _whole(played, runs))
        seal_study(whole)
    return StudyFolder.open(into)


def _in_order(studies: Iterable[Path]) -> list[StudyFolder]:
    found: list[tuple[Shard, Path]] = []
    for path in studies:
        registration = StudyFolder.open(path).registration()
        if registration.shards:
            message = f"{path}: is merged already, and a merged study is not merged again"
            raise UsageError(message, hint="name the shards themselves, all at once")
        if registration.shard is None:
            raise UsageError(f"{path}: is no shard: its study was run without --shard")
        found.append((Shard.parse(registration.shard), path))
    if not found:
        raise UsageError("no study is named", hint="name the folders of all shards")
    return [StudyFolder(path) for path in in_order(found)]


def _require_alike(registered: Sequence[Registration]) -> None:
    """Refuse shards of which one was registered from another file, with other tasks or runs."""
    first = registered[0]
    for one in registered:
        said = f"shards {first.shard} and {one.shard} were not registered alike"
        if one.study_sha256 != first.study_sha256:
            digests = f"{first.study_sha256[:12]} and {one.study_sha256[:12]}"
            message = f"{said}: their study files have SHA-256 {digests}"
            raise StoreError(message, hint="play all shards from one file")
        differing = [
            name
            for name, is_same in (
                ("name", one.name == first.name),
                ("suites", one.suites == first.suites),
                ("runs", _named(one) == _named(first)),
            )
            if not is_same
        ]
        if differing:
            message = f"{said}: they differ in {listed(differing)}"
            raise StoreError(message, hint="play all shards with one Arena, on the same suites")


def _named(registration: Registration) -> list[tuple[object, ...]]:
    return [(run.folder, run.agent, run.suite, run.arm, run.tasks) for run in registration.runs]


def _merged(
    run: RegisteredRun, shards: Sequence[StudyFolder], whole: StudyFolder, allow: Iterable[str]
) -> RegisteredRun:
    folders = [shard.run_folder(run.folder) for shard in shards]
    for shard, folder in zip(shards, folders, strict=True):
        wanted = next(one for one in shard.registration().runs if one.folder == run.folder)
        lock = folder.lock()
        if (lock_digest(lock), lock.run) != (wanted.lock_sha256, wanted.run):
            message = f"{folder.path}: is not the run that the shard was registered with"
            raise StoreError(message, hint=f"arena study verify {shard.path}")
    lock = merge([one.path for one in folders], whole.runs_path / run.folder, allow).lock
    update = {"run": lock.run, "lock_sha256": lock_digest(lock), "own_episodes": None}
    return run.model_copy(update=update)


def _whole(played: Sequence[Study], runs: tuple[RegisteredRun, ...]) -> Registration:
    """Return the registration of the whole: as early as its first shard, with all their budgets."""
    registered = [one.registration for one in played]
    first = registered[0]
    digest = hashlib.sha256("\n".join(one.study for one in registered).encode()).hexdigest()
    return first.model_copy(
        update={
            "study": f"study-{first.name}-{digest[:8]}",
            "registered_at": min(one.registered_at for one in registered),
            "budget": added_up([one.limits for one in played]),
            "amendments": (),
            "runs": runs,
            "shard": None,
            "shards": tuple(registered),
        }
    )
