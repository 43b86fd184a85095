"""Adds when the texts of a request were removed, and lets requests go without a table scan."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("reviews", "0010_indexes_of_queues"), ("loops", "0004_keeping")]
    operations = [
        migrations.AddField("request", "texts_removed_at", models.DateTimeField(null=True)),
        # each deleted request would read all notifications, for which no index serves
        migrations.AlterField(
            "notification",
            "request",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notifications",
                to="reviews.request",
            ),
        ),
        AddConstraintNotValid(
            "request",
            models.CheckConstraint(
                condition=Q(texts_removed_at__isnull=True)
                | Q(status__in=["cancelled", "completed", "timeout"]),
                name="request_open_with_texts",
            ),
        ),
    ]
