"""The comments: the shape of every thread, then what is said."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from random import Random

from waypost import paths

from forumseed import timing
from forumseed.bodies import Earlier
from forumseed.discussion import JOIN, Discussion, Said, Turn
from forumseed.matter import Matter
from forumseed.remarks import afield, topics
from forumseed.threads import Crowd, Draft

COMMENTS = 100_000
MOST_IN_THREAD = 240
DEEPEST = 14
TOP = {"core": 62, "question": 10, "agree": 6, "joke": 7, "doubt": 7, "aside": 8}
REPLY = {"core": 30, "agree": 25, "doubt": 20, "question": 15, "joke": 10}
BY_AUTHOR = {"thanks": 45, "answer": 25, "question": 20, "joke": 10}
REFERS = 0.12  # of those who open: how many name an earlier thread on the same thing
ASIDES = (
    "There is an earlier thread on this: {}.", "See also {}.", "Some of this came up in {}.",
    "{} has more answers.", "Have you seen {}?", "We had this in {}, and it is worth reading.",
)  # fmt: skip


@dataclass(slots=True)
class Remark:
    """A comment to be; its id is its place in time."""

    draft: Draft
    parent: Remark | None
    author: int
    created: datetime
    kind: str
    level: int
    ups: int
    downs: int
    visibility: str
    id: int = 0
    path: str = ""
    body: str = ""
    said: Said | None = None


def _counts(drafts: list[Draft]) -> list[int]:
    rng = Random("forum/counts")
    weights = [draft.liking**0.75 * rng.lognormvariate(0, 0.9) for draft in drafts]
    weights = [
        0.0 if draft.liking < 2 and rng.random() < 0.2 else weight
        for draft, weight in zip(drafts, weights, strict=True)
    ]
    unit = COMMENTS / sum(weights)
    counts = [min(int(weight * unit), MOST_IN_THREAD) for weight in weights]
    numbers = [number for number, count in enumerate(counts) if count < MOST_IN_THREAD]
    left = [weights[number] + 0.01 for number in numbers]
    for number in rng.choices(numbers, weights=left, k=COMMENTS - sum(counts)):
        counts[number] += 1
    return counts


def plan(drafts: list[Draft], writers: dict[int, Crowd]) -> list[Remark]:
    """Return all comments in order of time, parents before answers, without their texts."""
    rng = Random("forum/comments")
    remarks: list[Remark] = []
    for draft, count in zip(drafts, _counts(drafts), strict=True):
        thread: list[Remark] = []
        for _ in range(count):
            thread.append(_remark(draft, thread, writers[draft.place.id], rng))
        remarks += thread
    order = sorted(range(len(remarks)), key=lambda number: (remarks[number].created, number))
    planned = [remarks[number] for number in order]
    for number, remark in enumerate(planned, start=1):
        remark.id = number
        remark.path = (remark.parent.path if remark.parent else "") + paths.step(number)
    return planned


def _remark(draft: Draft, thread: list[Remark], crowd: Crowd, rng: Random) -> Remark:
    parent = None
    if thread and rng.random() > 0.40:
        parent = rng.choice(thread[-7:] if rng.random() < 0.6 else thread)
        if parent.level >= DEEPEST:
            parent = None
    above = parent.author if parent else draft.author
    author = draft.author if parent and rng.random() < 0.22 else crowd.pick(rng)
    if author == above:
        author = crowd.pick(rng)
    chances = TOP if parent is None else BY_AUTHOR if author == draft.author else REPLY
    kind = rng.choices(list(chances), weights=list(chances.values()))[0]
    if parent and parent.kind == "question" and rng.random() < 0.8:
        kind = "answer"
    created = timing.answered(rng, parent.created if parent else draft.created)
    liking = (
        rng.lognormvariate(-0.6, 1.1)
        * (1 + min(draft.liking, 30) / 6)
        / (1 if parent is None else 2)
    )
    ups, downs = timing.votes(rng, liking, created, disputed=kind == "doubt" and rng.random() < 0.4)
    fate = rng.random()
    visibility = "removed" if fate < 0.006 else "deleted" if fate < 0.018 else "visible"
    level = parent.level + 1 if parent else 1
    return Remark(draft, parent, author, created, kind, level, ups, downs, visibility)


def write(remarks: list[Remark], names: list[str], drafts: list[Draft]) -> None:
    """Give every comment its text; it answers what stands above it."""
    rng = Random("forum/remarks")
    earlier = Earlier()
    for draft in drafts:
        earlier.add(draft)
    lengths = Counter(remark.draft.id for remark in remarks)
    below: dict[int, list[Remark]] = defaultdict(list)
    for remark in remarks:
        if remark.parent:
            below[remark.parent.id].append(remark)
    threads: dict[int, Discussion] = {}
    for remark in remarks:
        draft = remark.draft
        if draft.id not in threads:
            threads[draft.id] = _discussion(draft, lengths[draft.id])
        remark.body, remark.said = threads[draft.id].comment(_turn(remark, below[remark.id], names))
        is_aside = remark.parent is None and rng.random() < REFERS
        if is_aside and (link := earlier.link(draft, rng)):
            remark.body += " " + rng.choice(ASIDES).format(link)


def _discussion(draft: Draft, count: int) -> Discussion:
    matter = Matter(draft, "comments")
    is_fact = draft.intent == "fact" or draft.place.kind in {"learned", "made"}
    is_invitation = matter.holds("=looking_for_people") or matter.holds("=meet-up")
    kind = "learned" if is_fact else JOIN if is_invitation else draft.place.kind
    return Discussion(matter, topics(draft, matter, count), kind, afield(draft, matter))


def _turn(remark: Remark, below: list[Remark], names: list[str]) -> Turn:
    author = remark.draft.author
    return Turn(
        who=names[remark.author - 1],
        is_author=remark.author == author,
        above=remark.parent.said if remark.parent else None,
        answered_by_author=any(one.author == author for one in below),
        answered_by_others=any(one.author != author for one in below),
    )
