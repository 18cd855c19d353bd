"""A group of customers."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class CustomerGroup(models.Model):
    """Customers under one name; a voucher of one or more groups is for their members alone."""

    name = models.CharField(max_length=80, unique=True)
    description = models.CharField(max_length=255, blank=True, default="")
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="customer_groups", blank=True
    )
    vouchers = models.ManyToManyField("voucher.Voucher", related_name="customer_groups", blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
