"""What a visitor of the kiosk does."""

from __future__ import annotations

from random import Random

from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.subject import Subject
from mutations.visitor import Visitor


def post(visitor: Visitor, path: str, **fields: str) -> str:
    """Send a form that the kiosk has no page for; return what it answers."""
    answer = visitor.session.post(visitor.client.url(path), data=fields, timeout=30)
    assert answer.ok, f"{path}: {answer.status_code}"
    return answer.text


async def _note(subject: Subject, dice: Random) -> str:
    text = word(dice)
    await subject.http(None, lambda visitor: post(visitor, "/note", text=text))
    assert text in await subject.sql("SELECT text FROM note")
    return f"'{text}'"


async def _upload(subject: Subject, dice: Random) -> str:
    name = word(dice)
    await subject.http(None, lambda visitor: post(visitor, "/upload", name=name, text=name))
    assert await subject.shell('cat "$1/$2"', subject.folder, name) == name
    return name


KIOSK = (Mutation("note", Kind.HTTP, _note), Mutation("upload", Kind.HTTP, _upload))
