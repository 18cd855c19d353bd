"""In what a folder differs from its pristine copy, and that copy with the differences in it."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from attributes import attributes_of
from blocks import Budget, read_content
from failure import Refusal
from restore import Restorer, Wanted, facts_of
from tree import kind_of


class Changes(NamedTuple):
    """In what a folder differs from its pristine copy.

    Attributes:
        changed: entries that are new or different, by path relative to the folder; of a folder
            without what it holds.
        removed: paths of pristine entries that are not there, without what they held.
    """

    changed: dict[bytes, Wanted]
    removed: frozenset[bytes]

    def touch(self, parts: tuple[bytes, ...]) -> bool:
        """Whether something differs in one of some parts of the folder."""
        paths = (*self.changed, *self.removed)
        return any(_is_in(path, part) for path in paths for part in parts)


def changes_of(restorer: Restorer, budget: Budget, remade: frozenset[bytes]) -> Changes:
    """Read in what the folder differs from its pristine copy; nothing may write to it meanwhile.

    Sockets are left out: a service makes its own. A hard link becomes a file of its own.

    Args:
        remade: paths of files that services make anew, which are left out too.

    Raises:
        OSError: an entry cannot be read.
        Refusal: an entry is neither file, folder, link nor socket; or more differs than the budget
            has left.
    """
    golden = restorer.golden()
    changed: dict[bytes, Wanted] = {}
    removed: set[bytes] = set()
    top = _read(restorer, restorer.folder, os.lstat(restorer.folder), golden, budget)
    if not _is_same(top, golden):
        changed[b""] = top
    changed.update(_walk(restorer, golden, b"", removed, budget, remade))
    return Changes(changed, frozenset(removed))


def _walk(
    restorer: Restorer,
    golden: Wanted,
    inner: bytes,
    removed: set[bytes],
    budget: Budget,
    remade: frozenset[bytes],
) -> Iterator[tuple[bytes, Wanted]]:
    """Yield what differs below a folder that both have, by its path inside the restored one."""
    folder = os.path.join(restorer.folder, inner) if inner else restorer.folder
    there: set[bytes] = set()
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        path = os.path.join(inner, entry.name)
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISSOCK(found.st_mode) or path in remade:
            continue
        there.add(entry.name)
        pristine = golden.inner.get(entry.name)
        now = _read(restorer, entry.path, found, pristine, budget)
        if pristine is None or not _is_same(now, pristine):
            yield path, now
        if now.kind == "d":
            both = pristine if pristine is not None and pristine.kind == "d" else now
            yield from _walk(restorer, both, path, removed, budget, remade)
    gone = (os.path.join(inner, name) for name in golden.inner if name not in there)
    removed.update(path for path in gone if path not in remade)


def _read(
    restorer: Restorer,
    path: bytes,
    found: os.stat_result,
    pristine: Wanted | None,
    budget: Budget,
) -> Wanted:
    written = restorer.written(path, found)
    if written is not None:
        budget.spend(sum(len(data) for _, data in written.content.blocks))
        return written
    kind = kind_of(found)
    if kind not in "fdl":
        msg = f"{os.fsdecode(path)} is neither file, folder, link nor socket"
        raise Refusal(msg)
    entry = Wanted(path, kind, facts_of(found))
    if kind == "l":
        return entry._replace(target=os.readlink(path))
    entry = entry._replace(attributes=attributes_of(path))
    if kind == "d":
        return entry
    base = pristine.content.base if pristine is not None and pristine.kind == "f" else None
    return entry._replace(content=read_content(path, base, budget))


def _is_same(one: Wanted, other: Wanted) -> bool:
    return one is other or one._replace(inner={}) == other._replace(inner={})


def with_changes(golden: Wanted, changes: Changes) -> Wanted:
    """Return the pristine copy with changes in it; files without one are the very same entries.

    Raises:
        Refusal: a change has no place: an entry in no folder, the removal of what is not there.
    """
    by_folder: defaultdict[bytes, dict[bytes, Wanted]] = defaultdict(dict)
    placed: set[bytes] = set()
    for path, entry in changes.changed.items():
        folder, name = os.path.split(path)
        if path:
            by_folder[folder][name] = entry
        elif entry.kind == "d":
            golden = entry._replace(inner=golden.inner)
            placed.add(path)

    def laid(entry: Wanted, inner: bytes) -> Wanted:
        if entry.kind != "d":
            return entry
        held = dict(entry.inner)
        for name in tuple(held):
            path = os.path.join(inner, name)
            if path in changes.removed:
                placed.add(path)
                del held[name]
        for name, new in by_folder.get(inner, {}).items():
            path = os.path.join(inner, name)
            was = held.get(name)
            keeps = was is not None and was.kind == new.kind == "d"
            held[name] = new._replace(inner=was.inner) if keeps and was is not None else new
            placed.add(path)
        ordered = {name: laid(held[name], os.path.join(inner, name)) for name in sorted(held)}
        return entry._replace(inner=ordered)

    tree = laid(golden, b"")
    lost = (changes.changed.keys() | changes.removed) - placed
    if lost:
        msg = f"its entry {os.fsdecode(min(lost))!r} has no place in the pristine copy"
        raise Refusal(msg)
    return tree


def _is_in(path: bytes, part: bytes) -> bool:
    return path == part or path.startswith(part + b"/") or part.startswith(path + b"/")
