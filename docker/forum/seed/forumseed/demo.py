"""What belongs to the accounts that people log in as: votes, messages and blocks."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from waypost.clock import NOW
from waypost.models import Block, CommentVote, Message, SubmissionVote, Thread

from forumseed.comments import Remark
from forumseed.context import Context
from forumseed.people import DEMO, MEMBER, MODERATOR
from forumseed.phrases import fill
from forumseed.places import Place
from forumseed.rows import bulk
from forumseed.threads import Draft

VOTES = {MODERATOR: (60, 120), MEMBER: (160, 320)}  # on submissions, on comments
THREADS = {MODERATOR: 7, MEMBER: 12}
UNREAD = timedelta(hours=36)


def cast_votes(drafts: list[Draft], remarks: list[Remark]) -> list[tuple[type, list[Any]]]:
    """Choose the demo accounts' votes and count them; return the rows, to insert after all else.

    What an account wrote itself it has voted for, as with everything written later.
    """
    rows: list[tuple[type, list[Any]]] = []
    for table, written, place in ((SubmissionVote, drafts, 0), (CommentVote, remarks, 1)):
        made = []
        for member in DEMO:
            rng = Random(f"forum/votes/{member}/{place}")
            own = [one for one in written if one.author == member]
            made += [(member, one, 1) for one in own]
            wanted = VOTES.get(member, (0, 0))[place]
            others = [
                one for one in written if one.author != member and one.visibility == "visible"
            ]
            for one in rng.sample(others, wanted):
                choice = 1 if rng.random() < 0.8 else -1
                one.ups += choice == 1
                one.downs += choice == -1
                made.append((member, one, choice))
        made.sort(key=lambda vote: (vote[1].created, vote[1].id, vote[0]))
        rows.append(
            (table, [
                table(target_id=one.id, member_id=member, choice=choice, created=one.created)
                for member, one, choice in made
            ])
        )  # fmt: skip
    return rows


def read_up_to(remarks: list[Remark]) -> int:
    """Return the id of the last comment before everybody's notifications begin."""
    return max(one.id for one in remarks if one.created < NOW - UNREAD)


def write_messages(names: list[str], places: list[Place], words: dict[str, Any]) -> None:
    """Insert the demo accounts' conversations and whom they block."""
    rng = Random("forum/messages")
    threads, messages = [], []
    for member, count in THREADS.items():
        for other in rng.sample(range(len(DEMO) + 1, len(names) + 1), count):
            context = Context.of(rng.choice(places).setting, rng, lambda: "")
            starter, receiver = (member, other) if rng.random() < 0.4 else (other, member)
            moment = NOW - timedelta(days=rng.randint(1, 300), minutes=rng.randrange(1440))
            title = fill(rng.choice(words["message"]["title"]), rng, context)
            thread = Thread(title=title, starter_id=starter, receiver_id=receiver)
            threads.append(thread)
            said = ["body", *(["reply"] * rng.randint(0, 4))]
            for number, kind in enumerate(said):
                sender = (starter, receiver)[number % 2]
                context.user = names[(receiver, starter)[number % 2] - 1]
                text = fill(rng.choice(words["message"][kind]), rng, context)
                messages.append((thread, Message(sender_id=sender, body=text, created=moment)))
                thread.last_active = moment
                moment = min(
                    moment + timedelta(hours=rng.randint(1, 40)), NOW - timedelta(minutes=9)
                )
    threads.sort(key=lambda thread: thread.last_active)
    for number, thread in enumerate(threads, start=1):
        thread.id = number
    bulk(Thread, threads)
    messages.sort(key=lambda pair: (pair[1].created, pair[0].id))
    for thread, message in messages:
        message.thread_id = thread.id
    bulk(Message, [message for _, message in messages])
    bulk(
        Block,
        [
            Block(blocker_id=MEMBER, blocked_id=777, comment="Sends the same link every week",
                  created=NOW - timedelta(days=40)),
            Block(blocker_id=MODERATOR, blocked_id=1234, comment="",
                  created=NOW - timedelta(days=12)),
        ],
    )  # fmt: skip
