"""A message from the contact form, and a subscription to the newsletter."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Enquiry(models.Model):
    """What a visitor wrote to the shop; `order_number` is as typed, and may be of no order."""

    name = models.CharField(max_length=120)
    email = models.EmailField()
    telephone = models.CharField(max_length=40, blank=True, default="")
    order_number = models.CharField(max_length=32, blank=True, default="")
    message = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    is_answered = models.BooleanField(default=False)
    date_created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-date_created", "-id")
        verbose_name_plural = "enquiries"

    def __str__(self) -> str:
        return f"Message {self.pk} from {self.name}"


class Subscription(models.Model):
    """An address that gets the newsletter."""

    email = models.EmailField(unique=True)
    date_created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-date_created", "-id")

    def __str__(self) -> str:
        return str(self.email)
