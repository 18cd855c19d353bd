"""What people say to each other under a text: sentences that answer those before them.

A bank holds points; a point is something one may think this or that of, or ask about. A thread
remembers what was said in it: nobody repeats a sentence, an answer answers the question above it,
and who agrees or differs speaks of the same point. Used by the seeds of the newspaper and the
forum, which say what a text's gaps stand for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
SLOT = re.compile(r"\{([A-Za-z]+)\}")
WORDS_QUOTED = 9
TRIES = 24
LONG = 4  # letters of a word that one does not say twice in a sentence
OTHERS = 0.5  # how often somebody else may come in
Fill = Callable[[str], str | None]


class Kind(Enum):
    """What a remark does."""

    GOOD = "good"
    BAD = "bad"
    ASK = "ask"
    ANSWER = "answer"
    THANKS = "thanks"


class Temper(Enum):
    """How somebody is disposed, all their life: the chances of liking, minding and asking."""

    WARM = (6, 2, 2)
    DRY = (3, 6, 1)
    CURIOUS = (3, 2, 5)
    EVEN = (4, 4, 2)


@dataclass(frozen=True, slots=True)
class Point:
    """Something to talk about, and what is said of it; `asks` pairs questions and answers."""

    about: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    asks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """What one has said, as those who answer need it."""

    who: str
    kind: Kind
    point: Point
    clause: str = ""
    answers: tuple[str, ...] = ()


@cache
def frames() -> dict[str, Any]:
    """Return the sentences that clauses go into."""
    path = Path(__file__).with_name("frames.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def points(tables: Iterable[dict[str, str]]) -> tuple[Point, ...]:
    """Read points: clauses are parted by "; ", a question and its answers by " > "."""
    return tuple(
        Point(
            one["about"],
            _parted(one.get("good", "")),
            _parted(one.get("bad", "")),
            tuple((asked[0], tuple(asked[1:])) for asked in _asked(one.get("ask", ""))),
            one.get("if", ""),
        )
        for one in tables
    )


def _parted(text: str) -> tuple[str, ...]:
    return tuple(one for one in text.split("; ") if one)


def _asked(text: str) -> list[list[str]]:
    return [one.split(" > ") for one in _parted(text)]


def temper(name: str) -> Temper:
    """Return how somebody is disposed."""
    return Random(f"temper/{name}").choice(list(Temper))


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


class Talk:
    """One thread: what its text is about, and what was said in it."""

    def __init__(self, rng: Random, bank: Sequence[Point], fill: Fill) -> None:
        """Keep the points whose gaps the text fills."""
        self._rng, self._fill = rng, fill
        self._bank = [one for one in bank if self._is_known(one)]
        self._said: set[str] = set()
        self._spoken: dict[str, int] = {}
        self._is_stale = False  # whether the clause chosen last was said before

    def _is_known(self, point: Point) -> bool:
        needs = f"{{{point.needs}}}" if point.needs else ""
        return self._fill(needs + point.about) is not None

    def open(self, who: str, *, is_late: bool = False, count: int = 1) -> tuple[str, Remark]:
        """Say something of the text itself, in so many sentences."""
        kind = self._rng.choices((Kind.GOOD, Kind.BAD, Kind.ASK), weights=temper(who).value)[0]
        remark = self._stance(who, kind, self._free())
        if remark.kind is Kind.ASK:
            return self._sentence("ask", "any", remark), remark
        style = "late" if is_late and self._rng.random() < 0.5 else remark.kind.value
        pool = style if self._rng.random() < 0.4 or style == "late" else "any"
        texts = [self._sentence("state", pool, remark)]
        for _ in range(count - 1):
            other = self._stance(who, self._rng.choice((Kind.GOOD, Kind.BAD)), self._free())
            if other.kind is Kind.ASK:
                texts.append(self._sentence("ask", "any", other))
                break
            joint = "more" if other.kind is remark.kind else "yet"
            texts.append(self._sentence(joint, "any", other))
        return " ".join(texts), remark

    def reply(
        self, who: str, to: Remark, *, is_staff: bool = False, is_grateful: bool = False
    ) -> tuple[str, Remark]:
        """Answer somebody; the grateful say thank you to whatever they are told."""
        if is_grateful and to.kind in {Kind.GOOD, Kind.BAD}:
            remark = Remark(who, Kind.THANKS, to.point)
            return self._sentence("thanks", "any", remark, to), remark
        match to.kind:
            case Kind.ASK:
                return self._answer(who, to, is_staff=is_staff)
            case Kind.ANSWER:
                remark = Remark(who, Kind.THANKS, to.point)
                return self._sentence("thanks", "any", remark, to), remark
            case Kind.THANKS:
                remark = self._stance(who, Kind.GOOD, to.point)
                if remark.kind is Kind.ASK:
                    return self._sentence("ask", "back", remark, to), remark
                told = self._sentence("welcome", "any", remark, to)
                return told, Remark(who, Kind.GOOD, to.point)  # no claim that one may quote
            case Kind.GOOD | Kind.BAD:
                return self._argue(who, to, is_staff=is_staff)

    def _argue(self, who: str, to: Remark, *, is_staff: bool) -> tuple[str, Remark]:
        if is_staff:
            remark = Remark(who, Kind.THANKS, to.point)
            return self._sentence("thanks", "staff", remark, to), remark
        likes, minds, wonders = temper(who).value
        chance = self._rng.random() * (likes + minds + wonders)
        if chance < wonders and (asked := self._question(who, to.point)):
            return self._sentence("ask", "back", asked, to), asked
        remark = self._stance(who, Kind.GOOD if chance < wonders + likes else Kind.BAD, to.point)
        if remark.kind is Kind.ASK:
            return self._sentence("ask", "back", remark, to), remark
        joint = "agree" if remark.kind is to.kind else "differ"
        if self._is_stale:  # all was said: no more than a nod, or a shake of the head
            remark = Remark(who, remark.kind, to.point)
            return self._sentence(joint, "bare", remark, to), remark
        return self._sentence(joint, "any", remark, to), remark

    def _answer(self, who: str, to: Remark, *, is_staff: bool) -> tuple[str, Remark]:
        told = self._fitting(to.answers)
        if not told:
            return self._argue(who, Remark(to.who, Kind.GOOD, to.point, to.clause), is_staff=False)
        remark = Remark(who, Kind.ANSWER, to.point, self._least(told))
        return self._sentence("answer", "staff" if is_staff else "any", remark, to), remark

    def _free(self) -> Point:
        return min(
            self._rng.sample(self._bank, min(3, len(self._bank))),
            key=lambda one: self._spoken.get(one.about, 0),
        )

    def _stance(self, who: str, kind: Kind, point: Point) -> Remark:
        """Return a remark of that kind, or of one for which there is something to say."""
        if kind is Kind.ASK and (asked := self._question(who, point)):
            return asked
        order = (Kind.BAD, Kind.GOOD) if kind is Kind.BAD else (Kind.GOOD, Kind.BAD)
        for one in order:
            if clauses := self._fitting(point.good if one is Kind.GOOD else point.bad):
                return Remark(who, one, point, self._least(clauses))
        if asked := self._question(who, point):
            return asked
        message = f"nothing to say about {point.about}"
        raise ValueError(message)

    def _question(self, who: str, point: Point) -> Remark | None:
        asks = [one for one in point.asks if self._fill(one[0]) is not None]
        if not asks:
            return None
        asked, answers = self._rng.choice(asks)
        return Remark(who, Kind.ASK, point, self._plain(asked), answers)

    def _fitting(self, clauses: Iterable[str]) -> list[str]:
        return [one for one in clauses if self._fill(one) is not None]

    def _least(self, clauses: Sequence[str]) -> str:
        """Return a clause that was said least often here."""
        fewest = min(self._spoken.get(one, 0) for one in clauses)
        self._is_stale = fewest > 0
        chosen = self._rng.choice([one for one in clauses if self._spoken.get(one, 0) == fewest])
        self._count(chosen)
        return self._plain(chosen)

    def _count(self, text: str) -> None:
        self._spoken[text] = self._spoken.get(text, 0) + 1

    def _sentence(self, frame: str, style: str, remark: Remark, to: Remark | None = None) -> str:
        """Return a sentence that nobody has said here."""
        self._count(remark.point.about)
        about = self._plain(remark.point.about)
        held = [
            one
            for one in frames()[frame][style]
            if (to and to.clause) or "{quote}" not in one.lower()
        ]
        fitting = _fitting_frames(held, about, remark.clause)
        for _ in range(TRIES):
            pool = fitting[self._rng.random() < OTHERS]
            told = self._compose(self._rng.choice(pool), about, remark, to)
            if told not in self._said:
                break
        self._said.add(told)
        return told

    def _compose(self, frame: str, about: str, remark: Remark, to: Remark | None) -> str:
        given = {**dict.fromkeys("caq", remark.clause), "about": about}
        if to:
            given |= {"name": to.who, "quote": _quoted(to.clause)}
        kin = self._rng.sample(frames()["kin"], 3)

        def value(found: re.Match[str]) -> str:
            slot = found[1][0].lower() + found[1][1:]
            told = given.get(slot) or (kin.pop() if slot == "kin" else "")
            if not told:
                told = SLOT.sub(value, self._rng.choice(frames()[slot]))
            return capital(told) if found[1][0].isupper() else told

        return capital(SLOT.sub(value, self._chosen(frame)))

    def _plain(self, text: str) -> str:
        return self._fill(self._chosen(text)) or ""

    def _chosen(self, text: str) -> str:
        return CHOICE.sub(lambda found: self._rng.choice(found[1].split("|")), text)


def _fitting_frames(
    held: Sequence[str], about: str, clause: str
) -> tuple[Sequence[str], Sequence[str]]:
    """Return frames that name no one else, and all; what a clause names itself, they do not."""
    is_named = any(len(word) > LONG and word in clause for word in about.split())
    free = [one for one in held if not (is_named and "{about}" in one)] or held
    return [one for one in free if "{kin}" not in one.lower()] or free, free


def _quoted(clause: str) -> str:
    words = clause.split()
    told = " ".join(words[:WORDS_QUOTED])
    return told if len(words) <= WORDS_QUOTED else f"{told.rstrip(',;:')} …"
