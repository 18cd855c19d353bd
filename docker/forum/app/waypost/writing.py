"""The writes: each keeps the counts and ranks that lists are ordered by.

Locks are taken in one order, forum, submission, comment, and before any row that refers to them is
inserted: the reference takes a shared lock, and two writers that both raise theirs would deadlock.
"""

from __future__ import annotations

from django.db.models import Count, F

from waypost import clock, paths, ranking
from waypost.models import (
    Action,
    Comment,
    CommentVote,
    Flag,
    Forum,
    LogEntry,
    Member,
    Submission,
    SubmissionVote,
    Subscription,
    Visibility,
)


def hold(row: Forum | Submission | Comment) -> None:
    """Lock a row until the end of the request."""
    type(row).objects.select_for_update().filter(id=row.id).values_list("id").get()


def rank(submission: Submission) -> None:
    """Set the ranks that follow from a submission's votes (not saved)."""
    submission.net_score = submission.ups - submission.downs
    submission.ranking = ranking.hot(submission.net_score, submission.created)
    submission.controversy = ranking.controversy(submission.ups, submission.downs)


def submit(author: Member, forum: Forum, *, flag: Flag, **texts: str) -> Submission:
    """Write a submission, with its author's vote for it; `texts` are its title, body and so on."""
    hold(forum)
    made = Submission(author=author, forum=forum, flag=flag, ups=1, **texts)
    rank(made)
    made.save()
    SubmissionVote.objects.create(target=made, member=author, choice=1)
    Forum.objects.filter(id=forum.id).update(submission_count=F("submission_count") + 1)
    return made


def comment(
    author: Member, submission: Submission, parent: Comment | None, body: str, flag: Flag
) -> Comment:
    """Write a comment, with its author's vote for it."""
    hold(submission)
    made = Comment.objects.create(
        author=author,
        submission=submission,
        parent=parent,
        body=body,
        flag=flag,
        ups=1,
        net_score=1,
    )
    made.path = (parent.path if parent else "") + paths.step(made.id)
    made.save(update_fields=["path"])
    CommentVote.objects.create(target=made, member=author, choice=1)
    Submission.objects.filter(id=submission.id).update(
        comment_count=F("comment_count") + 1, last_active=clock.now()
    )
    return made


def vote(member: Member, target: Submission | Comment, choice: int) -> None:
    """Set the member's vote on the target to 1, -1 or 0, and the target's counts with it."""
    hold(target)
    target.refresh_from_db(fields=["ups", "downs"])
    is_submission = isinstance(target, Submission)
    table = SubmissionVote if is_submission else CommentVote
    held = table.objects.filter(member=member, target=target).first()
    before = held.choice if held else 0
    if before == choice:
        return
    target.ups += (choice == 1) - (before == 1)
    target.downs += (choice == -1) - (before == -1)
    target.net_score = target.ups - target.downs
    if isinstance(target, Submission):
        rank(target)
        target.save(update_fields=["ups", "downs", "net_score", "ranking", "controversy"])
    else:
        target.save(update_fields=["ups", "downs", "net_score"])
    if choice == 0 and held:
        held.delete()
    else:
        table.objects.update_or_create(
            member=member, target=target, defaults={"choice": choice, "created": clock.now()}
        )


def subscribe(member: Member, forum: Forum, *, wanted: bool) -> None:
    """Subscribe the member to the forum, or end it."""
    hold(forum)
    if wanted:
        Subscription.objects.get_or_create(member=member, forum=forum)
    else:
        Subscription.objects.filter(member=member, forum=forum).delete()
    forum.subscriber_count = Subscription.objects.filter(forum=forum).count()
    forum.save(update_fields=["subscriber_count"])


def set_visibility(target: Submission | Comment, visibility: Visibility) -> None:
    """Take something away or bring it back; counts follow what is visible."""
    hold(target.forum if isinstance(target, Submission) else target.submission)
    target.visibility = visibility
    target.save(update_fields=["visibility"])
    if isinstance(target, Submission):
        rows = Submission.objects.filter(forum=target.forum_id, visibility=Visibility.VISIBLE)
        Forum.objects.filter(id=target.forum_id).update(submission_count=rows.count())
    else:
        rows = Comment.objects.filter(
            submission=target.submission_id, visibility=Visibility.VISIBLE
        ).aggregate(count=Count("id"))
        Submission.objects.filter(id=target.submission_id).update(comment_count=rows["count"])


def log(
    moderator: Member,
    forum: Forum,
    action: Action,
    *,
    submission: Submission | None = None,
    member: Member | None = None,
    reason: str = "",
) -> None:
    """Write a line of the forum's moderation log."""
    LogEntry.objects.create(
        moderator=moderator,
        forum=forum,
        action=action,
        submission=submission,
        member=member,
        reason=reason,
    )
