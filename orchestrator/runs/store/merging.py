"""One run made of the shards of a run: every trial once, its evidence as it was saved."""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError, UsageError
from arena_core.names import counted, listed, offered
from arena_core.regular_files import MEGABYTE, open_regular, read_regular
from orchestrator.runs.shard import Shard, in_order
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.digests import digest_of_paths
from orchestrator.runs.store.evidence_files import JUDGEMENTS_FILE, read_judgements
from orchestrator.runs.store.ledger import Attempt, AttemptState, EpisodeKey, Ledger
from orchestrator.runs.store.lock import (
    AllowedDifference,
    Merged,
    MergedShard,
    RunLock,
    lock_digest,
)
from orchestrator.runs.store.run_folder import RunFolder, require_once
from tasks.schema import Suite

_NAMED: Final = 5
_LARGEST: Final = 8192 * MEGABYTE
_PER_SHARD: Final = frozenset(
    # who and when; how fast; and what is added up
    {"run", "created_at", "shard", "changed_limits", "steered"}
    | {"workers", "workers_used", "spares", "memory", "strategy", "clock"}
    | {"goldens"}  # never other ones, whatever is allowed
)
# What lies in a run's folder beside lock, suite, ledger and evidence, and is a line each.
_LINES: Final = ("looks.jsonl", "arena.log")
_ONCE: Final = "bands.json"


class Allowed(StrEnum):
    """In what shards may differ, where `--allow` says so."""

    HARDWARE = "hardware"
    BROWSER = "browser"
    IMAGES = "images"
    PACKAGES = "packages"
    JUDGEMENTS = "judgements"


_FIELDS: Final[Mapping[str, Allowed]] = {
    "host": Allowed.HARDWARE,
    "engine": Allowed.HARDWARE,
    "browser": Allowed.BROWSER,
    "browser_used": Allowed.BROWSER,
    "images": Allowed.IMAGES,
    "packages": Allowed.PACKAGES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """A run that was made of shards.

    Attributes:
        path: its folder.
        trials: how many of them it holds, each once.
        attempts: at these, those that broke off included.
    """

    path: Path
    lock: RunLock
    trials: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A shard that is whole, as it was read.

    Attributes:
        digests: by the folder of an attempt, what its files had when they were saved.
        head: of the journal at that time.
    """

    folder: RunFolder
    lock: RunLock
    shard: Shard
    attempts: tuple[Attempt, ...]
    digests: Mapping[str, str]
    head: str

    @property
    def name(self) -> str:
        return f"shard {self.shard} ({self.folder.path})"


def merge(runs: Iterable[Path], into: Path, allow: Iterable[str] = ()) -> MergedRun:
    """Make one run of all shards of a run; they stay as they are.

    The evidence is linked where the disk can do that, else copied, and proven to be what the
    shards saved. What breaks this off leaves nothing at `into`.

    Raises:
        UsageError: they are not all the shards of one run, each once, or there is no such thing to
            allow.
        StoreError: something in them is not finished, was changed, or differs and is not allowed;
            `into` exists, or cannot be written.
    """
    allowed = _read_allowed(allow)
    if into.exists() or into.is_symlink():
        raise StoreError(f"{into}: exists already", hint="name a folder that is not there yet")
    folders = _in_order([RunFolder.open(run) for run in runs])
    locks = [folder.lock() for folder in folders]
    differing = _differences(locks)
    _refuse_other_goldens(locks)
    _refuse_unallowed(locks, differing, allowed)
    suite = folders[0].suite()
    parts = _whole_parts(folders, suite)
    differing += _judged_differently(parts, allowed)
    lock = _merged_lock(parts, differing)
    _write(into, lock, suite, parts)
    attempts = sum(len(part.attempts) for part in parts)
    trials = sum(one.state is AttemptState.FINISHED for part in parts for one in part.attempts)
    return MergedRun(path=into, lock=lock, trials=trials, attempts=attempts)


def _read_allowed(names: Iterable[str]) -> frozenset[Allowed]:
    found: set[Allowed] = set()
    for name in names:
        if name not in set(Allowed):
            message = f"shards cannot be allowed to differ in '{name}'"
            raise UsageError(message, hint=offered(name, list(Allowed)))
        found.add(Allowed(name))
    return frozenset(found)


def _in_order(folders: Sequence[RunFolder]) -> list[RunFolder]:
    """Return all shards of a run by their number; refuse what is none, missing or there twice."""
    if not folders:
        raise UsageError("no run is named", hint="name the folders of all shards")
    require_once(folders)
    found: list[tuple[Shard, Path]] = []
    for folder in folders:
        lock = folder.lock()
        if lock.merged is not None:
            message = f"{folder.path}: is merged already, and a merged run is not merged again"
            raise UsageError(message, hint="name the shards themselves, all at once")
        if lock.shard is None:
            message = f"{folder.path}: is no shard: it was played without --shard"
            raise UsageError(message, hint="arena compare puts whole runs side by side")
        found.append((Shard.parse(lock.shard), folder.path))
    by_path = {folder.path: folder for folder in folders}
    return [by_path[path] for path in in_order(found)]


def _differences(locks: Sequence[RunLock]) -> list[AllowedDifference]:
    """Return where the locks differ, by the path of a field."""
    flat = [dict(_flat("", lock.model_dump(mode="json", by_alias=False))) for lock in locks]
    names = sorted({name for one in flat for name in one})
    return [
        AllowedDifference(
            what=name,
            values={str(lock.shard): one.get(name) for lock, one in zip(locks, flat, strict=True)},
        )
        for name in names
        if name.partition(".")[0] not in _PER_SHARD and len({one.get(name) for one in flat}) > 1
    ]


def _flat(at: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(f"{at}.{name}" if at else name, inner)
    elif value is not None:
        yield at, value if isinstance(value, str) else repr(value)


def _refuse_unallowed(
    locks: Sequence[RunLock],
    differing: Sequence[AllowedDifference],
    allowed: Collection[Allowed],
) -> None:
    kinds = {one.what: _FIELDS.get(one.what.partition(".")[0]) for one in differing}
    for one in differing:
        if kinds[one.what] is None:
            message = f"the shards were not asked for the same: {_said(one)}"
            raise StoreError(message, hint="name the shards of one command, played with one Arena")
    if len({lock.live_pool for lock in locks}) > 1:
        pools = listed(sorted({str(lock.live_pool) for lock in locks}))
        message = f"the shards visited live sites in {pools}"
        raise StoreError(message, hint="live scores of two browsers are never put together")
    refused = [one for one in differing if kinds[one.what] not in allowed]
    if refused:
        more = f"; and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        message = f"the shards differ: {'; '.join(map(_said, refused[:_NAMED]))}{more}"
        names = ",".join(sorted({str(kinds[one.what]) for one in differing}))
        hint = f"--allow {names} merges them all the same, and the lock says so"
        raise StoreError(message, hint=hint)


def _refuse_other_goldens(locks: Sequence[RunLock]) -> None:
    """Refuse shards whose episodes began on other states: their trials are other trials."""
    for tag in sorted({tag for lock in locks for tag in lock.goldens}):
        found = {str(one.shard): one.goldens[tag] for one in locks if tag in one.goldens}
        if len(set(found.values())) > 1:
            one = AllowedDifference(what=f"the golden state of {tag}", values={**found})
            hint = "build its image once, and send it to all nodes; nothing allows this"
            raise StoreError(f"the shards began on other states: {_said(one)}", hint=hint)


def _said(one: AllowedDifference) -> str:
    """Say a difference: its first value, and the first other one."""
    (first, value), *others = one.values.items()
    other, found = next((shard, it) for shard, it in others if it != value)
    return f"{one.what} is {_short(value)} in {first}, {_short(found)} in {other}"


def _short(value: str | None) -> str:
    return "not there" if value is None else ascii(value[:120])


def _whole_parts(folders: Sequence[RunFolder], suite: Suite) -> list[_Part]:
    """Read all shards, and refuse them where one is not finished or not what was written down."""
    parts: list[_Part] = []
    unfinished: list[str] = []
    todo: list[str] = []
    for folder in folders:
        lock = folder.lock()
        chosen = [task for task in suite.tasks if task.id in set(lock.tasks)]
        share = frozenset(lock.trials(chosen))
        found = _part(folder, lock, share) if folder.is_begun else _left(folder, lock, share)
        if isinstance(found, _Part):
            parts.append(found)
        else:
            unfinished.append(found)
            todo.append(_to_go_on(folder.path))
    if unfinished:
        named = list(dict.fromkeys(todo))[:_NAMED]
        raise StoreError("; ".join(unfinished[:_NAMED]), hint="; ".join(named))
    return parts


def _to_go_on(run: Path) -> str:
    """Return the command that goes on with a shard: of a study all its runs together."""
    study = run.parent.parent
    if (study / "registration.json").is_file():
        return f"arena study run {shlex.quote(str(study))}"
    return f"arena eval --resume {shlex.quote(str(run))}"


def _part(folder: RunFolder, lock: RunLock, share: Collection[EpisodeKey]) -> _Part | str:
    """Return a shard as it was read; what is not finished, in words, where it is not whole."""
    with folder.reading() as ledger:
        attempts = ledger.attempts()
        part = _Part(
            folder=folder,
            lock=lock,
            shard=Shard.parse(str(lock.shard)),
            attempts=attempts,
            digests=ledger.evidence_digests(),
            head=ledger.head().sha256,
        )
        for one in attempts:
            if one.key not in share:
                message = f"{part.name}: {one.key.name!a} is no trial of its share"
                hint = "was its ledger written by hand? play the shard again"
                raise StoreError(message, hint=hint)
        ended = {one.key for one in attempts if one.state is AttemptState.FINISHED}
        left = {key for key in share if key not in ended}
        left |= {one.key for one in attempts if one.state is AttemptState.STARTED}
        if left or ledger.recovered:
            return _left(folder, lock, left)
        _refuse_changed(part, ledger)
    return part


def _left(folder: RunFolder, lock: RunLock, left: Collection[EpisodeKey]) -> str:
    where = f"shard {lock.shard} ({folder.path})"
    if not left:
        return f"{where}: is not begun, or its ledger knows less than the evidence beside it"
    named = ", ".join(ascii(key.name)[1:-1] for key in sorted(left)[:_NAMED])
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"{where}: {counted(len(left), 'trial is', 'trials are')} not finished: {named}{more}"


def _refuse_changed(part: _Part, ledger: Ledger) -> None:
    """Refuse a ledger that its own journal does not bear out."""
    journal = ledger.read_journal()
    why = ""
    if journal is None or (journal.run, journal.lock) != (part.lock.run, lock_digest(part.lock)):
        why = "its journal belongs to another run or lock"
    elif journal.broken is not None:
        why = f"entry {journal.broken} of its journal does not match what came before it"
    elif {key: entries[-1] for key, entries in journal.rows.items()} != ledger.rows():
        why = "its ledger and its journal do not say the same of an attempt"
    if why:
        raise StoreError(f"{part.name}: {why}", hint="it was changed: play the shard again")


def _judged_differently(
    parts: Sequence[_Part], allowed: Collection[Allowed]
) -> list[AllowedDifference]:
    """Return the questions that judges of two shards answered differently."""
    replies: dict[str, dict[str, str | None]] = {}
    for part in parts:
        for one in read_judgements(part.folder.path):
            said = f"{one.model}: {' | '.join(one.replies)}"
            replies.setdefault(one.key, {})[str(part.shard)] = said
    found = [
        AllowedDifference(what=f"judgements.{key}", values=said)
        for key, said in sorted(replies.items())
        if len(set(said.values())) > 1
    ]
    if found and Allowed.JUDGEMENTS not in allowed:
        message = f"judges answered {counted(len(found), 'question')} differently in two shards"
        hint = "--allow judgements lets the first shard's replies count; then arena judge run"
        raise StoreError(f"{message}: {_said(found[0])}", hint=f"{hint} writes outcomes anew")
    return found


def _merged_lock(parts: Sequence[_Part], differing: Sequence[AllowedDifference]) -> RunLock:
    """Return the lock of the whole; its id is the same in whatever order shards are named."""
    first, locks = parts[0].lock, [part.lock for part in parts]
    digest = hashlib.sha256("\n".join(lock.run for lock in locks).encode()).hexdigest()
    shards = tuple(
        MergedShard(
            run=part.lock.run,
            shard=str(part.shard),
            created_at=part.lock.created_at,
            lock=lock_digest(part.lock),
            journal=part.head,
            host=part.lock.host,
            clock=part.lock.clock,
        )
        for part in parts
    )
    return first.model_copy(
        update={
            "run": f"{first.run.rpartition('-')[0] or first.run}-{digest[:8]}",
            "created_at": min(lock.created_at for lock in locks),
            "shard": None,
            "budget": added_up([lock.current_limits for lock in locks]),
            "changed_limits": (),
            "steered": tuple(one for lock in locks for one in lock.steered),
            "merged": Merged(shards=shards, allowed=tuple(differing)),
        }
    )


def added_up(limits: Sequence[SpendingLimits]) -> SpendingLimits:
    """Return what all shards together may spend: without limit where one has none."""
    usd = [one.max_usd for one in limits]
    tokens = [one.max_tokens for one in limits]
    return SpendingLimits(
        max_usd=None if None in usd else sum(one or 0.0 for one in usd),
        max_tokens=None if None in tokens else sum(one or 0 for one in tokens),
    )


def _write(into: Path, lock: RunLock, suite: Suite, parts: Sequence[_Part]) -> None:
    """Write the merged run beside its place, and move it there when it is whole."""
    aside = into.with_name(f".{into.name}-{secrets.token_hex(4)}.partial")
    try:
        _fill(RunFolder.create(aside, lock, suite), parts)
        aside.rename(into)
    except OSError as cause:
        shutil.rmtree(aside, ignore_errors=True)
        message = f"{into}: the merged run cannot be written: {cause.strerror or cause}"
        raise StoreError(message, hint="free some disk, or name another place") from cause
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _fill(merged: RunFolder, parts: Sequence[_Part]) -> None:
    with ThreadPoolExecutor(min(8, 2 * (os.cpu_count() or 1))) as threads:
        for part in parts:
            for _ in threads.map(partial(_take, part, merged), part.attempts):
                pass  # raises what one of them refused
    with merged.writing() as ledger:
        for part in parts:
            with part.folder.reading() as shard:
                if shard.head().sha256 != part.head:
                    message = f"{part.name}: was written meanwhile"
                    raise StoreError(message, hint="wait for that, and merge once more")
                ledger.take_over(shard)
    _write_beside(merged.path, parts)


def _take(part: _Part, merged: RunFolder, attempt: Attempt) -> None:
    """Link or copy the files of an attempt; refuse them where they are not as they were saved."""
    source, digest = part.folder.evidence_folder(attempt.folder), part.digests.get(attempt.folder)
    where = f"{part.name}: evidence/{ascii(attempt.folder)[1:-1]}"
    resume = _to_go_on(part.folder.path)
    if not source.is_dir():
        if attempt.state is AttemptState.FINISHED or digest is not None:
            raise StoreError(f"{where}: the evidence is missing", hint=f"{resume} plays it again")
        return
    target = merged.evidence_folder(attempt.folder)
    target.mkdir()
    files: list[tuple[str, Path]] = []
    with os.scandir(source) as entries:
        for one in entries:
            if not one.is_file(follow_symlinks=False):
                message = f"{where}: {one.name!a} is no regular file"
                raise StoreError(message, hint="an attempt leaves no such thing: remove it")
            files.append((one.name, target / one.name))
            _link(one.path, files[-1][1])
    if digest is not None and digest_of_paths(files) != digest:
        message = f"{where}: its files are not those that were saved"
        raise StoreError(message, hint="put them back, or play the shard again")


def _link(source: str, target: Path) -> None:
    """Link a file, or copy it to another disk, or where nobody may link it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        with open_regular(Path(source), most=_LARGEST) as file, target.open("xb") as copy:
            shutil.copyfileobj(file, copy)


def _write_beside(run: Path, parts: Sequence[_Part]) -> None:
    """Write what lies beside the evidence: each shard's lines, one after the other."""
    for name in _LINES:
        join_lines(run / name, [part.folder.path / name for part in parts])
    # Of two judgements on one question the later counts: that is to be the first shard's.
    judged = [part.folder.path / JUDGEMENTS_FILE for part in reversed(parts)]
    join_lines(run / JUDGEMENTS_FILE, judged)
    planned = [part.folder.path / _ONCE for part in parts if (part.folder.path / _ONCE).exists()]
    if planned:
        (run / _ONCE).write_bytes(read_regular(planned[0]))


def join_lines(target: Path, sources: Iterable[Path]) -> None:
    """Write the whole lines of several files into one; no file where there is none of them."""
    there = [path for path in sources if path.exists() or path.is_symlink()]
    if not there:
        return
    with target.open("xb") as joined:
        for path in there:
            lines = read_regular(path, most=_LARGEST)
            joined.write(lines[: lines.rfind(b"\n") + 1])
