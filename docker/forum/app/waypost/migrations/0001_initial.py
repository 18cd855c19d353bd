"""All tables, as models.py describes them."""

import django.db.models.deletion
from django.db import migrations, models

import waypost.clock


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Forum",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=25, unique=True)),
                ("title", models.CharField(max_length=100)),
                ("description", models.CharField(max_length=300)),
                ("sidebar", models.TextField()),
                ("tags", models.CharField(blank=True, default="", max_length=200)),
                ("featured", models.BooleanField(default=False)),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                ("subscriber_count", models.IntegerField(default=0)),
                ("submission_count", models.IntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("username", models.CharField(max_length=25, unique=True)),
                ("password", models.CharField(max_length=128)),
                ("biography", models.TextField(blank=True, default="")),
                ("joined", models.DateTimeField(default=waypost.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                ("edited", models.DateTimeField(null=True)),
                ("edited_by_moderator", models.BooleanField(default=False)),
                (
                    "visibility",
                    models.CharField(
                        choices=[
                            ("visible", "Visible"),
                            ("deleted", "Deleted"),
                            ("removed", "Removed"),
                        ],
                        default="visible",
                        max_length=8,
                    ),
                ),
                (
                    "flag",
                    models.CharField(
                        choices=[("none", "None"), ("moderator", "Moderator")],
                        default="none",
                        max_length=10,
                    ),
                ),
                ("ups", models.IntegerField(default=0)),
                ("downs", models.IntegerField(default=0)),
                ("net_score", models.IntegerField(default=0)),
                ("title", models.CharField(max_length=300)),
                ("url", models.CharField(blank=True, default="", max_length=2000)),
                ("body", models.TextField(blank=True, default="")),
                ("is_sticky", models.BooleanField(default=False)),
                ("is_locked", models.BooleanField(default=False)),
                ("comment_count", models.IntegerField(default=0)),
                ("last_active", models.DateTimeField(default=waypost.clock.now)),
                ("ranking", models.IntegerField(default=0)),
                ("controversy", models.IntegerField(default=0)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="waypost.member"
                    ),
                ),
                (
                    "forum",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.forum"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("locked", "Lock"),
                            ("unlocked", "Unlock"),
                            ("pinned", "Pin"),
                            ("unpinned", "Unpin"),
                            ("removed", "Remove"),
                            ("restored", "Restore"),
                            ("removed a comment in", "Remove Comment"),
                            ("restored a comment in", "Restore Comment"),
                            ("banned", "Ban"),
                            ("unbanned", "Unban"),
                            ("made a moderator of", "Add Moderator"),
                            ("took the role of moderator from", "Remove Moderator"),
                        ],
                        max_length=40,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=300)),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                (
                    "forum",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.forum"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="waypost.member",
                    ),
                ),
                (
                    "moderator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="waypost.member",
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="waypost.submission",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                ("edited", models.DateTimeField(null=True)),
                ("edited_by_moderator", models.BooleanField(default=False)),
                (
                    "visibility",
                    models.CharField(
                        choices=[
                            ("visible", "Visible"),
                            ("deleted", "Deleted"),
                            ("removed", "Removed"),
                        ],
                        default="visible",
                        max_length=8,
                    ),
                ),
                (
                    "flag",
                    models.CharField(
                        choices=[("none", "None"), ("moderator", "Moderator")],
                        default="none",
                        max_length=10,
                    ),
                ),
                ("ups", models.IntegerField(default=0)),
                ("downs", models.IntegerField(default=0)),
                ("net_score", models.IntegerField(default=0)),
                ("path", models.CharField(db_collation="ascii_bin", default="", max_length=600)),
                ("body", models.TextField()),
                (
                    "parent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, to="waypost.comment"
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="waypost.member"
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="waypost.submission",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SubmissionVote",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("choice", models.SmallIntegerField()),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.member"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.submission"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "forum",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.forum"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.member"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Thread",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=100)),
                ("last_active", models.DateTimeField(default=waypost.clock.now)),
                (
                    "receiver",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="received_threads",
                        to="waypost.member",
                    ),
                ),
                (
                    "starter",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="started_threads",
                        to="waypost.member",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.TextField()),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                (
                    "sender",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="waypost.member"
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="waypost.thread",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CommentVote",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("choice", models.SmallIntegerField()),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                (
                    "target",
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
            options={
                "unique_together": {("member", "target")},
            },
        ),
        migrations.CreateModel(
            name="Block",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("comment", models.CharField(blank=True, default="", max_length=300)),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                (
                    "blocked",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="waypost.member",
                    ),
                ),
                (
                    "blocker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blocks",
                        to="waypost.member",
                    ),
                ),
            ],
            options={
                "unique_together": {("blocker", "blocked")},
            },
        ),
        migrations.CreateModel(
            name="Ban",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reason", models.CharField(max_length=300)),
                ("created", models.DateTimeField(default=waypost.clock.now)),
                ("expires", models.DateTimeField(null=True)),
                (
                    "forum",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.forum"
                    ),
                ),
                (
                    "banned_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="waypost.member",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bans",
                        to="waypost.member",
                    ),
                ),
            ],
            options={
                "unique_together": {("forum", "member")},
            },
        ),
        migrations.CreateModel(
            name="Moderator",
            fields=[
                (
                    "id",
                    models.AutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("since", models.DateTimeField(default=waypost.clock.now)),
                (
                    "forum",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.forum"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="waypost.member"
                    ),
                ),
            ],
            options={
                "unique_together": {("forum", "member")},
            },
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["controversy"], name="by_controversy"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["comment_count"], name="by_comments"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["ranking"], name="by_hot"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["last_active"], name="by_activity"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["net_score"], name="by_score"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["created"], name="by_time"),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(fields=["submission", "path"], name="by_thread"),
        ),
        migrations.AlterUniqueTogether(
            name="submissionvote",
            unique_together={("member", "target")},
        ),
        migrations.AlterUniqueTogether(
            name="subscription",
            unique_together={("member", "forum")},
        ),
    ]
