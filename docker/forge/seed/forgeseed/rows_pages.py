"""Rows of wiki pages, news and threads."""

from __future__ import annotations

from forgeseed.pages import Thread, news, threads, wiki
from forgeseed.projects import Project
from forgeseed.sources import vocabulary
from forgeseed.tables import Tables


def add_pages(tables: Tables, projects: tuple[Project, ...]) -> None:
    """Add what people wrote beside the issues."""
    for project in projects:
        tables.add("wikis", id=project.id, project_id=project.id, start_page="Wiki", status=1)
    _add_wiki(tables, projects)
    for item in news(projects):
        tables.add(
            "news", project_id=item.project.id, title=item.title, summary="", description=item.text,
            author_id=item.author.id, created_on=item.made, comments_count=0,
        )  # fmt: skip
    _add_boards(tables, projects)


def _add_wiki(tables: Tables, projects: tuple[Project, ...]) -> None:
    starts: dict[int, int] = {}
    for page in wiki(projects):
        made = page.versions[0][1]
        number = tables.count("wiki_pages") + 1
        tables.add(
            "wiki_pages", id=number, wiki_id=page.project.id, title=page.title, created_on=made,
            protected=False, parent_id=starts.get(page.project.id),
        )  # fmt: skip
        starts.setdefault(page.project.id, number)
        author, when, text, comment = page.versions[-1]
        tables.add(
            "wiki_contents", id=number, page_id=number, author_id=author.id, text=text,
            comments=comment, updated_on=when, version=len(page.versions),
        )  # fmt: skip
        for place, (author, when, text, comment) in enumerate(page.versions, start=1):
            tables.add(
                "wiki_content_versions", wiki_content_id=number, page_id=number,
                author_id=author.id, data=text, compression="", comments=comment, updated_on=when,
                version=place,
            )  # fmt: skip


def _add_boards(tables: Tables, projects: tuple[Project, ...]) -> None:
    grouped: dict[tuple[int, str], list[Thread]] = {}
    for thread in threads(projects):
        grouped.setdefault((thread.project.id, thread.board), []).append(thread)
    said = ("Questions and answers.", "What could be better.")
    for project in projects:
        for place, name in enumerate(vocabulary("pages")["boards"]["names"], start=1):
            held = grouped.get((project.id, name), [])
            board = tables.count("boards") + 1
            newest = _add_threads(tables, board, held)
            tables.add(
                "boards", id=board, project_id=project.id, name=name, description=said[place - 1],
                position=place, topics_count=len(held),
                messages_count=sum(len(thread.posts) for thread in held), last_message_id=newest,
            )  # fmt: skip


def _add_threads(tables: Tables, board: int, held: list[Thread]) -> int | None:
    """Add the threads of a board; return the id of its newest message."""
    newest, since = None, None
    for thread in held:
        first = tables.count("messages") + 1
        answers = len(thread.posts) - 1
        for place, post in enumerate(thread.posts):
            number = tables.add(
                "messages", board_id=board, parent_id=first if place else None,
                subject=f"RE: {thread.subject}" if place else thread.subject, content=post.text,
                author_id=post.author.id, replies_count=0 if place else answers,
                last_reply_id=None if place or not answers else first + answers,
                created_on=post.made, updated_on=post.made if place else thread.posts[-1].made,
                locked=False, sticky=0,
            )  # fmt: skip
            if since is None or post.made > since:
                newest, since = number, post.made
    return newest
