"""The tables as they are."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import desk.clock


class Migration(migrations.Migration):
    """Makes members and notes."""

    initial = True
    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("username", models.CharField(max_length=40, unique=True)),
                ("name", models.CharField(max_length=60)),
                ("password", models.CharField(max_length=128)),
            ],
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="desk.member"
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("body", models.TextField(blank=True, default="")),
                ("label", models.CharField(blank=True, default="", max_length=30)),
                ("pinned", models.BooleanField(default=False)),
                ("created", models.DateTimeField(default=desk.clock.now)),
                ("updated", models.DateTimeField(default=desk.clock.now)),
            ],
            options={"ordering": ("-pinned", "-updated", "-id")},
        ),
    ]
