"""Bans, and the log of every lock, pin, removal and ban."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from waypost.clock import NOW
from waypost.models import Action, Ban, LogEntry

from forumseed.comments import Remark
from forumseed.context import Context
from forumseed.people import DEMO
from forumseed.phrases import fill
from forumseed.places import Place
from forumseed.rows import KEPT_BY_MODERATOR, bulk
from forumseed.threads import Draft


class Moderation:
    """What the moderators of all forums did, collected and then written in order of time."""

    def __init__(self, kept: dict[int, list[int]], words: dict[str, Any]) -> None:
        self._rng = Random("forum/moderation")
        self._kept = kept
        self._words = words["moderation"]
        self._entries: list[LogEntry] = []
        self._bans: list[Ban] = []

    def took_away(self, drafts: list[Draft], remarks: list[Remark]) -> None:
        """Log what happened to submissions and comments."""
        for draft in drafts:
            moment = self._later(draft.created)
            if draft.visibility == "removed":
                why = self._reason("remove", draft.place)
                self._log(draft.place, Action.REMOVE, moment, submission_id=draft.id, reason=why)
            if draft.is_locked:
                self._log(draft.place, Action.LOCK, moment, submission_id=draft.id)
            if draft.is_pinned:
                self._log(draft.place, Action.PIN, moment, submission_id=draft.id)
        for remark in remarks:
            if remark.visibility == "removed":
                self._log(
                    remark.draft.place,
                    Action.REMOVE_COMMENT,
                    self._later(remark.created),
                    submission_id=remark.draft.id,
                    member_id=remark.author,
                    reason=self._reason("remove", remark.draft.place),
                )

    def banned(self, places: list[Place], read: dict[int, list[int]]) -> None:
        """Ban some readers of each forum, more where people log in as the moderator."""
        for place in places:
            spared = {*DEMO, *self._kept[place.id]}
            pool = [one for one in read[place.id] if one not in spared]
            count = 6 if place.name in KEPT_BY_MODERATOR else self._rng.randint(0, 4)
            for member in self._rng.sample(pool, count):
                self._ban(place, member)

    def write(self) -> None:
        """Insert everything."""
        self._entries.sort(key=lambda one: (one.created, one.forum_id))
        bulk(LogEntry, self._entries)
        self._bans.sort(key=lambda one: (one.created, one.forum_id))
        bulk(Ban, self._bans)

    def _ban(self, place: Place, member: int) -> None:
        rng = self._rng
        moment = NOW - timedelta(days=rng.randint(2, 400), minutes=rng.randrange(1440))
        length = timedelta(days=rng.choice((500, 700, 900)))
        why = self._reason("ban", place)
        entry = self._log(place, Action.BAN, moment, member_id=member, reason=why)
        self._bans.append(
            Ban(
                forum_id=place.id,
                member_id=member,
                reason=why,
                created=moment,
                expires=moment + length if rng.random() < 0.3 else None,
                banned_by_id=entry.moderator_id,
            )
        )

    def _log(self, place: Place, action: Action, moment: datetime, **more: object) -> LogEntry:
        keeper = self._rng.choice(self._kept[place.id])
        entry = LogEntry(
            forum_id=place.id, moderator_id=keeper, action=action, created=moment, **more
        )
        self._entries.append(entry)
        return entry

    def _reason(self, kind: str, place: Place) -> str:
        context = Context.of(place.setting, self._rng, lambda: "")
        return fill(self._rng.choice(self._words[kind]), self._rng, context)

    def _later(self, moment: datetime) -> datetime:
        later = moment + timedelta(minutes=self._rng.randint(5, 3000))
        return min(later, NOW - timedelta(minutes=2))
