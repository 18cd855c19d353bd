"""What the posts say: for every kind of title its own beats, in the order in which one tells them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from forumseed import subjects
from forumseed.matter import Matter
from forumseed.phrases import capital
from forumseed.vocabulary import load

if TYPE_CHECKING:
    from forumseed.threads import Draft

LEAST, MOST = 2, 6  # sentences or pairs of them


@dataclass(frozen=True, slots=True)
class Beat:
    """One thing that a post may say, in one of several wordings."""

    needs: str
    chance: float
    say: tuple[str, ...]


@cache
def beats() -> dict[str, tuple[Beat, ...]]:
    """Return the beats by the kind of a forum or its pack."""
    return {
        name: tuple(Beat(one.get("if", ""), one.get("p", 0.5), tuple(one["say"])) for one in tables)
        for file in ("gear", "city", "talk")
        for name, tables in load(f"posts/{file}").items()
    }


class Earlier:
    """The threads so far, by what they are about: a text names only those that are akin."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, ...], list[Draft]] = {}

    def add(self, draft: Draft) -> None:
        """Remember a thread that later texts may name."""
        if draft.visibility == "visible" and not draft.is_pinned:
            self._held.setdefault(_about(draft), []).append(draft)

    def link(self, draft: Draft, rng: Random) -> str:
        """Return a link to an earlier thread on the same thing, or nothing."""
        found = [
            one
            for one in self._held.get(_about(draft), [])
            if one.id < draft.id and one.title != draft.title
        ]
        return rng.choice(found).link if found else ""


def _about(draft: Draft) -> tuple[str, ...]:
    said = draft.context.said if draft.context else {}
    name, intent = draft.place.name, draft.intent
    match draft.place.kind:
        case "gear":
            issue = said.get("issue", said.get("issue_s", "")).lower().rstrip(".")
            return (name, intent, draft.context.category.name if draft.context else "", issue)
        case "city":
            return (name, said.get("place") or intent, said.get("use_city", ""))
        case "talk":
            return (name, said.get("subject") or draft.form)
        case _:
            return (name, said.get("article") or said.get("thing") or draft.form)


def write(drafts: list[Draft]) -> None:
    """Give every draft that has a body its words."""
    earlier = Earlier()
    for draft in drafts:
        draft.body = body(draft, earlier) if draft.has_body else ""
        earlier.add(draft)


def body(draft: Draft, earlier: Earlier) -> str:
    """Return what a post says below its title."""
    place = draft.place
    if draft.is_pinned:
        return (
            f"{place.description}\n\nNew here? Tell us where you come from and what brought you to "
            f"{place.name}. The rules stand in the sidebar; moderators read along."
        )
    refer = Random(f"forum/refers/{draft.id}")
    matter = Matter(draft, "body", lambda: earlier.link(draft, refer))
    fitting = [one for one in _beats(draft, matter) if matter.holds(one.needs)]
    chosen = [one for one in fitting if matter.rng.random() < one.chance]
    left = [one for one in fitting if one not in chosen and one.chance > 0]
    told: dict[int, str] = {}
    used: set[str] = set()
    for beat in [*chosen[:MOST], *matter.rng.sample(left, len(left))]:
        if beat in left and len(told) >= LEAST:
            break
        if text := matter.choose(beat.say, used):
            told[fitting.index(beat)] = capital(text)
    lines = [told[number] for number in sorted(told)]
    half = len(lines) // 2
    if len(lines) > 3 and matter.rng.random() < 0.5:
        return " ".join(lines[:half]) + "\n\n" + " ".join(lines[half:])
    return " ".join(lines)


def _beats(draft: Draft, matter: Matter) -> list[Beat]:
    place = draft.place
    if place.kind == "talk":
        own = subjects.subject(place.pack, matter.said.get("subject", ""))
        mine = [Beat("", 0.95, _ended(own.me))] if own.me else []
        return [*mine, *beats().get(place.pack, ()), *beats()["talk"]]
    if draft.intent == "fact":
        return list(beats()["learned"])
    if draft.intent == "problem" and (issue := matter.fill("{issue}")):
        remedy = subjects.remedy(issue)
        return [*(Beat("", 0.8, (one,)) for one in _ended(remedy.me)), *beats()["gear"]]
    return list(beats()[place.kind])


def _ended(sayings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{one.rstrip('.')}." if not one.endswith("?") else one for one in sayings)
