"""Who writes what to whom, and when: conversations that answer each other, and notices of sites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from officeseed import words
from officeseed.people import PEOPLE, Person

NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)
_NIGHT = 8
_SITES = {
    "shop": ("Harbour & Pine", "orders@harbourandpine.example"),
    "forge": ("Merrow Forge", "forge@forge.example"),
}


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail, as its sender wrote it.

    Attributes:
        sender: as a header names it.
        writer: who wrote it; None where a site did.
        answers: the one that it answers, or None.
        papers: keys of what hangs on it.
    """

    id: str
    topic: str
    subject: str
    sender: str
    writer: Person | None
    to: tuple[Person, ...]
    copies: tuple[Person, ...]
    at: datetime
    text: str
    answers: Letter | None = None
    papers: tuple[str, ...] = ()

    @property
    def thread(self) -> tuple[str, ...]:
        """The ids of all letters before it in its conversation."""
        return (*self.answers.thread, self.answers.id) if self.answers else ()

    @property
    def body(self) -> str:
        """The text, with what it answers below."""
        if self.answers is None:
            return self.text + self._signed
        quoted = "\n".join(f"> {line}".rstrip() for line in self.answers.text.splitlines())
        when = self.answers.at.strftime("%-d %B %Y, %H:%M")
        who = self.answers.writer.name if self.answers.writer else self.answers.sender
        return f"{self.text}{self._signed}\n\nOn {when}, {who} wrote:\n{quoted}"

    @property
    def _signed(self) -> str:
        return f"\n\n{self.writer.first}" if self.writer else ""


def letters() -> tuple[Letter, ...]:
    """Return every letter, in the order in which they were sent."""
    return tuple(sorted((*_drawn(), *_told(), *_notices()), key=lambda one: (one.at, one.id)))


def _drawn() -> Iterator[Letter]:
    for number, thread in enumerate(words("threads")["thread"]):
        dice = Random(f"office/{number}")
        slots = {
            name: values if thread.get("in_order") else dice.sample(values, len(values))
            for name, values in thread["slots"].items()
        }
        first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in thread["begin"])
        for turn, keys in enumerate(thread["casts"]):
            filled = {name: values[turn % len(values)] for name, values in slots.items()}
            cast = tuple(PEOPLE[key] for key in keys)
            share = (last - first) / len(thread["casts"])
            at = first + share * turn + share * dice.random()
            texts = _worded(thread, turn)
            yield from _held(f"{number:02d}-{turn}", thread, texts, cast, filled, at, dice)


def _worded(thread: dict[str, Any], turn: int) -> list[str]:
    """Return what the letters say this time: each conversation of a kind has words of its own."""
    return [
        (letter[2], *others)[turn % (1 + len(others))]
        for letter, others in zip(thread["letters"], thread["more"], strict=True)
    ]


def _held(
    key: str,
    thread: dict[str, Any],
    texts: list[str],
    cast: tuple[Person, ...],
    filled: dict[str, str],
    begin: datetime,
    dice: Random,
) -> Iterator[Letter]:
    """Hold a conversation once."""
    before: Letter | None = None
    at = begin.replace(hour=_NIGHT, minute=0, second=0, microsecond=0)
    at += timedelta(minutes=dice.randrange(0, 500))
    for place, (who, hours, _) in enumerate(thread["letters"]):
        writer = cast[who % len(cast)]
        at = _by_day(at + timedelta(hours=hours, minutes=dice.randrange(2, 50)), dice)
        if at >= NOW:
            return
        filled = {"week": str(at.isocalendar().week), **filled}  # in which the first was sent
        subject = thread["subject"].format(**filled)
        before = Letter(
            id=f"{at:%Y%m%d}.{key}.{place}@office.example",
            topic=thread["topic"],
            subject=f"Re: {subject}" if before else subject,
            sender=writer.written,
            writer=writer,
            to=tuple(one for one in cast if one != writer),
            copies=(),
            at=at,
            text=texts[place].format(**filled),
            answers=before,
        )
        yield before


def _by_day(at: datetime, dice: Random) -> datetime:
    """Nobody writes at night."""
    if _NIGHT <= at.hour < 20:
        return at
    morning = at if at.hour < _NIGHT else at + timedelta(days=1)
    return morning.replace(hour=_NIGHT, minute=dice.randrange(60))


def _told() -> Iterator[Letter]:
    for number, story in enumerate(words("stories")["story"]):
        before: Letter | None = None
        for place, one in enumerate(story["letters"]):
            writer = PEOPLE[one["from"]]
            before = Letter(
                id=f"{one['at']:%Y%m%d}.story{number:02d}.{place}@office.example",
                topic=story["topic"],
                subject=f"Re: {story['subject']}" if before else story["subject"],
                sender=writer.written,
                writer=writer,
                to=tuple(PEOPLE[key] for key in one["to"]),
                copies=tuple(PEOPLE[key] for key in one.get("copies", ())),
                at=one["at"].replace(tzinfo=UTC),
                text=one["text"],
                answers=before,
                papers=tuple(one.get("papers", ())),
            )
            yield before


def _notices() -> Iterator[Letter]:
    notices = words("notices")
    emma, margaret = PEOPLE["emma"], PEOPLE["margaret"]
    for one in notices["order"]:
        number, total = one["number"], one["total"]
        head = f"Dear {emma.name},\n\n"
        foot = f"\n\nhttp://shop.arena.test/accounts/orders/{number}/\n\nHarbour & Pine"
        yield _notice(
            "shop",
            "orders",
            f"order-{number}",
            f"Your order {number}",
            emma,
            one["placed"],
            f"{head}thank you for your order {number}:\n\n{one['goods']}\n\n"
            f"Total with shipping and tax: £{total}{foot}",
        )
        yield _notice(
            "shop",
            "orders",
            f"shipped-{number}",
            f"Order {number} is on its way",
            emma,
            one["shipped"],
            f"{head}we have handed your order {number} to the courier.{foot}",
        )
    for one in notices["sale"]:
        number = one["number"]
        yield _notice(
            "shop",
            "orders",
            f"sale-{number}",
            f"New order {number}",
            margaret,
            one["placed"],
            f"{one['customer']} has placed order {number} for £{one['total']}.\n\n"
            f"http://shop.arena.test/dashboard/orders/{number}/",
        )
    for one in notices["issue"]:
        number = one["number"]
        yield _notice(
            "forge",
            "forge",
            f"issue-{number}",
            f"[{one['project']} - Bug #{number}] {one['subject']}",
            PEOPLE[one["assignee"]],
            one["created"],
            f"Issue #{number} has been reported by {one['author']} and assigned to you.\n\n"
            f"{one['subject']}\n\nhttp://forge.arena.test/issues/{number}",
        )


def _notice(
    site: str, topic: str, key: str, subject: str, to: Person, at: datetime, text: str
) -> Letter:
    name, address = _SITES[site]
    return Letter(
        id=f"{key}@{address.partition('@')[2]}",
        topic=topic,
        subject=subject,
        sender=f'"{name}" <{address}>',
        writer=None,
        to=(to,),
        copies=(),
        at=at.replace(tzinfo=UTC),
        text=text,
    )
