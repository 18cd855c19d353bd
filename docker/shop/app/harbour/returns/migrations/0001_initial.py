"""Returns."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

from harbour.returns.models import Reason, Status


class Migration(migrations.Migration):
    initial = True
    dependencies: ClassVar = [("order", "0021_billingaddress_code_shippingaddress_code")]
    operations: ClassVar = [
        migrations.CreateModel(
            name="Return",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False)),
                ("quantity", models.PositiveIntegerField(default=1)),
                ("reason", models.CharField(choices=Reason.choices, max_length=16)),
                ("comment", models.TextField(blank=True, default="")),
                (
                    "status",
                    models.CharField(
                        choices=Status.choices, default=Status.REQUESTED, max_length=16
                    ),
                ),
                (
                    "refund_amount",
                    models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True),
                ),
                ("note", models.TextField(blank=True, default="")),
                ("date_requested", models.DateTimeField(auto_now_add=True)),
                ("date_updated", models.DateTimeField(auto_now=True)),
                (
                    "line",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="returns",
                        to="order.line",
                    ),
                ),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="returns",
                        to="order.order",
                    ),
                ),
            ],
            options={"ordering": ("-date_requested", "-id")},
        ),
    ]
