"""The letters as files, where dovecot looks for them."""

from __future__ import annotations

import os
from collections import defaultdict
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from random import Random

from officeseed.letters import NOW, Letter, letters
from officeseed.papers import paper
from officeseed.people import PEOPLE, Person

_FILED = NOW - timedelta(days=14)  # what is older has been put away
_READ = NOW - timedelta(days=2)
_VALIDITY = 1790000000
_STANDING = ("Drafts", "Sent", "Trash", "Junk")


def write_mailboxes(root: Path) -> int:
    """Write all mailboxes; return how many letters there are."""
    every = letters()
    answered = {one.answers.id: one for one in every if one.answers}
    placed: dict[tuple[str, str], list[tuple[Letter, str]]] = defaultdict(list)
    for person in PEOPLE.values():
        for folder in ("INBOX", *_STANDING, *sorted(set(person.folders.values()))):
            placed[person.login, folder] = []
    dice = Random("office/read")
    for letter in every:
        if letter.writer:
            placed[letter.writer.login, "Sent"].append((letter, "S"))
        for person in (*letter.to, *letter.copies):
            was_answered = letter.id in answered and answered[letter.id].writer == person
            is_read = was_answered or letter.at < _READ or dice.random() < 0.3
            flags = ("R" if was_answered else "") + ("S" if is_read else "")
            placed[person.login, _folder(letter, person)].append((letter, flags))
    for (login, folder), kept in placed.items():
        _write_folder(root / login, folder, kept)
    for person in PEOPLE.values():
        names = sorted({folder for login, folder in placed if login == person.login})
        subscribed = "".join(f"{name}\n" for name in names if name != "INBOX")
        (root / person.login / "subscriptions").write_text(
            "V\t2\n\n" + subscribed.replace("/", "\t"), encoding="ascii"
        )
    return len(every)


def _folder(letter: Letter, person: Person) -> str:
    filed = person.folders.get(letter.topic)
    return filed if filed and letter.at < _FILED else "INBOX"


def _write_folder(mailbox: Path, folder: str, kept: list[tuple[Letter, str]]) -> None:
    here = mailbox if folder == "INBOX" else mailbox / f".{folder.replace('/', '.')}"
    for part in ("cur", "new", "tmp"):
        (here / part).mkdir(parents=True)
    if folder != "INBOX":
        (here / "maildirfolder").touch()
    names = []
    for number, (letter, flags) in enumerate(kept, start=1):
        content, moment = _content(letter), int(letter.at.timestamp())
        base = f"{moment}.M{number:06d}.office,S={len(content)}"
        path = here / "cur" / f"{base}:2,{flags}"
        path.write_bytes(content)
        os.utime(path, (moment, moment))
        names.append(base)
    _list_numbers(here, f"{mailbox.name}/{folder}", names)


def _list_numbers(here: Path, key: str, names: list[str]) -> None:
    """Say which number each mail has: dovecot would begin its list with the time of the build."""
    identity = sha256(f"office/{key}".encode()).hexdigest()[:32]
    lines = [f"3 V{_VALIDITY} N{len(names) + 1} G{identity}"]
    lines += [f"{number} :{name}" for number, name in enumerate(names, start=1)]
    (here / "dovecot-uidlist").write_text("\n".join(lines) + "\n", encoding="ascii")


def _content(letter: Letter) -> bytes:
    message = EmailMessage(policy=SMTP)
    message["Date"] = format_datetime(letter.at)
    message["From"] = letter.sender
    message["To"] = ", ".join(one.written for one in letter.to)
    if letter.copies:
        message["Cc"] = ", ".join(one.written for one in letter.copies)
    message["Subject"] = letter.subject
    message["Message-ID"] = f"<{letter.id}>"
    if letter.answers:
        message["In-Reply-To"] = f"<{letter.answers.id}>"
        message["References"] = " ".join(f"<{one}>" for one in letter.thread)
    message.set_content(letter.body)
    for key in letter.papers:
        content, kind, form, name = paper(key)
        message.add_attachment(content, maintype=kind, subtype=form, filename=name)
    if letter.papers:
        message.set_boundary(f"office-{letter.id.partition('@')[0]}")
    return message.as_bytes()
