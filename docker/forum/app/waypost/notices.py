"""Replies to a member: what others answered to their submissions and comments.

No row is written when somebody answers: a reply is unread as long as it is younger than the newest
that its receiver marked as read, and has no mark of its own.
"""

from __future__ import annotations

from waypost.models import Comment, Member, ReadMark, Visibility
from waypost.threads import blocked_by


def replies_to(member: Member, after: int = 0) -> set[int]:
    """Return the ids of visible replies that are younger than one; of nobody the member blocks."""
    seen = Visibility.VISIBLE
    rows = Comment.objects.filter(id__gt=after, visibility=seen, submission__visibility=seen)
    rows = rows.exclude(author_id__in={member.id, *blocked_by(member)})
    # Two statements: with "or", MariaDB would read every comment.
    below_comments = rows.filter(parent__author=member).values_list("id", flat=True)
    to_submissions = rows.filter(parent=None, submission__author=member)
    return {*below_comments, *to_submissions.values_list("id", flat=True)}


def unread(member: Member) -> set[int]:
    """Return the ids of the replies that the member has not marked as read."""
    marked = ReadMark.objects.filter(member=member).values_list("comment_id", flat=True)
    return replies_to(member, member.read_up_to) - set(marked)


def mark(member: Member, comment: int) -> None:
    """Mark one reply as read; what is no unread reply to the member stays as it is."""
    if comment in unread(member):
        ReadMark.objects.get_or_create(member=member, comment_id=comment)


def mark_all(member: Member, up_to: int) -> None:
    """Mark every reply up to that id as read."""
    member.read_up_to = max(member.read_up_to, up_to)
    member.save(update_fields=["read_up_to"])
    ReadMark.objects.filter(member=member, comment__lte=member.read_up_to).delete()
