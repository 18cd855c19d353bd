"""What readers write below the articles: threads; some comments wait, some are spam."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from gazette.accounts import Account
from gazette.clock import NOW, OPENED
from gazette.sources import World, slug, vocabulary
from gazette.story import Story

TOTAL, SPAM, PENDING = 8000, 190, 140
DEEPEST = 4  # as thread_comments_depth has it
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1",
)


@dataclass(slots=True)
class Comment:
    """One row of wp_comments; `approved` is 1, 0 or spam."""

    story: Story
    date: datetime
    name: str
    email: str
    url: str
    address: str
    agent: str
    text: str
    approved: str
    parent: Comment | None
    account: int
    depth: int
    id: int = 0


class Readers:
    """Everybody who comments: the accounts, and some visitors who come back."""

    def __init__(self, rng: Random, world: World, accounts: Sequence[Account]) -> None:
        self._rng = rng
        self._accounts = [one for one in accounts if one.role == "subscriber"]
        self._guests = [
            (
                f"{rng.choice(world.first)} {rng.choice(world.last)[0]}.",
                f"reader{number}@example.org",
            )
            for number in range(240)
        ]

    def somebody(self, before: datetime) -> tuple[str, str, int]:
        """Return a name, an address and an account (0: a visitor)."""
        if self._rng.random() < 0.6:
            one = self._rng.choice(self._accounts)
            if one.since < before:
                return one.name, one.email, one.id
        return (*self._rng.choice(self._guests), 0)


def comments(world: World, stories: Sequence[Story], accounts: Sequence[Account]) -> list[Comment]:
    """Return all comments, oldest first, with ids."""
    rng = Random("comments")
    says = vocabulary("talk")
    readers = Readers(rng, world, accounts)
    by_id = {one.id: one for one in accounts}
    weights = [rng.paretovariate(1.3) if rng.random() < 0.86 else 0.0 for _ in stories]
    shares = list(accumulate(min(weight, 9.0) for weight in weights))
    made: list[Comment] = []
    threads: dict[int, list[Comment]] = {}
    said: dict[int, set[str]] = {}
    while len(made) < TOTAL - SPAM:
        story = rng.choices(stories, cum_weights=shares)[0]
        thread = threads.setdefault(story.id, [])
        parent = rng.choice(thread) if thread and rng.random() < 0.38 else None
        if parent and parent.depth >= DEEPEST:
            parent = None
        words = _words(rng, says, story, parent)
        if words in said.setdefault(story.id, set()):
            continue
        said[story.id].add(words)
        date = min(
            (parent.date if parent else story.date)
            + timedelta(seconds=int(rng.expovariate(1 / 90000)) + 300),
            NOW - timedelta(seconds=rng.randrange(60, 86400)),
        )
        if date <= (parent.date if parent else story.date):
            continue
        name, email, account = readers.somebody(date)
        if parent and account == 0 and rng.random() < 0.15:
            writer = by_id[story.author]
            name, email, account = writer.name, writer.email, writer.id
            words = story.filler.one_of(says["reply"]["author"])
        thread.append(_comment(rng, story, date, (name, email, "", account), words, "1", parent))
        made.append(thread[-1])
    _hold(rng, made)
    for _ in range(SPAM):
        story = rng.choice(stories)
        date = story.date + (NOW - story.date) * rng.random()
        who = (
            rng.choice(("Best Offers", "seo expert", "Watches4U", "casino_king", "slim tea")),
            f"offer{rng.randrange(900)}@example.net",
            f"http://shop{rng.randrange(90)}.example.net/",
            0,
        )
        made.append(
            _comment(
                rng,
                story,
                date.replace(microsecond=0),
                who,
                rng.choice(says["spam"]["any"]),
                "spam",
                None,
            )
        )
    made.sort(key=lambda one: (one.date, one.story.id, one.text))
    for number, one in enumerate(made, start=1):
        one.id = number
        one.story.comments += one.approved == "1"
    return made


def _hold(rng: Random, made: list[Comment]) -> None:
    """Let comments of the last months wait: only such as nobody has answered."""
    answered = {id(one.parent) for one in made if one.parent}
    since = OPENED + (NOW - OPENED) * 0.8
    free = [
        one for one in made if id(one) not in answered and one.date > since and one.account == 0
    ]
    for one in rng.sample(free, PENDING):
        one.approved = "0"


def _words(rng: Random, says: dict[str, Any], story: Story, parent: Comment | None) -> str:
    if parent:
        sentences = [rng.choice(says["reply"]["any"])]
        if rng.random() < 0.3:
            sentences.append(rng.choice(says["say"][story.talk]))
    else:
        own = says["say"].get(story.talk, says["say"]["any"])
        sentences = [rng.choice(own if rng.random() < 0.7 else says["say"]["any"])]
        if story.more_talk and rng.random() < 0.6:
            sentences.insert(0, rng.choice(story.more_talk))
        if rng.random() < 0.35:
            sentences.append(rng.choice(says["say"]["any"]))
    return " ".join(dict.fromkeys(story.filler.say(one) for one in sentences))


def _comment(
    rng: Random,
    story: Story,
    date: datetime,
    who: tuple[str, str, str, int],
    words: str,
    approved: str,
    parent: Comment | None,
) -> Comment:
    name, email, url, account = who
    address = f"192.0.2.{sum(map(ord, slug(name))) % 250 + 2}"
    depth = parent.depth + 1 if parent else 1
    return Comment(
        story,
        date,
        name,
        email,
        url,
        address,
        rng.choice(AGENTS),
        words,
        approved,
        parent,
        account,
        depth,
    )
