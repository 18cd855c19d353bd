"""A submission's comments as a tree, best first on every level."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from django.db.models import QuerySet

from waypost.models import Comment, CommentVote, Member, Submission, SubmissionVote


@dataclass(slots=True)
class Node:
    """A comment with what was answered to it."""

    comment: Comment
    replies: list[Node] = field(default_factory=list)
    is_hidden: bool = False  # its reader blocks its author


def tree(comments: list[Comment], hidden_authors: set[int]) -> list[Node]:
    """Return the top nodes of the comments, which may be a whole thread or a subtree."""
    nodes = {one.id: Node(one, is_hidden=one.author_id in hidden_authors) for one in comments}
    tops: list[Node] = []
    for node in nodes.values():
        above = nodes.get(node.comment.parent_id)
        (above.replies if above else tops).append(node)
    for siblings in (tops, *(node.replies for node in nodes.values())):
        siblings.sort(key=lambda node: (-node.comment.net_score, node.comment.id))
    return tops


def comments_of(submission: Submission, below: Comment | None = None) -> list[Comment]:
    """Return a thread's comments, or those below one comment and itself, in order of their path."""
    rows: QuerySet[Comment] = Comment.objects.filter(submission=submission)
    if below is not None:
        rows = rows.filter(path__startswith=below.path)
    found = list(rows.select_related("author").order_by("path"))
    for comment in found:
        comment.submission = submission
    return found


def latest_comments(rows: QuerySet[Comment], before: str, count: int) -> list[Comment]:
    """Return the newest of some comments, from the id `before` down, with all that they answer.

    Those of submissions that were taken away are among them: a page leaves them out. The ids come
    first, from one table: joined, MariaDB would sort all rows before it takes some.
    """
    if before.isdecimal():
        rows = rows.filter(id__lte=int(before))
    ids = list(rows.order_by("-id").values_list("id", flat=True)[:count])
    related = Comment.objects.select_related(
        "author", "submission__forum", "submission__author", "parent__author"
    )
    found = related.in_bulk(ids)
    return [found[number] for number in ids]


def blocked_by(reader: Member | None) -> set[int]:
    """Return the ids of the members that a reader blocks."""
    return set(reader.blocks.values_list("blocked_id", flat=True)) if reader else set()


def choices(reader: Member | None, targets: list[Submission] | list[Comment]) -> dict[int, int]:
    """Return the reader's votes on the targets: 1 or -1 by id, 0 for every other."""
    votes: dict[int, int] = defaultdict(int)
    if reader is not None and targets:
        table = SubmissionVote if isinstance(targets[0], Submission) else CommentVote
        rows = table.objects.filter(member=reader, target__in=[one.id for one in targets])
        votes.update(rows.values_list("target_id", "choice"))
    return votes
