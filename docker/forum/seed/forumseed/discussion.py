"""How a thread is talked through: every comment knows what it answers and who will answer it."""

from __future__ import annotations

import re
from collections import Counter
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

JOIN = "join"  # how people talk where somebody asks for company
LONG = 8  # sentences, after which people come to speak of other things
PLAIN = 0.3  # how often a saying stands by itself
SECOND, THIRD, LIVED = 0.42, 0.12, 0.3
NEAR = 0.86  # how often one speaks of what the thread is on
ASKING = frozenset({"advice", "problem", "visit", "live", "ask"})  # whose author knows no answer
QUOTED = 0.35  # how often one who adds nothing names the point that was made
POINT = (3, 11)  # words
BEGUN = re.compile(r"(?:on mine|on ours|with mine|after a while) ")
ELSE = 0.5  # how often one who cannot add to a point speaks of another instead
OWN = re.compile(r"(?:i|we|my|mine|ours)\b", re.IGNORECASE)  # what nobody else can have said
# What is said to the author alone, and what is no point.
TO_AUTHOR = re.compile(
    r"(?:thank|you|your|good to hear|full marks|enjoy|lovely|count me|put me) ?\b"
)
ASKS = re.compile(
    r"(?:have|do|did|are|is|was|were|would|could) (?:you|there|it|that)\b", re.IGNORECASE
)
OPEN = re.compile(
    r"(?:if|when|for|in|with|after|at|by|on|whatever|unless|as|the first|and) ", re.IGNORECASE
)
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
    FOLLOW = "follow"  # nothing was said of the matter


@dataclass(frozen=True, slots=True)
class Said:
    """What a comment said, as those below it need it."""

    who: str
    kind: Kind
    topic: Topic
    answers: tuple[str, ...] = ()
    point: str = ""  # a few of its words, to be quoted


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


def _point(clause: str) -> str:
    """Return what may be quoted of a saying: its first part, or all of it where that is no end."""
    text = BEGUN.sub("", clause, count=1)
    if not OPEN.match(text):
        text = re.split(r"[,;:]|\. ", text)[0]
    text = text.rstrip(".!?")
    least, most = POINT
    if ASKS.match(text) or OWN.match(text):
        return ""
    return text if least <= len(text.split()) <= most and not set('"():') & set(text) else ""


def _fits(frame: str, clause: str, slots: dict[str, str]) -> bool:
    """Tell whether a saying can stand in the frame: there is all that it names, and it reads well."""
    if any(slot in frame and not value for slot, value in slots.items()):
        return False
    if OWN.match(clause) and "{kin}" in frame.lower():
        return False
    is_short_ended = len(clause.rpartition(",")[2].split()) < 4
    return not (":" in clause and ":" in frame) and not (
        frame.startswith("{c},") and is_short_ended and "," in clause
    )


class Discussion:
    """One thread: its topics, and what was said in it."""

    def __init__(
        self, matter: Matter, topics: Sequence[Topic], kind: str, afield: Sequence[Topic] = ()
    ) -> None:
        """Take up the topics, the nearest first; `kind` is how people talk in its forum.

        `afield` is what they come to when everything has been said.
        """
        self._matter, self._rng, self._kind = matter, matter.rng, kind
        self._near = [one for one in topics if not one.is_wide] or list(topics)
        self._wide = [one for one in topics if one.is_wide]
        self._afield = [] if kind == JOIN else list(afield)
        self._used: set[str] = set()
        self._texts: set[str] = set()
        self._framed: Counter[str] = Counter()
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
        if kind is Kind.ASK and (asked := self._question(turn, topic)):
            return asked
        for other in (topic, *self._rng.sample(self._near, len(self._near)), *self._wide):
            if found := self._clause(turn.who, other, kind):
                return self._statement(turn, "state", other, *found)
        if asked := self._question(turn, topic):
            return asked
        return self._elsewhere(turn) or self._follow(turn, f"follow_{self._kind}", topic)

    def _elsewhere(self, turn: Turn) -> tuple[str, Said] | None:
        """Return something on what is only akin, once the thread has run long."""
        if len(self._texts) > LONG:
            for topic in self._rng.sample(self._afield, min(4, len(self._afield))):
                if found := self._clause(turn.who, topic, Kind.GOOD, to_author=False):
                    return self._statement(turn, "afield", topic, *found)
        return None

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
        return told, Said(turn.who, side, topic, point=_point(clause))

    # Who answers

    def _answer(self, turn: Turn, above: Said) -> tuple[str, Said]:
        match above.kind:
            case Kind.ASK:
                told = self._told(turn, above)
            case Kind.ASK_AUTHOR if turn.is_author:
                told = self._told(turn, above)
            case Kind.ASK_AUTHOR:
                told = self._argued(turn, above, "echo", "echo")
            case Kind.ANSWER:
                told = self._thanks(turn, "thanks", above.topic)
            case Kind.THANKS:
                told = self._nod(turn, "welcome", above.topic)
            case Kind.NOD | Kind.FOLLOW if turn.is_author:
                voice = "author_join" if self._kind == JOIN else "host"
                told = self._nod(turn, voice, above.topic)
            case Kind.FOLLOW:
                told = self._started(turn, above)
            case _:
                told = self._taken_up(turn, above)
        return told

    def _taken_up(self, turn: Turn, above: Said) -> tuple[str, Said]:
        chance = self._rng.random()
        if turn.is_author:
            if chance < AUTHOR_THANKS:
                return self._thanks(turn, self._or_point(turn, "author"), above.topic)
            if chance < AUTHOR_ASKS and (asked := self._question(turn, above.topic)):
                return asked
            return self._thanks(turn, self._or_point(turn, "author"), above.topic)
        wonders = temper(turn.who).value[2]
        if chance < wonders / 14 and (asked := self._question(turn, above.topic)):
            return asked
        return self._argued(turn, above, "agree", "differ")

    def _started(self, turn: Turn, above: Said) -> tuple[str, Said]:
        topic = self._topic()
        if found := self._clause(turn.who, topic, Kind.GOOD, to_author=False):
            return self._statement(turn, "start", topic, *found)
        return self._elsewhere(turn) or self._follow(turn, "too", above.topic)

    def _argued(self, turn: Turn, above: Said, same: str, other: str) -> tuple[str, Said]:
        likes, minds, _ = temper(turn.who).value
        is_for = self._rng.random() * (likes + minds) < likes
        wanted = Kind.GOOD if is_for else Kind.BAD
        if above.kind in {Kind.GOOD, Kind.BAD} and self._rng.random() < 0.35:
            wanted = above.kind
        found = self._clause(turn.who, above.topic, wanted, to_author=False)
        if found and self._kind != JOIN:
            side, clause = found
            voice = same if side is above.kind or above.kind not in {Kind.GOOD, Kind.BAD} else other
            return self._statement(turn, voice, above.topic, side, clause)
        if above.kind is Kind.ASK_AUTHOR:
            return self._follow(turn, "wonder", above.topic)
        if self._kind == JOIN:
            return self._nod(turn, "nod_join", above.topic)
        other = self._topic()
        is_else = other.about != above.topic.about and self._rng.random() < ELSE
        if is_else and (found := self._clause(turn.who, other, wanted, to_author=False)):
            return self._statement(turn, "aside", other, *found)
        if self._rng.random() < ELSE and (told := self._elsewhere(turn)):
            return told
        return self._nod(turn, self._or_point(turn, "nod"), above.topic)

    def _told(self, turn: Turn, above: Said) -> tuple[str, Said]:
        is_asking = turn.is_author and self._matter.draft.intent in ASKING
        if is_asking and above.kind is Kind.ASK:
            return self._follow(turn, "wonder", above.topic)
        answer = self._matter.choose(above.answers, self._used)
        if answer is None:
            return self._follow(turn, "unsure", above.topic)
        voice = "author_answer" if turn.is_author else "answer"
        return (
            self._voiced(voice, turn, above.topic, answer, above.who),
            Said(turn.who, Kind.ANSWER, above.topic, point=_point(answer)),
        )

    # What all need

    def _clause(
        self, who: str, topic: Topic, kind: Kind, *, strict: bool = False, to_author: bool = True
    ) -> tuple[Kind, str] | None:
        """Return something to say of the topic; who has taken a side keeps it."""
        kind = self._sides.get((who, topic.about), kind)
        if kind not in {Kind.GOOD, Kind.BAD}:
            kind = Kind.GOOD
        is_bound = strict or (who, topic.about) in self._sides
        sides = (kind,) if is_bound else (kind, Kind.BAD if kind is Kind.GOOD else Kind.GOOD)
        for side in sides:
            pool = topic.good if side is Kind.GOOD else topic.bad
            pool = [one for one in pool if to_author or not TO_AUTHOR.match(one)]
            if text := self._matter.choose(pool, self._used):
                self._sides[who, topic.about] = side
                return side, text
        return None

    def _question(self, turn: Turn, topic: Topic) -> tuple[str, Said] | None:
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
                voice = "ask" if kind is Kind.ASK else "ask_author"
                return self._voiced(voice, turn, topic, text), Said(turn.who, kind, topic, answers)
        return None

    def _nod(self, turn: Turn, voice: str, topic: Topic) -> tuple[str, Said]:
        return self._line(voice, turn, topic), Said(turn.who, Kind.NOD, topic)

    def _follow(self, turn: Turn, voice: str, topic: Topic) -> tuple[str, Said]:
        return self._line(voice, turn, topic), Said(turn.who, Kind.FOLLOW, topic)

    def _thanks(self, turn: Turn, voice: str, topic: Topic) -> tuple[str, Said]:
        return self._line(voice, turn, topic), Said(turn.who, Kind.THANKS, topic)

    def _or_point(self, turn: Turn, voice: str) -> str:
        """Return the voice of who names the point that was made, or that of the forum's kind."""
        is_said = turn.above and turn.above.point and self._kind != JOIN
        if is_said and self._rng.random() < QUOTED:
            return "point" if voice == "nod" else voice
        return f"{voice}_{self._kind}"

    def _line(self, voice: str, turn: Turn, topic: Topic) -> str:
        return self._voiced(voice, turn, topic, "", plain=False)

    def _voiced(
        self, voice: str, turn: Turn, topic: Topic, clause: str, to: str = "", *, plain: bool = True
    ) -> str:
        """Return a sentence of that voice which nobody has said here."""
        pool = [*voices()[voice], *voices().get(f"{voice}_{self._kind}", ()) * (voice == "ask")]
        about = self._matter.fill(topic.about) or ""
        slots = {
            "{about}": about,
            "{name}": to or (turn.above.who if turn.above else ""),
            "{q}": turn.above.point if turn.above else "",
        }
        fitting = [one for one in pool if _fits(one, clause, slots)]
        fitting.sort(key=lambda one: (self._framed[one], self._rng.random()))
        is_bare = voice == "state" and self._kind in {"learned", JOIN}  # no matter of opinion
        if plain and (is_bare or not fitting or self._rng.random() < PLAIN):
            fitting.insert(0, "{c}")
        text = ""
        for frame in fitting:
            found = self._matter.fill(
                frame.replace("{c}", clause)
                .replace("{C}", capital(clause))
                .replace("{q}", slots["{q}"])
                .replace("{about}", about)
                .replace("{About}", capital(about))
                .replace("{name}", f"@{slots['{name}']}")
            )
            if found is None:
                continue
            text = found
            if text not in self._texts:
                self._framed[frame] += 1
                break
        self._texts.add(text)
        text = text.strip()
        return text if text.endswith((".", "!", "?", ")", '"')) else f"{text}."
