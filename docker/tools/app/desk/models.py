"""The tables: members and their notes."""

from __future__ import annotations

from django.db import models
from django.db.models import CASCADE, Q, QuerySet

from desk import clock

TITLE_LENGTH = 120
LABEL_LENGTH = 30
BODY_LENGTH = 10_000


class Member(models.Model):
    """An account."""

    username = models.CharField(max_length=40, unique=True)
    name = models.CharField(max_length=60)
    password = models.CharField(max_length=128)


class Note(models.Model):
    """A note of one member, whom nobody else's pages show it to."""

    member = models.ForeignKey(Member, CASCADE)
    title = models.CharField(max_length=TITLE_LENGTH)
    body = models.TextField(default="", blank=True)
    label = models.CharField(max_length=LABEL_LENGTH, default="", blank=True)
    pinned = models.BooleanField(default=False)
    created = models.DateTimeField(default=clock.now)
    updated = models.DateTimeField(default=clock.now)

    class Meta:
        """Pinned ones first, then what was written last."""

        ordering = ("-pinned", "-updated", "-id")

    @property
    def path(self) -> str:
        """The note's page."""
        return f"/notes/{self.id}"


def notes_of(member: Member, *, words: str = "", label: str = "") -> QuerySet[Note]:
    """Return a member's notes that hold every word in title, text or label."""
    found = Note.objects.filter(member=member)
    for word in words.split():
        found = found.filter(
            Q(title__icontains=word) | Q(body__icontains=word) | Q(label__icontains=word)
        )
    return found.filter(label=label) if label else found
