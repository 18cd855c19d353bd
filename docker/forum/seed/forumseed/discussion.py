"""How a thread is talked through: every comment knows what it answers and who will answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from talking import temper

from forumseed.phrases import capital
from forumseed.vocabulary import load

if TYPE_CHECKING:
    from forumseed.matter import Matter
    from forumseed.subjects import Topic

PLAIN = 0.3  # how often a saying stands by itself
SECOND, THIRD, LIVED = 0.42, 0.12, 0.3
NEAR = 0.86  # how often one speaks of what the thread is on
ASKING = frozenset({"advice", "problem", "visit", "live", "ask"})  # whose author knows no answer
TAIL = 0.4  # how often thanks and their answers go on
AUTHOR_THANKS, AUTHOR_ASKS = 0.6, 0.85


class Kind(Enum):
    """What a comment does."""

    GOOD = "good"
    BAD = "bad"
    ASK = "ask"
    ASK_AUTHOR = "author"
    ANSWER = "answer"
    THANKS = "thanks"
    NOD = "nod"


@dataclass(frozen=True, slots=True)
class Said:
    """What a comment said, as those below it need it."""

    who: str
    kind: Kind
    topic: Topic
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is: who writes, below what, and who answers later."""

    who: str
    is_author: bool
    above: Said | None
    answered_by_author: bool
    answered_by_others: bool


@cache
def voices() -> dict[str, tuple[str, ...]]:
    """Return the sentences that sayings go into."""
    return {name: tuple(lines) for name, lines in load("voices").items()}


class Discussion:
    """One thread: its topics, and what was said in it."""

    def __init__(self, matter: Matter, topics: Sequence[Topic], kind: str) -> None:
        """Take up the topics, the nearest first; `kind` is how people talk in its forum."""
        self._matter, self._rng, self._kind = matter, matter.rng, kind
        self._near = [one for one in topics if not one.is_wide] or list(topics)
        self._wide = [one for one in topics if one.is_wide]
        self._used: set[str] = set()
        self._texts: set[str] = set()
        self._spoken: dict[str, int] = {}
        self._sides: dict[tuple[str, str], Kind] = {}

    def comment(self, turn: Turn) -> tuple[str, Said]:
        """Return a comment's text and what it said."""
        text, said = self._answer(turn, turn.above) if turn.above else self._open(turn)
        self._spoken[said.topic.about] = self._spoken.get(said.topic.about, 0) + 1
        return capital(text), said

    # Who opens

    def _open(self, turn: Turn) -> tuple[str, Said]:
        likes, minds, wonders = temper(turn.who).value
        topic = self._topic()
        kind = self._rng.choices((Kind.GOOD, Kind.BAD, Kind.ASK), (likes + 2, minds, wonders))[0]
        if kind is Kind.ASK and (asked := self._question(turn, topic, "ask")):
            return asked
        for other in (topic, *self._rng.sample(self._near, len(self._near)), *self._wide):
            if found := self._clause(turn.who, other, kind):
                return self._statement(turn, "state", other, *found)
        if asked := self._question(turn, topic, "ask"):
            return asked
        return self._nod(turn, "follow", topic)

    def _topic(self) -> Topic:
        pool = self._wide if self._wide and self._rng.random() > NEAR else self._near
        return min(
            self._rng.sample(pool, min(3, len(pool))),
            key=lambda one: self._spoken.get(one.about, 0),
        )

    def _statement(
        self, turn: Turn, voice: str, topic: Topic, side: Kind, clause: str
    ) -> tuple[str, Said]:
        texts = [self._voiced(voice, turn, topic, clause)]
        is_long = voice == "state"
        is_more = self._rng.random() < (SECOND if is_long else THIRD)
        if is_more and (more := self._clause(turn.who, topic, side, strict=True)):
            about = self._matter.fill(topic.about) or "-"
            if not (about in clause and about in more[1]):  # nobody names a thing twice
                texts.append(self._voiced("more", turn, topic, more[1]))
        if self._rng.random() < (LIVED if is_long else THIRD):
            texts.append(self._line(f"lived_{self._kind}", turn, topic))
        told = " ".join(capital(one) for one in texts if one)
        return told, Said(turn.who, side, topic)

    # Who answers

    def _answer(self, turn: Turn, above: Said) -> tuple[str, Said]:
        match above.kind:
            case Kind.ASK:
                return self._told(turn, above)
            case Kind.ASK_AUTHOR:
                if turn.is_author:
                    return self._told(turn, above)
                return self._argued(turn, above, "echo", "echo")
            case Kind.ANSWER:
                return self._line_of(turn, "thanks", above.topic, Kind.THANKS)
            case Kind.THANKS:
                voice = f"author_{self._kind}" if turn.is_author else "welcome"
                return self._line_of(turn, voice, above.topic, Kind.NOD)
            case _:
                return self._taken_up(turn, above)

    def _taken_up(self, turn: Turn, above: Said) -> tuple[str, Said]:
        chance = self._rng.random()
        if turn.is_author:
            if chance < AUTHOR_THANKS or above.kind is Kind.NOD:
                return self._line_of(turn, f"author_{self._kind}", above.topic, Kind.THANKS)
            if chance < AUTHOR_ASKS and (asked := self._question(turn, above.topic, "ask")):
                return asked
            return self._line_of(turn, f"author_{self._kind}", above.topic, Kind.THANKS)
        wonders = temper(turn.who).value[2]
        if chance < wonders / 14 and (asked := self._question(turn, above.topic, "ask")):
            return asked
        return self._argued(turn, above, "agree", "differ")

    def _argued(self, turn: Turn, above: Said, same: str, other: str) -> tuple[str, Said]:
        likes, minds, _ = temper(turn.who).value
        is_for = self._rng.random() * (likes + minds) < likes
        wanted = Kind.GOOD if is_for else Kind.BAD
        if above.kind in {Kind.GOOD, Kind.BAD} and self._rng.random() < 0.35:
            wanted = above.kind
        if found := self._clause(turn.who, above.topic, wanted):
            side, clause = found
            voice = same if side is above.kind or above.kind not in {Kind.GOOD, Kind.BAD} else other
            return self._statement(turn, voice, above.topic, side, clause)
        return self._nod(turn, "nod", above.topic)

    def _told(self, turn: Turn, above: Said) -> tuple[str, Said]:
        is_asking = turn.is_author and self._matter.draft.intent in ASKING
        if is_asking and above.kind is Kind.ASK:
            return self._nod(turn, "follow", above.topic)
        answer = self._matter.choose(above.answers, self._used)
        if answer is None:
            return self._nod(turn, "unsure", above.topic)
        voice = "author_answer" if turn.is_author else "answer"
        return (
            self._voiced(voice, turn, above.topic, answer, above.who),
            Said(turn.who, Kind.ANSWER, above.topic),
        )

    # What all need

    def _clause(
        self, who: str, topic: Topic, kind: Kind, *, strict: bool = False
    ) -> tuple[Kind, str] | None:
        """Return something to say of the topic; who has taken a side keeps it."""
        kind = self._sides.get((who, topic.about), kind)
        if kind not in {Kind.GOOD, Kind.BAD}:
            kind = Kind.GOOD
        is_bound = strict or (who, topic.about) in self._sides
        sides = (kind,) if is_bound else (kind, Kind.BAD if kind is Kind.GOOD else Kind.GOOD)
        for side in sides:
            pool = topic.good if side is Kind.GOOD else topic.bad
            if text := self._matter.choose(pool, self._used):
                self._sides[who, topic.about] = side
                return side, text
        return None

    def _question(self, turn: Turn, topic: Topic, voice: str) -> tuple[str, Said] | None:
        pools = []
        if topic.asks and not (turn.answered_by_author and not turn.answered_by_others):
            pools.append((Kind.ASK, topic.asks))
        if topic.author and not turn.is_author and not turn.answered_by_others:
            pools.append((Kind.ASK_AUTHOR, topic.author))
        if not pools:
            return None
        kind, pool = pools[-1]
        fresh = [one for one in pool if one[0] not in self._used]
        for question, answers in self._rng.sample(fresh, len(fresh)):
            if text := self._matter.fill(question):
                self._used.add(question)
                return self._voiced(voice, turn, topic, text), Said(turn.who, kind, topic, answers)
        return None

    def _nod(self, turn: Turn, voice: str, topic: Topic) -> tuple[str, Said]:
        return self._line_of(turn, voice, topic, Kind.NOD)

    def _line_of(self, turn: Turn, voice: str, topic: Topic, kind: Kind) -> tuple[str, Said]:
        told = self._line(voice, turn, topic)
        if self._rng.random() < TAIL:
            tail = "tail" if kind is Kind.THANKS else "back" if voice == "welcome" else ""
            told = f"{told} {self._line(tail, turn, topic)}" if tail else told
        return told, Said(turn.who, kind, topic)

    def _line(self, voice: str, turn: Turn, topic: Topic) -> str:
        return self._voiced(voice, turn, topic, "", plain=False)

    def _voiced(
        self, voice: str, turn: Turn, topic: Topic, clause: str, to: str = "", *, plain: bool = True
    ) -> str:
        """Return a sentence of that voice which nobody has said here."""
        pool = voices()[voice]
        about = self._matter.fill(topic.about) or ""
        name = to or (turn.above.who if turn.above else "")
        text = ""
        for _ in range(24):
            is_fact = self._kind == "learned" and voice == "state"  # no matter of opinion
            is_plain = plain and (is_fact or self._rng.random() < PLAIN)
            frame = "{c}" if is_plain else self._rng.choice(pool)
            if ("{about}" in frame and not about) or ("{name}" in frame and not name):
                continue
            found = self._matter.fill(
                frame.replace("{c}", clause)
                .replace("{C}", capital(clause))
                .replace("{about}", about)
                .replace("{About}", capital(about))
                .replace("{name}", f"@{name}")
            )
            if found is None:
                continue
            text = found
            if text not in self._texts:
                break
        self._texts.add(text)
        text = text.strip()
        return text if text.endswith((".", "!", "?", ")", '"')) else f"{text}."
