"""Runs on disk: who may write one, where everything lies, and the runs that a path stands for."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pydantic import BaseModel, ValidationError

from arena_core.errors import StoreError, UsageError
from arena_core.foreign import first_fault
from arena_core.regular_files import read_regular
from arena_core.uncollected import uncollected
from arena_core.worlds import World
from evaluators.evidence import Evidence, HostUse
from evaluators.judgements import Judgement
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store import formats
from orchestrator.runs.store.digests import digest_of_files, digest_of_json
from orchestrator.runs.store.evidence_files import (
    JUDGEMENTS_FILE,
    KEPT_APART,
    NETWORK_FILE,
    network_files,
    read_judgements,
    with_network,
)
from orchestrator.runs.store.formats import Format
from orchestrator.runs.store.ledger import EpisodeKey, Ledger, attempt_of, is_damaged
from orchestrator.runs.store.lock import RunLock, absent_packages, lock_digest
from orchestrator.runs.store.recovery import lost_attempts, recover
from tasks.schema import Suite

Model = TypeVar("Model", bound=BaseModel)
_PARTIAL = ".partial"
_LOCK: Final = "lock.json"
WRITER: Final = ".writer"
_RUNS: Final = "runs"


class RunFolder:
    """A run's folder: lock.json, suite.json, ledger.sqlite, evidence/ATTEMPT/, report.html, log.

    Where judges were asked there is `judgements.jsonl` too, and `looks.jsonl` of a run's canary.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger_path = path / "ledger.sqlite"
        self.report_path = path / "report.html"
        self.log_path = path / "arena.log"
        self._judged: tuple[tuple[int, int], tuple[Judgement, ...]] = ((0, 0), ())

    @classmethod
    def create(cls, path: Path, lock: RunLock, suite: Suite) -> Self:
        """Make a run's folder; whoever is killed meanwhile leaves none at `path`."""
        aside = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
        if path.exists():
            raise StoreError(f"{path}: exists already", hint="use --resume to go on with it")
        try:
            (aside / "evidence").mkdir(parents=True)
            (aside / "suite.json").write_text(suite.model_dump_json(indent=1), encoding="utf-8")
            (aside / _LOCK).write_text(lock.model_dump_json(indent=1), encoding="utf-8")
            aside.replace(path)
        except OSError as cause:
            message = f"{path}: a run folder cannot be made there: {cause.strerror}"
            raise StoreError(message) from cause
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        if not (path / "lock.json").is_file():
            message = f"{path}: is not a run folder (it has no lock.json)"
            raise StoreError(message, hint="`arena eval` prints the folder of each run")
        folder = cls(path)
        folder.lock()
        return folder

    @cached_property
    def _run(self) -> str:
        """Its id, which never changes: no attempt waits for the lock to be read."""
        return self.lock().run

    def lock(self) -> RunLock:
        return self._read("lock.json", RunLock, formats.LOCK)

    def change_limits(self, limits: SpendingLimits) -> None:
        """Write down what a continued run may spend, if that has changed."""
        self._change_lock(lambda lock: lock.with_limits(limits))

    def add_repeats(self, repeats: int) -> None:
        """Write down that each task is played more often than before."""
        self._change_lock(lambda lock: lock.with_repeats(repeats))

    def _change_lock(self, change: Callable[[RunLock], RunLock]) -> None:
        with self.writing():
            self.rewrite_lock(change)

    def rewrite_lock(self, change: Callable[[RunLock], RunLock]) -> None:
        """Write a changed lock; for whoever holds the run for writing."""
        before = self.lock()
        after = change(before)
        if after is before:
            return
        path = self.path / "lock.json"
        try:
            write_atomically(path, after.model_dump_json(indent=1))
        except OSError as cause:
            raise StoreError(f"{path}: cannot be written: {cause.strerror}") from cause

    def suite(self) -> Suite:
        suite, lock = self._read("suite.json", Suite, formats.SUITE), self.lock()
        digest = digest_of_json(self._bytes("suite.json"))
        if digest != lock.suite_hash:
            message = (
                f"{self.path / 'suite.json'}: was changed after the run began: its content has"
                f" SHA-256 {digest}, the lock says {lock.suite_hash}"
            )
            hint = f"put it back as it was; for other checks: arena score {self.path} --suite FILE"
            raise StoreError(message, hint=hint)
        return suite

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Hold the run for writing: one process at a time.

        A ledger that cannot be read is set aside, as `ledger.sqlite.damaged`; what the evidence
        tells is for `recover` to enter again.
        """
        with locked(self.path / WRITER, f"{self.path}: another `arena eval` is writing this run"):
            if is_damaged(self.ledger_path):
                self._set_ledger_aside()
            ledger = Ledger.open(self.ledger_path)
            try:
                ledger.keep_costs()
                ledger.keep_journal(self.lock().run, lock_digest(self.lock()))
                yield ledger
            finally:
                ledger.close()

    @contextmanager
    def reading(self) -> Iterator[Ledger]:
        """Open the ledger for reading, beside a writer.

        Where it is missing, damaged or does not know of evidence that lies there, it is a copy in
        memory to which the evidence's attempts were added.
        """
        has_ledger = self.ledger_path.is_file()
        if not self.is_begun:
            raise StoreError(f"{self.path}: nothing was run yet (it has no ledger)")
        if not has_ledger or (is_damaged(self.ledger_path) and self.evidence_names()):
            ledger = Ledger.in_memory(self.ledger_path)
        else:
            ledger = Ledger.open(self.ledger_path)
        try:
            if lost_attempts(self, ledger):
                ledger = ledger.detached()
                recover(self, ledger)
            yield ledger
        finally:
            ledger.close()

    def save_evidence(self, name: str, evidence: Evidence, files: Mapping[str, bytes]) -> str:
        """Write an attempt's evidence and the files beside it in one atomic step.

        It says of which run it is, so that its digest holds of no other.

        Returns:
            The digest of all that was written, for the ledger.
        """
        final = self.path / "evidence" / name
        partial = final.with_name(name + _PARTIAL)
        named = evidence.model_copy(update={"run": self._run})
        written = named.model_dump_json(indent=1, exclude=KEPT_APART).encode()
        saved = {**files, **network_files(evidence), "evidence.json": written}
        try:
            if partial.exists():
                shutil.rmtree(partial)
            partial.mkdir()
            for file_name, content in saved.items():
                (partial / file_name).write_bytes(content)
            partial.replace(final)
        except OSError as cause:
            shutil.rmtree(partial, ignore_errors=True)
            if cause.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                message = f"{final}: the attempt's evidence is there already; it stays as it is"
                raise StoreError(message) from cause
            message = f"{final}: the evidence cannot be written: {cause.strerror}"
            raise StoreError(message, hint="free some disk and go on with --resume") from cause
        return digest_of_files(saved.items())

    def files_beside(self, name: str) -> dict[str, bytes]:
        """Return what lies beside an attempt's evidence and is no part of it, by file name."""
        written = {"evidence.json", NETWORK_FILE}
        folder = self.evidence_folder(name)
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and path.name not in written
        }

    @property
    def is_begun(self) -> bool:
        return self.ledger_path.is_file() or bool(self.evidence_names())

    def evidence_names(self) -> tuple[str, ...]:
        try:
            with os.scandir(self.path / "evidence") as there:
                found = [one.name for one in there if one.is_dir(follow_symlinks=False)]
        except OSError:
            return ()
        return tuple(sorted(name for name in found if not name.endswith(_PARTIAL)))

    def has_evidence(self, name: str) -> bool:
        return (self.evidence_folder(name) / "evidence.json").is_file()

    def evidence(self, name: str) -> Evidence:
        """Read an attempt's evidence, with what is kept beside it: requests, judges' replies."""
        self.evidence_folder(name)  # it lies in this folder
        found = self._read(f"evidence/{name}/evidence.json", Evidence, formats.EVIDENCE)
        whole = with_network(found, self.evidence_folder(name))
        judged = self.judgements()
        return whole.model_copy(update={"judgements": judged}) if judged else whole

    def host_uses(self) -> Iterator[HostUse]:
        """Yield what live hosts got from each attempt that was played; by the browsers' reports.

        Evidence of earlier versions says nothing of it, and what cannot be read is left out.
        """
        seen = set[tuple[EpisodeKey, str]]()
        for name in self.evidence_names():
            known = attempt_of(name)
            if known is None or known[0].world is not World.ONLINE:
                continue
            try:
                evidence = self.evidence(name)
            except StoreError:
                continue
            # An episode whose fault became known after it has two attempts, and was played once.
            played = known[0], evidence.started_at
            if played not in seen:
                seen.add(played)
                yield from evidence.hosts

    def evidence_length(self, name: str) -> int:
        """Return how many bytes are read for an attempt's evidence; 0 if there is none."""
        folder = self.evidence_folder(name)
        return sum(_length(folder / one) for one in ("evidence.json", NETWORK_FILE))

    def judgements(self) -> tuple[Judgement, ...]:
        """Return what judges replied, read once as long as the file stays as it is."""
        try:
            stat = (self.path / JUDGEMENTS_FILE).stat()
        except OSError:
            return ()
        mark = (stat.st_mtime_ns, stat.st_size)
        if self._judged[0] != mark:
            self._judged = (mark, read_judgements(self.path))
        return self._judged[1]

    def evidence_folder(self, name: str) -> Path:
        """Return where an attempt's evidence and screenshots lie."""
        evidence = self.path / "evidence"
        if name != Path(name).name or evidence.is_symlink() or (evidence / name).is_symlink():
            raise StoreError(f"{evidence / name}: is not in the run's folder")
        return evidence / name

    def _set_ledger_aside(self) -> None:
        for path in (self.ledger_path, self.path / f"{self.ledger_path.name}-journal"):
            if path.exists():  # the journal too: it would be rolled back into the new file
                path.replace(path.with_name(f"{path.name}.damaged"))

    def _read(self, name: str, model: type[Model], kind: Format) -> Model:
        path = self.path / name
        written = self._in_todays_format(name, kind)
        try:
            with uncollected():
                return model.model_validate_json(written)
        except ValidationError as cause:
            message = f"{path}: is not what this version of Arena writes: {first_fault(cause)}"
            raise StoreError(message, hint=_to_install(self._lock_document())) from cause

    def _in_todays_format(self, name: str, kind: Format) -> bytes:
        """Return a file as this Arena would have written it; evidence is large, and most is new."""
        written = self._bytes(name)
        if kind is not formats.SUITE and formats.version_in(written) == kind.version:
            return written
        document = self._document(name)
        lock = document if kind is formats.LOCK else self._lock_document()
        version = (lock if kind is formats.SUITE else document).get("version")
        try:
            upgraded = kind.upgraded(document, version, formats.maker_of(lock))
        except StoreError as cause:
            raise type(cause)(f"{self.path / name}: {cause.message}", hint=cause.hint) from cause
        # As JSON, where a list may stand for a tuple, and not as Python's own values.
        return json.dumps(upgraded).encode()

    def _lock_document(self) -> dict[str, Any]:
        """Return the lock as it was read; empty where it cannot be, which its own reader tells."""
        try:
            return self._document("lock.json")
        except StoreError:
            return {}

    def _bytes(self, name: str) -> bytes:
        path = self.path / name
        try:
            return read_regular(path)
        except OSError as cause:
            raise StoreError(f"{path}: cannot be read: {cause.strerror}") from cause

    def _document(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            found = json.loads(self._bytes(name))
        except (ValueError, RecursionError) as cause:
            message = f"{path}: is not what this version of Arena writes: no JSON: {cause}"
            raise StoreError(message) from cause
        if not isinstance(found, dict):
            raise StoreError(f"{path}: is not what this version of Arena writes: no object")
        return found


def _to_install(lock: dict[str, Any]) -> str:
    """Say which packages a run was made with that are not here; empty where all are."""
    packages = lock.get("packages")
    absent = absent_packages(packages) if isinstance(packages, dict) else ()
    return f"the run was made with others: pip install {' '.join(absent)}" if absent else ""


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@contextmanager
def locked(path: Path, taken: str | None = None) -> Iterator[None]:
    """Hold a file, one process at a time; `taken` refuses a second one, which else waits."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o644)
    except OSError as cause:
        raise StoreError(f"{path}: cannot be written: {cause.strerror}") from cause
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (fcntl.LOCK_NB if taken else 0))
        except BlockingIOError as cause:
            raise StoreError(taken or "", hint="wait for it, or end it") from cause
        yield
    finally:
        os.close(handle)


def write_atomically(path: Path, text: str) -> None:
    partial = path.with_name(path.name + _PARTIAL)
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def is_run(path: Path) -> bool:
    return path.suffix != _PARTIAL and (path / _LOCK).is_file()


def runs_at(path: Path) -> tuple[RunFolder, ...]:
    """Open the run at a path, or the runs of the study there, by name.

    A study is any folder whose `runs` holds run folders.
    """
    if is_run(path) or not (path / _RUNS).is_dir():
        return (RunFolder.open(path),)
    found = sorted(one for one in (path / _RUNS).iterdir() if is_run(one))
    if not found:
        message = f"{path}: is a study without a run (its {_RUNS}/ holds none)"
        raise StoreError(message, hint="`arena study run` plays it")
    return tuple(RunFolder.open(one) for one in found)


def require_once(folders: Iterable[RunFolder]) -> None:
    """Refuse a run that is given twice, or as two copies: its episodes would count twice."""
    seen: dict[str, Path] = {}
    for folder in folders:
        run = folder.lock().run
        if run not in seen:
            seen[run] = folder.path
            continue
        if seen[run].resolve() == folder.path.resolve():
            message = f"{folder.path}: is given twice"
        else:
            message = f"{seen[run]} and {folder.path}: are both the run {run}"
        raise UsageError(message, hint="its episodes would count twice: name it once")
