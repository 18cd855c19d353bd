"""Customer groups."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies: ClassVar = [
        ("voucher", "0010_auto_20210224_0712"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations: ClassVar = [
        migrations.CreateModel(
            name="CustomerGroup",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80, unique=True)),
                ("description", models.CharField(blank=True, default="", max_length=255)),
                (
                    "members",
                    models.ManyToManyField(
                        blank=True, related_name="customer_groups", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "vouchers",
                    models.ManyToManyField(
                        blank=True, related_name="customer_groups", to="voucher.voucher"
                    ),
                ),
            ],
            options={"ordering": ("name",)},
        ),
    ]
