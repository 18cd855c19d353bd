"""Search by MariaDB's FULLTEXT indexes."""

from __future__ import annotations

import re

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from waypost.listing import loaded
from waypost.models import Comment, Submission, Visibility

MOST = 100  # results of each kind
_WORD = re.compile(r"\w{2,}(?:['’]\w+)?")
_TABLES = {
    Submission: "MATCH (`waypost_submission`.`title`, `waypost_submission`.`body`, "
    "`waypost_submission`.`url`) AGAINST (%s IN BOOLEAN MODE)",
    Comment: "MATCH (`waypost_comment`.`body`) AGAINST (%s IN BOOLEAN MODE)",
}


def boolean_query(text: str) -> str:
    """Return what MATCH is asked for: every word must occur.

    Empty where the text holds no word of two characters or more.
    """
    words = _WORD.findall(text.lower())
    return " ".join(f'+"{word}"' if "'" in word or "’" in word else f"+{word}" for word in words)


def submissions(text: str) -> list[Submission]:
    """Return the visible submissions that hold every word, best first."""
    return loaded(_matching(Submission, text)[:MOST])


def comments(text: str) -> list[Comment]:
    """Return the visible comments that hold every word, best first."""
    ids = list(_matching(Comment, text).values_list("id", flat=True)[:MOST])
    related = Comment.objects.select_related(
        "author", "submission__forum", "submission__author", "parent__author"
    )
    found = related.in_bulk(ids)
    return [found[number] for number in ids if found[number].submission.is_visible]


def _matching(
    table: type[Submission | Comment], text: str
) -> QuerySet[Submission] | QuerySet[Comment]:
    relevance = RawSQL(_TABLES[table], [boolean_query(text)])  # noqa: S611 - the text is a parameter
    rows = table.objects.filter(visibility=Visibility.VISIBLE)
    found = rows.annotate(relevance=relevance).filter(relevance__gt=0)
    return found.order_by("-relevance", "-id")
