"""Who may do what."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from waypost.models import Ban, Comment, Forum, Member, Moderator, Submission, Visibility

DEEPEST = 90  # levels: the longest path that the column holds has 100


def keeps(member: Member | None, forum: Forum) -> bool:
    """Tell whether the member is a moderator of the forum."""
    return member is not None and Moderator.objects.filter(forum=forum, member=member).exists()


def require_keeper(member: Member | None, forum: Forum) -> None:
    """Raise PermissionDenied unless the member is a moderator of the forum."""
    if not keeps(member, forum):
        message = f"Only moderators of /f/{forum.name} may do this."
        raise PermissionDenied(message)


def require_author(member: Member | None, written: Submission | Comment) -> None:
    """Raise PermissionDenied unless the member wrote it and it still stands."""
    if member is None or written.author_id != member.id or not written.is_visible:
        message = "Only its author may do this."
        raise PermissionDenied(message)


def may_edit(member: Member | None, written: Submission | Comment, *, keeper: bool) -> bool:
    """Tell whether the member may change the text: its author, or a moderator of the forum."""
    is_author = member is not None and written.author_id == member.id
    return written.is_visible and (is_author or keeper)


def may_read(member: Member | None, written: Submission | Comment, *, keeper: bool) -> bool:
    """Tell whether the member may read the text: all if visible, moderators if removed."""
    return written.is_visible or (keeper and written.visibility == Visibility.REMOVED)


def ban_of(member: Member, forum: Forum) -> Ban | None:
    """Return the ban that keeps the member from writing in the forum."""
    return Ban.in_force().filter(forum=forum, member=member).first()


def why_not_comment(member: Member, submission: Submission, above: Comment | None = None) -> str:
    """Return why the member may not comment on the submission; empty where they may.

    With `above`, the comment is an answer to that one.
    """
    if not submission.is_visible:
        return "The submission has been deleted. You cannot post new comments."
    if submission.is_locked and not keeps(member, submission.forum):
        return "The submission is locked. You cannot post new comments."
    ban = ban_of(member, submission.forum)
    if ban:
        return f"You are banned from /f/{submission.forum.name}. Reason: {ban.reason}"
    if above and not above.is_visible:
        return "The comment has been deleted. You cannot reply to it."
    if above and above.level >= DEEPEST:
        return "The thread is too deep here. Reply further up."
    return ""
