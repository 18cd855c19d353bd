"""Images of submissions, and which replies a member has read."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("waypost", "0001_initial")]

    operations = [
        migrations.AddField("member", "read_up_to", models.IntegerField(default=0)),
        migrations.AddField(
            "submission", "image", models.CharField(blank=True, default="", max_length=80)
        ),
        migrations.AddField(
            "submission", "image_alt", models.CharField(blank=True, default="", max_length=300)
        ),
        migrations.CreateModel(
            name="ReadMark",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "comment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.comment"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.member"
                    ),
                ),
            ],
            options={"unique_together": {("member", "comment")}},
        ),
    ]
