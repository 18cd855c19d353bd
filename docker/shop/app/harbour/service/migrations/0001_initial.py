"""Enquiries and subscriptions."""

from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies: ClassVar = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations: ClassVar = [
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False)),
                ("email", models.EmailField(max_length=254, unique=True)),
                ("date_created", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ("-date_created", "-id")},
        ),
        migrations.CreateModel(
            name="Enquiry",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("email", models.EmailField(max_length=254)),
                ("telephone", models.CharField(blank=True, default="", max_length=40)),
                ("order_number", models.CharField(blank=True, default="", max_length=32)),
                ("message", models.TextField()),
                ("is_answered", models.BooleanField(default=False)),
                ("date_created", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-date_created", "-id"),
                "verbose_name_plural": "enquiries",
            },
        ),
    ]
