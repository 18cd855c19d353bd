"""What members and moderators do in the forum, each to its end."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.shop import png
from mutations.subject import Subject
from mutations.visitor import Visitor

MEMBER: Final = "member"
MODERATOR: Final = "moderator"
# Forums that the moderator keeps; in none of them the member is banned.
_KEPT: Final = ("coffee", "fountainpens")
_THREAD: Final = re.compile(r'href="(/f/\w+/(\d+)/[\w-]+)"')


def threads_of(visitor: Visitor, forum: str) -> list[str]:
    """Return the paths of the submissions that a forum's page of the newest ones lists."""
    page = visitor.open(f"/f/{forum}/new").text
    return sorted({path for path, _ in _THREAD.findall(page)})


async def _submit(subject: Subject, dice: Random) -> str:
    forum, title = dice.choice(_KEPT), word(dice)

    def submit(visitor: Visitor) -> None:
        form = visitor.open(f"/submit/{forum}")
        sent = {"submission[title]": title, "submission[body]": title, "submission[forum]": forum}
        page = visitor.send(form, "submission[title]", sent)
        assert title in page.text, f"no '{title}' on {page.url}"

    await subject.http(MEMBER, submit)
    return f"'{title}' in {forum}"


async def _picture(subject: Subject, dice: Random) -> str:
    forum, title, picture = dice.choice(_KEPT), word(dice), png(dice)

    def submit(visitor: Visitor) -> str:
        form = visitor.open(f"/submit/{forum}")
        sent = {"submission[title]": title, "submission[forum]": forum}
        files = {"submission[image]": (f"{title}.png", picture, "image/png")}
        page = visitor.send(form, "submission[title]", sent, files)
        found = re.search(r'<img src="(/submission_images/[^"]+)" alt="' + title, page.text)
        assert found, f"no picture '{title}' on {page.url}"
        assert visitor.open(found.group(1)).content == picture, found.group(1)
        return found.group(1)

    return await subject.http(MEMBER, submit)


async def _comment(subject: Subject, dice: Random) -> str:
    forum, text = dice.choice(_KEPT), word(dice)

    def comment(visitor: Visitor) -> str:
        path = dice.choice(threads_of(visitor, forum))
        sent = {"reply_to_submission[comment]": text}
        page = visitor.send(visitor.open(path), f"{path}/comment", sent)
        assert text in page.text, f"no '{text}' on {page.url}"
        return path

    return f"'{text}' on {await subject.http(MODERATOR, comment)}"


async def _vote(subject: Subject, dice: Random) -> str:
    forum = dice.choice(_KEPT)

    def vote(visitor: Visitor) -> str:
        path = dice.choice(threads_of(visitor, forum))
        number = path.split("/")[3]
        before = visitor.open(f"/f/{forum}/{number}.json").json()
        choice = dice.choice(("1", "-1"))
        visitor.send(visitor.open(path), f"/sv/{number}", {"choice": choice})
        after = visitor.open(f"/f/{forum}/{number}.json").json()
        if after["netScore"] == before["netScore"]:  # it had that vote of theirs already
            visitor.send(visitor.open(path), f"/sv/{number}", {"choice": "0"})
            after = visitor.open(f"/f/{forum}/{number}.json").json()
        assert after["netScore"] != before["netScore"], f"{path}: {after['netScore']}"
        return f"{path}: {before['netScore']}, now {after['netScore']}"

    return await subject.http(MEMBER, vote)


async def _biography(subject: Subject, dice: Random) -> str:
    text = word(dice)

    def write(visitor: Visitor) -> None:
        form = visitor.open("/user/anna_fairweather/edit_biography")
        page = visitor.send(form, "user_biography[biography]", {"user_biography[biography]": text})
        assert text in page.text, f"no '{text}' on {page.url}"

    await subject.http(MEMBER, write)
    return f"'{text}'"


async def _sidebar(subject: Subject, dice: Random) -> str:
    forum, text = dice.choice(_KEPT), word(dice)

    def edit(visitor: Visitor) -> None:
        form = visitor.open(f"/f/{forum}/edit")
        visitor.send(form, "forum[sidebar]", {"forum[sidebar]": text})
        assert text in visitor.open(f"/f/{forum}").text, f"no '{text}' beside /f/{forum}"

    await subject.http(MODERATOR, edit)
    return f"'{text}' beside {forum}"


async def _register(subject: Subject, dice: Random) -> str:
    name = word(dice)

    def register(visitor: Visitor) -> None:
        sent = {"user[username]": name, "user[password]": name, "user[repeat]": name}
        visitor.send(visitor.open("/registration"), "user[username]", sent)
        assert name in visitor.open(f"/user/{name}/account").text, f"{name} is not logged in"

    await subject.http(None, register)
    return name


FORUM = (
    Mutation("submission", Kind.HTTP, _submit),
    Mutation("picture", Kind.HTTP, _picture),
    Mutation("comment", Kind.HTTP, _comment),
    Mutation("vote", Kind.HTTP, _vote),
    Mutation("biography", Kind.HTTP, _biography),
    Mutation("sidebar", Kind.HTTP, _sidebar),
    Mutation("registration", Kind.HTTP, _register),
)
