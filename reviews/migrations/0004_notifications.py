"""Push subscriptions, email preferences, and the notifications to send."""

import db.ids
import db.columns
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_append_only_audit"),
        ("reviews", "0003_search"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PushSubscription",
            fields=[
                (
                    "id",
                    db.columns.LookupField(
                        default=db.ids.new_id,
                        editable=False,
                        max_length=24,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("endpoint", db.columns.LookupField(max_length=2048, unique=True)),
                ("host", models.CharField(max_length=255)),
                ("p256dh", models.CharField(max_length=100)),
                ("auth", models.CharField(max_length=30)),
                ("label", models.CharField(max_length=60)),
                ("is_on", models.BooleanField(db_default=True, default=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="push_subscriptions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="EmailPreference",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="email_preference",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "mails",
                    models.CharField(
                        choices=[
                            ("every", "Every request"),
                            ("critical", "Critical requests only"),
                            ("none", "None"),
                        ],
                        db_default="every",
                        default="every",
                        max_length=8,
                    ),
                ),
                ("mailed_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("mails__in", ["every", "critical", "none"])),
                        name="email_preference_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "channel",
                    models.CharField(choices=[("push", "Push"), ("mail", "Mail")], max_length=4),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("sent", "Sent"), ("dropped", "Dropped")],
                        db_default="waiting",
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("claim_id", models.CharField(max_length=24, null=True)),
                ("next_attempt_at", models.DateTimeField()),
                ("failed_attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("error", models.CharField(blank=True, db_default="", default="", max_length=500)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "subscription",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="reviews.pushsubscription",
                    ),
                ),
                (
                    "recipient",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="reviews.request",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["channel", "next_attempt_at"],
                        name="notification_due",
                    ),
                    models.Index(
                        condition=models.Q(("channel", "mail"), ("state", "waiting")),
                        fields=["recipient"],
                        name="notification_mail_of",
                    ),
                    models.Index(
                        condition=models.Q(("done_at__isnull", False)),
                        fields=["done_at"],
                        name="notification_done",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("channel", "push")),
                        fields=("request", "subscription"),
                        name="notification_once_per_subscription",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("channel", "mail")),
                        fields=("request", "recipient"),
                        name="notification_once_by_mail",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("channel", "push"), ("subscription__isnull", False)),
                            models.Q(("channel", "mail"), ("subscription__isnull", True)),
                            _connector="OR",
                        ),
                        name="notification_by_push_or_mail",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("done_at__isnull", True), ("state", "waiting")),
                            models.Q(
                                ("done_at__isnull", False), ("state__in", ["sent", "dropped"])
                            ),
                            _connector="OR",
                        ),
                        name="notification_waiting_or_done",
                    ),
                ],
            },
        ),
    ]
