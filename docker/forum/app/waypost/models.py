"""The tables: members, forums, submissions, comments, votes, messages and moderation."""

from __future__ import annotations

from django.db import models
from django.db.models import CASCADE, PROTECT, Q

from waypost import clock, paths


class Visibility(models.TextChoices):
    """Who took a submission or a comment away, if anybody did."""

    VISIBLE = "visible"
    DELETED = "deleted"  # by its author
    REMOVED = "removed"  # by a moderator, who may restore it


class Flag(models.TextChoices):
    """In which role somebody wrote."""

    NONE = "none"
    MODERATOR = "moderator"


class Member(models.Model):
    """An account; its name is unique whatever its case."""

    username = models.CharField(max_length=25, unique=True)
    password = models.CharField(max_length=128)
    biography = models.TextField(default="", blank=True)
    joined = models.DateTimeField(default=clock.now)
    read_up_to = models.IntegerField(default=0)  # id of the newest comment of which they know

    @property
    def path(self) -> str:
        """The profile's path."""
        return paths.user(self.username)


class Forum(models.Model):
    """A place for one subject, with the moderators that keep it."""

    name = models.CharField(max_length=25, unique=True)
    title = models.CharField(max_length=100)
    description = models.CharField(max_length=300)
    sidebar = models.TextField()
    tags = models.CharField(max_length=200, default="", blank=True)
    featured = models.BooleanField(default=False)
    created = models.DateTimeField(default=clock.now)
    subscriber_count = models.IntegerField(default=0)
    submission_count = models.IntegerField(default=0)

    @property
    def path(self) -> str:
        """The forum's path."""
        return paths.forum(self.name)

    @property
    def tag_list(self) -> list[str]:
        """The forum's tags, one by one."""
        return [tag.strip() for tag in self.tags.split(",") if tag.strip()]


class Moderator(models.Model):
    """A member who keeps a forum."""

    forum = models.ForeignKey(Forum, CASCADE)
    member = models.ForeignKey(Member, CASCADE)
    since = models.DateTimeField(default=clock.now)

    class Meta:
        """A member keeps a forum once."""

        unique_together = [("forum", "member")]


class Subscription(models.Model):
    """A member who reads a forum on the front page."""

    forum = models.ForeignKey(Forum, CASCADE)
    member = models.ForeignKey(Member, CASCADE)

    class Meta:
        """A member subscribes to a forum once."""

        unique_together = [("member", "forum")]


class Votable(models.Model):
    """What is voted on; the counts hold all votes, rows only those of members who log in."""

    author = models.ForeignKey(Member, PROTECT)
    created = models.DateTimeField(default=clock.now)
    edited = models.DateTimeField(null=True)
    edited_by_moderator = models.BooleanField(default=False)
    visibility = models.CharField(
        max_length=8, choices=Visibility.choices, default=Visibility.VISIBLE
    )
    flag = models.CharField(max_length=10, choices=Flag.choices, default=Flag.NONE)
    ups = models.IntegerField(default=0)
    downs = models.IntegerField(default=0)
    net_score = models.IntegerField(default=0)

    class Meta:
        """No table of its own."""

        abstract = True

    @property
    def is_visible(self) -> bool:
        """Whether everybody may read it."""
        return self.visibility == Visibility.VISIBLE


class Submission(Votable):
    """A thread: a title with a link or an image, a text, or both."""

    forum = models.ForeignKey(Forum, CASCADE)
    title = models.CharField(max_length=300)
    url = models.CharField(max_length=2000, default="", blank=True)
    body = models.TextField(default="", blank=True)
    image = models.CharField(max_length=80, default="", blank=True)  # a file of `pictures.FOLDER`
    image_alt = models.CharField(max_length=300, default="", blank=True)
    is_sticky = models.BooleanField(default=False)
    is_locked = models.BooleanField(default=False)
    comment_count = models.IntegerField(default=0)
    last_active = models.DateTimeField(default=clock.now)
    ranking = models.IntegerField(default=0)
    controversy = models.IntegerField(default=0)

    class Meta:
        """One index for each order of the list of all submissions."""

        indexes = [
            models.Index(fields=["ranking"], name="by_hot"),
            models.Index(fields=["last_active"], name="by_activity"),
            models.Index(fields=["net_score"], name="by_score"),
            models.Index(fields=["controversy"], name="by_controversy"),
            models.Index(fields=["comment_count"], name="by_comments"),
            models.Index(fields=["created"], name="by_time"),
        ]

    @property
    def path(self) -> str:
        """The thread's path."""
        return paths.submission(self.forum.name, self.id, self.title)

    @property
    def host(self) -> str:
        """The host a link leads to; empty for a text."""
        return self.url.partition("://")[2].partition("/")[0].removeprefix("www.")

    @property
    def image_path(self) -> str:
        """Where its image is shown; empty where it has none."""
        return paths.image(self.image) if self.image else ""


class Comment(Votable):
    """An answer to a submission or to another comment.

    `path` is materialised: the steps of all comments above it and its own, so that a subtree is
    one range of the index.
    """

    submission = models.ForeignKey(Submission, CASCADE, db_index=False)
    parent = models.ForeignKey("self", CASCADE, null=True)
    path = models.CharField(max_length=600, default="", db_collation="ascii_bin")
    body = models.TextField()

    class Meta:
        """A thread's comments lie together, parents before what answers them."""

        indexes = [models.Index(fields=["submission", "path"], name="by_thread")]

    @property
    def link(self) -> str:
        """The permalink; `submission` and its forum must be loaded."""
        return paths.comment(self.submission.forum.name, self.submission_id, self.id)

    @property
    def level(self) -> int:
        """How deep it lies; an answer to the submission itself has level 1."""
        return len(self.path) // paths.STEP_DIGITS


class ReadMark(models.Model):
    """A reply that a member took off the list of their notifications, before all the others."""

    member = models.ForeignKey(Member, CASCADE)
    comment = models.ForeignKey(Comment, CASCADE)

    class Meta:
        """A reply is taken off once."""

        unique_together = [("member", "comment")]


class SubmissionVote(models.Model):
    """One member's vote on a submission."""

    target = models.ForeignKey(Submission, CASCADE)
    member = models.ForeignKey(Member, CASCADE)
    choice = models.SmallIntegerField()
    created = models.DateTimeField(default=clock.now)

    class Meta:
        """A member votes once."""

        unique_together = [("member", "target")]


class CommentVote(models.Model):
    """One member's vote on a comment."""

    target = models.ForeignKey(Comment, CASCADE)
    member = models.ForeignKey(Member, CASCADE)
    choice = models.SmallIntegerField()
    created = models.DateTimeField(default=clock.now)

    class Meta:
        """A member votes once."""

        unique_together = [("member", "target")]


class Ban(models.Model):
    """A member who may not write in a forum; lifting it deletes the row, the log keeps both."""

    forum = models.ForeignKey(Forum, CASCADE)
    member = models.ForeignKey(Member, CASCADE, related_name="bans")
    reason = models.CharField(max_length=300)
    banned_by = models.ForeignKey(Member, PROTECT, related_name="+")
    created = models.DateTimeField(default=clock.now)
    expires = models.DateTimeField(null=True)

    class Meta:
        """A member is banned from a forum once."""

        unique_together = [("forum", "member")]

    @classmethod
    def in_force(cls) -> models.QuerySet[Ban]:
        """Return the bans that have not run out."""
        return cls.objects.filter(Q(expires=None) | Q(expires__gt=clock.now()))


class Block(models.Model):
    """A member who does not want to hear of another."""

    blocker = models.ForeignKey(Member, CASCADE, related_name="blocks")
    blocked = models.ForeignKey(Member, CASCADE, related_name="+")
    comment = models.CharField(max_length=300, default="", blank=True)
    created = models.DateTimeField(default=clock.now)

    class Meta:
        """A member is blocked once."""

        unique_together = [("blocker", "blocked")]


class Action(models.TextChoices):
    """What a moderator did."""

    LOCK = "locked"
    UNLOCK = "unlocked"
    PIN = "pinned"
    UNPIN = "unpinned"
    REMOVE = "removed"
    RESTORE = "restored"
    REMOVE_COMMENT = "removed a comment in"
    RESTORE_COMMENT = "restored a comment in"
    BAN = "banned"
    UNBAN = "unbanned"
    ADD_MODERATOR = "made a moderator of"
    REMOVE_MODERATOR = "took the role of moderator from"


class LogEntry(models.Model):
    """One line of a forum's moderation log."""

    forum = models.ForeignKey(Forum, CASCADE)
    moderator = models.ForeignKey(Member, PROTECT, related_name="+")
    action = models.CharField(max_length=40, choices=Action.choices)
    submission = models.ForeignKey(Submission, CASCADE, null=True)
    member = models.ForeignKey(Member, PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=300, default="", blank=True)
    created = models.DateTimeField(default=clock.now)


class Thread(models.Model):
    """A private conversation of two members."""

    title = models.CharField(max_length=100)
    starter = models.ForeignKey(Member, PROTECT, related_name="started_threads")
    receiver = models.ForeignKey(Member, PROTECT, related_name="received_threads")
    last_active = models.DateTimeField(default=clock.now)


class Message(models.Model):
    """One message of a conversation."""

    thread = models.ForeignKey(Thread, CASCADE, related_name="messages")
    sender = models.ForeignKey(Member, PROTECT)
    body = models.TextField()
    created = models.DateTimeField(default=clock.now)
