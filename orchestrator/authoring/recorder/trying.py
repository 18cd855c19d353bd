"""Tries a check on a recording: it must hold at the end, and not before anything is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from evaluators.changes import IgnoredChanges, RowChange, read_change
from evaluators.checks import Check
from evaluators.evidence import Evidence, Located
from evaluators.locators.base import LookingLocator
from evaluators.locators.db import DbDeltaLocator
from evaluators.verdicts import CheckStatus, Verdict, verdicts
from orchestrator.authoring.recorder.recording import Recording

HOLDS_BEFORE = "holds before you begin"


class Trial(StrEnum):
    """What a try showed.

    `holds_before`: met, and met by whoever does nothing, so that it shows nothing.
    `passes_sibling`: met, and met by what was done for another task too.
    `untried`: only the running sites can say; the proof asks them.
    """

    MET = "met"
    UNMET = "unmet"
    HOLDS_BEFORE = "holds_before"
    PASSES_SIBLING = "passes_sibling"
    UNTRIED = "untried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of a try.

    Attributes:
        reason: one sentence.
    """

    trial: Trial
    reason: str

    @property
    def is_good(self) -> bool:
        """Whether it may be chosen without a second thought."""
        return self.trial is Trial.MET

    @property
    def is_met(self) -> bool:
        """Whether what was done meets it, whatever else does."""
        return self.trial not in {Trial.UNMET, Trial.UNTRIED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What checks are tried on.

    Attributes:
        answer: what the person says that the answer is.
        siblings: recordings of other tasks of the same kind.
        looked: what the running sites showed since, by `asked_by`.
    """

    recording: Recording
    answer: str | None = None
    siblings: Sequence[Recording] = ()
    looked: dict[str, Located] = field(default_factory=dict)

    def needs_look(self, check: Check) -> bool:
        """Whether only the running sites can say what a check finds."""
        is_looked_up = isinstance(check.locate, LookingLocator)
        return (
            is_looked_up and not isinstance(check.locate, DbDeltaLocator) and not check.any_of
        ) and self._shown(check) is None

    def attempt(self, check: Check) -> Tried:
        """Try a check; what it must not accept decides first."""
        whole = self._judged(check, self.recording, self.answer, at_start=False)
        if whole is None or whole.status is CheckStatus.UNKNOWN:
            why = "only the running sites can say" if whole is None else whole.reason
            return Tried(trial=Trial.UNTRIED, reason=f"{why}; the proof asks them")
        if whole.status is CheckStatus.UNMET:
            return Tried(trial=Trial.UNMET, reason=whole.reason)
        before = self._judged(check, self.recording, None, at_start=True)
        if before is not None and before.status is CheckStatus.MET:
            return Tried(trial=Trial.HOLDS_BEFORE, reason=f"{HOLDS_BEFORE}: {before.reason}")
        for sibling in self.siblings:
            there = self._judged(check, sibling, None, at_start=False)
            if there is not None and there.status is CheckStatus.MET:
                reason = f"what was done for '{sibling.head.name}' meets it too"
                return Tried(trial=Trial.PASSES_SIBLING, reason=reason)
        reason = whole.reason
        if before is None:
            reason += "; whether it holds before you begin, the proof says"
        return Tried(trial=Trial.MET, reason=reason)

    def _judged(
        self, check: Check, recording: Recording, answer: str | None, *, at_start: bool
    ) -> Verdict | None:
        """Judge a check on a recording; None where nobody looked for it there."""
        evidence = recording.evidence(answer)
        if at_start:
            evidence = evidence.model_copy(update={"steps": evidence.steps[:1]})
        if isinstance(check.locate, LookingLocator):
            is_own = recording is self.recording and not at_start
            located = self._located(check, recording, at_start=at_start, is_own=is_own)
            if located is None:
                return None
            named = located.model_copy(update={"check": check.name})
            evidence = evidence.model_copy(update={"located": (named,)})
        return _verdict(check, evidence)

    def _located(
        self, check: Check, recording: Recording, *, at_start: bool, is_own: bool
    ) -> Located | None:
        if isinstance(check.locate, DbDeltaLocator):
            return _delta(check.name, check.locate, recording, at_start=at_start)
        return self._shown(check) if is_own else None

    def _shown(self, check: Check) -> Located | None:
        """Return what the running sites showed to a check; None where nobody asked them."""
        end = self.recording.end
        if end is not None and asked_by(check) in end.looked:
            return Located(check=check.name, values=end.looked[asked_by(check)])
        return self.looked.get(asked_by(check))


def asked_by(check: Check) -> str:
    """Return what a check asks the sites, whatever it expects and is called."""
    return check.locate.model_dump_json()


def _verdict(check: Check, evidence: Evidence) -> Verdict | None:
    found = verdicts((check,), evidence)
    return found[0] if found else None


def _delta(name: str, locate: DbDeltaLocator, recording: Recording, *, at_start: bool) -> Located:
    """Return what a delta finds, from the changes that were read while it was recorded."""
    there = recording.head.idle if at_start else recording.changes()
    if locate.site not in there:
        return Located(check=name, error=f"what changed in '{locate.site}' was not read")
    kept = tuple(one for one in there[locate.site] if not _is_ignored(one, locate.ignore))
    return Located(check=name, values=kept)


def _is_ignored(text: str, ignored: IgnoredChanges) -> bool:
    change = read_change(text)
    if not isinstance(change, RowChange):
        table = getattr(change, "table", None)
        return isinstance(table, str) and ignored.has_table(table)
    columns = ignored.columns.get(change.table, ())
    only = bool(change.changed) and all(
        any(fnmatchcase(one, pattern) for pattern in columns) for one in change.changed
    )
    return ignored.has_table(change.table) or only
