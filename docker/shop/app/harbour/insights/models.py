"""Recorded searches."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Search(models.Model):
    """One search: the words, how many products they found, and who searched, where known.

    A search itself is a GET and records nothing. The past is from the seed; what is new comes from
    visitors who press "Ask the shop to stock it" where nothing was found.
    """

    query = models.CharField(max_length=120, db_index=True)
    results = models.PositiveIntegerField(default=0)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    date_created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "searches"

    def __str__(self) -> str:
        return self.query
