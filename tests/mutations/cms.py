"""What authors, readers and programs do at the newspaper, each to its end."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.shop import png
from mutations.subject import Subject
from mutations.visitor import Visitor

AUTHOR: Final = "author"
EDITOR: Final = "editor"
PROGRAM: Final = "administrator"
# Articles that take comments.
_ARTICLES: Final = (2500, 2499, 2498, 2497, 2496)


async def _comment(subject: Subject, dice: Random) -> str:
    article, text = dice.choice(_ARTICLES), word(dice)

    def comment(visitor: Visitor) -> None:
        form = visitor.open(f"/?p={article}")
        page = visitor.send(form, "commentform", {"comment": text})
        assert text in page.text, f"no '{text}' on {page.url}"

    await subject.http(AUTHOR, comment)
    return f"'{text}' on {article}"


async def _biography(subject: Subject, dice: Random) -> str:
    text = word(dice)

    def write(visitor: Visitor) -> None:
        form = visitor.open("/wp-admin/profile.php")
        page = visitor.send(form, "your-profile", {"description": text})
        assert text in page.text, f"no '{text}' on {page.url}"

    await subject.http(EDITOR, write)
    return f"'{text}'"


async def _publish(subject: Subject, dice: Random) -> str:
    title = word(dice)
    sent = {"title": title, "content": title, "status": "publish"}
    made = await _told(subject, "/wp-json/wp/v2/posts", json=sent)
    assert made["title"]["raw"] == title, made
    return f"'{title}' is {made['id']}"


async def _retitle(subject: Subject, dice: Random) -> str:
    article, title = dice.choice(_ARTICLES), word(dice)
    made = await _told(subject, f"/wp-json/wp/v2/posts/{article}", json={"title": title})
    assert made["title"]["raw"] == title, made
    return f"{article} is '{title}'"


async def _upload(subject: Subject, dice: Random) -> str:
    name = f"{word(dice)}.png"
    headers = {"Content-Type": "image/png", "Content-Disposition": f'attachment; filename="{name}"'}
    made = await _told(subject, "/wp-json/wp/v2/media", data=png(dice), headers=headers)
    path = f"{subject.folder}/{made['media_details']['file']}"
    assert (await subject.shell('ls "$1"', path)).strip() == path
    return path


async def _told(
    subject: Subject, path: str, *, headers: dict[str, str] | None = None, **body: Any
) -> Any:
    """Send something to the REST API with the administrator's application password."""
    api = subject.replica.site.roles[PROGRAM].api
    assert api is not None

    def send(visitor: Visitor) -> Any:
        answer = visitor.session.post(
            visitor.client.url(path),
            headers={**api.headers(), **(headers or {})},
            timeout=30,
            **body,
        )
        assert answer.ok, f"{path}: {answer.status_code} {answer.text[:300]}"
        return answer.json()

    return await subject.http(None, send)


CMS = (
    Mutation("comment", Kind.HTTP, _comment),
    Mutation("biography", Kind.HTTP, _biography),
    Mutation("article", Kind.HTTP, _publish),
    Mutation("title", Kind.HTTP, _retitle),
    Mutation("picture", Kind.HTTP, _upload),
)
