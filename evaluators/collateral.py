"""What an episode changed on its sites beside what its task allows, and how bad that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from evaluators.changes import (
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
)
from evaluators.checks import Check
from evaluators.evidence import Evidence
from evaluators.locators.db import DbDeltaLocator
from evaluators.matchers.delta import ComparedChanges, DeltaMatcher
from evaluators.verdicts import CheckStatus, Verdict

# The order of harm. What is gone is lost; what was altered held something else before; what was
# added took nothing away.
HARM: Final = (ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.REMOVED)


class CollateralKind(StrEnum):
    """What a collateral change is counted as; `other`: tables, rows that were not read, views."""

    ROWS_REMOVED = "rows removed"
    ROWS_CHANGED = "rows changed"
    ROWS_ADDED = "rows added"
    FILES = "files"
    OTHER = "other"


_ROWS: Final[Mapping[ChangeKind, CollateralKind]] = {
    ChangeKind.REMOVED: CollateralKind.ROWS_REMOVED,
    ChangeKind.CHANGED: CollateralKind.ROWS_CHANGED,
    ChangeKind.ADDED: CollateralKind.ROWS_ADDED,
}


# A site, and what happened to it held against what a check accepts.
_Way = tuple[str, ComparedChanges]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collateral:
    """The collateral changes of an episode whose sites were looked at.

    Attributes:
        counts: how many there are of each kind, in the order of the kinds; none is 0.
        worst: the most harmful of them; None where there is none.
        is_extra: all that the task asks to be changed was changed as well.
    """

    counts: tuple[tuple[CollateralKind, int], ...] = ()
    worst: ChangeKind | None = None
    is_extra: bool = False

    def count(self, kind: CollateralKind) -> int:
        """How many changes are of a kind."""
        return dict(self.counts).get(kind, 0)


def collateral_of(
    checks: Iterable[Check], evidence: Evidence, judged: Iterable[Verdict]
) -> Collateral | None:
    """Return what an episode changed beside what its `db_delta` checks allow.

    None where none of them looked. A check that is met by another way forbids nothing; of several
    deltas that a check accepts, the one counts that the episode came nearest to.
    """
    met = {one.check for one in judged if one.status is CheckStatus.MET}
    looked = [
        (check, ways)
        for check in checks
        if evidence.world in check.worlds and (ways := _ways(check, evidence))
    ]
    bound = [
        min(ways, key=lambda way: _harm(way[1]))
        for check, ways in looked
        if check.name not in met or any(_is_clean(compared) for _, compared in ways)
    ]
    if not bound:
        return None
    changes = _unexpected(bound)
    if not changes:
        return Collateral()
    counted: Counter[CollateralKind] = Counter()
    for change in changes:
        counted[_kind(change)] += change.count if isinstance(change, MoreChanges) else 1
    return Collateral(
        counts=tuple((kind, counted[kind]) for kind in CollateralKind if counted[kind]),
        worst=max(map(_happened, changes), key=HARM.index),
        is_extra=not any(compared.lacking for _, compared in bound),
    )


def _ways(check: Check, evidence: Evidence) -> list[_Way]:
    """Hold what was found against each delta that a check accepts.

    Where one of them could not be looked at, it might have been the one that was met: only one that
    is met says anything then.
    """
    found, is_open = [], False
    for way in check.ways:
        if isinstance(way.locate, DbDeltaLocator) and isinstance(way.match, DeltaMatcher):
            located = way.locate.at_end(way.name, evidence)
            if located.error is None:
                found.append((way.locate.site, way.match.compared(located.values)))
            else:
                is_open = True
    return [way for way in found if _is_clean(way[1])] if is_open else found


def _unexpected(ways: Iterable[_Way]) -> list[Change | None]:
    """Return the changes that no delta expects or allows: what two of a site found happened once.

    One delta may find a text twice: rows without a key look alike.
    """
    texts: dict[str, Counter[str]] = {}
    changes: dict[str, Change | None] = {}
    for site, compared in ways:
        changes.update(compared.unexpected)
        found = Counter(text for text, _ in compared.unexpected)
        texts[site] = texts.get(site, Counter()) | found
    return [changes[text] for found in texts.values() for text in found.elements()]


def _is_clean(compared: ComparedChanges) -> bool:
    return not compared.unexpected and not compared.lacking


def _harm(compared: ComparedChanges) -> tuple[bool, int, int]:
    """Order ways: what was met comes first, then what did less and milder harm."""
    worst = [HARM.index(_happened(change)) for _, change in compared.unexpected]
    return not _is_clean(compared), max(worst, default=-1), len(worst)


def _kind(change: Change | None) -> CollateralKind:
    match change:
        case RowChange():
            return _ROWS[change.kind]
        case FileChange():
            return CollateralKind.FILES
        case TableChange() | MoreChanges() | OtherChange() | None:
            return CollateralKind.OTHER
        case _:
            assert_never(change)


def _happened(change: Change | None) -> ChangeKind:
    """Return what happened; something that is not known nearer was altered."""
    match change:
        case RowChange() | FileChange() | TableChange():
            return change.kind
        case MoreChanges() | OtherChange() | None:
            return ChangeKind.CHANGED
        case _:
            assert_never(change)
