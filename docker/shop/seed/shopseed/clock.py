"""The seed's clock: it stands still, and no column reads the machine's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from django.apps import apps
from django.db.models import DateField, DateTimeField
from django.utils import timezone

NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)


def freeze() -> None:
    """Make `timezone.now` answer NOW, and auto_now columns take what a row gives them."""
    timezone.now = lambda: NOW
    for model in apps.get_models():
        for field in model._meta.get_fields():  # noqa: SLF001  Django documents it
            if isinstance(field, DateField) and (field.auto_now or field.auto_now_add):
                field.auto_now = field.auto_now_add = False
                field.default = NOW if isinstance(field, DateTimeField) else NOW.date()
                field.__dict__.pop("_get_default", None)


def moment(rng: Random, first: datetime, last: datetime = NOW) -> datetime:
    """Return a whole second between `first` and `last`, in shop hours."""
    span = int((last - first).total_seconds())
    chosen = first + timedelta(seconds=rng.randrange(max(span, 1)))
    return min(chosen.replace(hour=rng.randrange(7, 23)), last - timedelta(minutes=1))
