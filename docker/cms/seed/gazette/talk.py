"""What readers write below the articles: threads; some comments wait, some are spam."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

from gazette.accounts import Account
from gazette.clock import NOW, OPENED
from gazette.sources import HERE, Kind, Point, Remark, Talk, World, points, slug, vocabulary
from gazette.story import Story

TOTAL, SPAM, PENDING = 8000, 190, 140
DEEPEST = 4  # as thread_comments_depth has it
LATE = timedelta(days=4)
SENTENCES, HOW_OFTEN = (1, 2, 3), (56, 34, 10)
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1",
)


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who comments; account 0 is a visitor."""

    name: str
    email: str
    account: int = 0
    url: str = ""

    @property
    def address(self) -> str:
        """Return what others call them: the first name."""
        return self.name.split()[0]


@dataclass(slots=True)
class Comment:
    """One row of wp_comments; `approved` is 1, 0 or spam."""

    story: Story
    date: datetime
    reader: Reader
    address: str
    agent: str
    text: str
    approved: str
    parent: Comment | None
    depth: int
    remark: Remark | None = None
    count: int = 0  # of its sentences, where it answers nobody
    is_kept: bool = False
    id: int = 0

    @property
    def name(self) -> str:
        """Return the name that stands above it."""
        return self.reader.name


class Readers:
    """Everybody who comments: the accounts, and some visitors who come back."""

    def __init__(self, rng: Random, world: World, accounts: Sequence[Account]) -> None:
        self._rng = rng
        self._accounts = [one for one in accounts if one.role == "subscriber"]
        self._guests = [
            Reader(
                f"{rng.choice(world.first)} {rng.choice(world.last)[0]}.",
                f"reader{number}@example.org",
            )
            for number in range(240)
        ]

    def somebody(self, before: datetime, but: Reader | None) -> Reader:
        """Return a reader other than the one who is answered."""
        while True:
            found = self._guests[self._rng.randrange(len(self._guests))]
            if self._rng.random() < 0.6:
                one = self._rng.choice(self._accounts)
                if one.since < before:
                    found = Reader(one.name, one.email, one.id)
            if but is None or found.address != but.address:
                return found


@cache
def bank() -> Mapping[str, tuple[Point, ...]]:
    """Return what may be said of stories, by their talk."""
    folder = HERE / "vocabulary" / "remarks"
    return {
        talk: points(tables)
        for path in sorted(folder.glob("*.toml"))
        for talk, tables in vocabulary(f"remarks/{path.stem}").items()
    }


class Thread:
    """The comments of one story."""

    def __init__(
        self, rng: Random, story: Story, readers: Readers, staff: Mapping[int, Account]
    ) -> None:
        self._rng, self._story, self._readers = rng, story, readers
        writer = staff[story.author]
        self._writer = Reader(writer.name, writer.email, writer.id)
        points = () if story.kind else story.points
        points = (*bank()[story.talk], *points)
        self._talk = Talk(Random(f"talk/{story.id}"), points, story.filler.known)
        self._begins = story.date
        self.comments: list[Comment] = []

    def keep(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add comments by those whom tasks ask for: a name, an address, a time, what is answered."""
        for row in rows:
            parent = self.comments[row["below"] - 1] if "below" in row else None
            reader = Reader(row["name"], row["email"], row.get("account", 0))
            self._add(reader, row["date"], parent)
            self.comments[-1].is_kept = True
            if row.get("waits"):
                self.comments[-1].approved = "0"
        self._begins = max([self._begins, *(one.date for one in self.comments)])

    def grow(self) -> None:
        """Add a comment, if there is still time for one."""
        rng = self._rng
        open_ones = [one for one in self.comments if one.depth < DEEPEST and one.approved == "1"]
        parent = rng.choice(open_ones) if open_ones and rng.random() < 0.42 else None
        begun = parent.date if parent else self._begins
        date = min(
            begun + timedelta(seconds=int(rng.expovariate(1 / 90000)) + 300),
            NOW - timedelta(seconds=rng.randrange(60, 86400)),
        )
        if date > begun:
            self._add(self._who(date, parent), date, parent)

    def _who(self, date: datetime, parent: Comment | None) -> Reader:
        if parent is None:
            return self._readers.somebody(date, None)
        is_told = parent.remark and parent.remark.kind in {Kind.ANSWER, Kind.THANKS}
        if is_told and parent.parent and self._rng.random() < 0.7:
            return parent.parent.reader  # who asked says thank you
        if parent.reader != self._writer and self._rng.random() < 0.09:
            return self._writer
        return self._readers.somebody(date, parent.reader)

    def _add(self, reader: Reader, date: datetime, parent: Comment | None) -> None:
        count = 0 if parent else self._rng.choices(SENTENCES, weights=HOW_OFTEN)[0]
        made = _comment(self._rng, self._story, date, reader, "", "1", parent)
        made.count = count
        self._say(made)
        self.comments.append(made)

    def _say(self, one: Comment) -> None:
        who, parent = one.reader.address, one.parent
        if parent and parent.remark:
            is_staff = one.reader == self._writer
            one.text, one.remark = self._talk.reply(who, parent.remark, is_staff=is_staff)
        else:
            is_late = one.date - self._story.date > LATE
            one.text, one.remark = self._talk.open(who, is_late=is_late, count=one.count)

    def say_again(self) -> None:
        """Let all speak of what the story says now that it has its words, in the same order."""
        story = self._story
        if story.told:
            is_apart = story.kind and story.points  # such as recipes, which have all of their own
            held = story.points if is_apart else (*bank()[story.talk], *story.points)
            self._talk = Talk(Random(f"told/{story.id}"), held, story.told.known)
            for one in self.comments:
                self._say(one)


def comments(world: World, stories: Sequence[Story], accounts: Sequence[Account]) -> list[Comment]:
    """Return all comments, oldest first, with ids."""
    rng = Random("comments/7")
    says = vocabulary("talk")
    readers = Readers(rng, world, accounts)
    by_id = {one.id: one for one in accounts}
    threads = {one.title: Thread(rng, one, readers, by_id) for one in stories}
    kept = {one["article"]: one for one in says["kept"]}
    for title, one in kept.items():
        threads[title].keep(one["comments"])
    free = [one for one in stories if not kept.get(one.title, {}).get("is_all")]
    weights = [rng.paretovariate(1.3) if rng.random() < 0.86 else 0.0 for _ in free]
    shares = list(accumulate(min(weight, 9.0) for weight in weights))
    while lacking := _lacking(threads):
        for story in rng.choices(free, cum_weights=shares, k=lacking):
            threads[story.title].grow()
    made = list(_all(threads))
    _hold(rng, made)
    made += [_advertisement(rng, stories, says["spam"]["any"]) for _ in range(SPAM)]
    made.sort(key=lambda one: (one.date, one.story.id, one.text))
    for thread in threads.values():
        thread.say_again()
    for number, one in enumerate(made, start=1):
        one.id = number
        one.story.comments += one.approved == "1"
    return made


def _all(threads: Mapping[str, Thread]) -> Iterator[Comment]:
    for thread in threads.values():
        yield from thread.comments


def _lacking(threads: Mapping[str, Thread]) -> int:
    return TOTAL - SPAM - sum(len(one.comments) for one in threads.values())


def _advertisement(rng: Random, stories: Sequence[Story], texts: Sequence[str]) -> Comment:
    story = rng.choice(stories)
    date = story.date + (NOW - story.date) * rng.random()
    who = Reader(
        rng.choice(("Best Offers", "seo expert", "Watches4U", "casino_king", "slim tea")),
        f"offer{rng.randrange(900)}@example.net",
        url=f"http://shop{rng.randrange(90)}.example.net/",
    )
    return _comment(rng, story, date.replace(microsecond=0), who, rng.choice(texts), "spam", None)


def _hold(rng: Random, made: list[Comment]) -> None:
    """Let comments of the last months wait: only such as nobody has answered."""
    answered = {id(one.parent) for one in made if one.parent}
    since = OPENED + (NOW - OPENED) * 0.8
    held = sum(one.approved == "0" for one in made)
    free = [
        one
        for one in made
        if id(one) not in answered
        and one.date > since
        and one.reader.account == 0
        and one.approved == "1"
        and not one.is_kept
    ]
    for one in rng.sample(free, PENDING - held):
        one.approved = "0"


def _comment(
    rng: Random,
    story: Story,
    date: datetime,
    reader: Reader,
    words: str,
    approved: str,
    parent: Comment | None,
) -> Comment:
    address = f"192.0.2.{sum(map(ord, slug(reader.name))) % 250 + 2}"
    depth = parent.depth + 1 if parent else 1
    agent = rng.choice(AGENTS)
    return Comment(story, date, reader, address, agent, words, approved, parent, depth)
