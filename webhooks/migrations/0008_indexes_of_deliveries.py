"""Adds the indexes on deliveries that 0003 and 0004 made in the past."""

from django.db import migrations, models

from db.operations import AddIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("webhooks", "0007_event_log")]
    operations = [
        AddIndexWhileInUse(
            "delivery",
            models.Index(
                fields=["account", "next_attempt_at"],
                condition=models.Q(("event", "webhook.test"), ("state", "waiting")),
                name="delivery_test",
            ),
        ),
        AddIndexWhileInUse(
            "delivery",
            models.Index(
                fields=["account", "host", "-created_at", "-id"], name="delivery_by_host"
            ),
        ),
        AddIndexWhileInUse(
            "delivery",
            models.Index(
                fields=["account", "host", "-created_at", "-id"],
                condition=models.Q(("state", "dead")),
                name="delivery_dead_by_host",
            ),
        ),
        AddIndexWhileInUse(
            "delivery",
            models.Index(
                fields=["account", "-created_at", "-id"],
                condition=models.Q(("failed_attempts__gt", 0), ("state", "waiting")),
                name="delivery_failing",
            ),
        ),
    ]
