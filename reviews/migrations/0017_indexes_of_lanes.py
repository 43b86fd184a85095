"""Exchanges the index of due notifications for those that claim them lane by lane."""

from django.db import migrations, models

from db.operations import AddIndexWhileInUse, RemoveIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0016_lane_of_notifications")]
    operations = [
        AddIndexWhileInUse(
            "notification",
            models.Index(
                fields=["account", "lane", "next_attempt_at"],
                condition=models.Q(("channel", "push"), ("state", "waiting")),
                name="notification_push_lane",
            ),
        ),
        AddIndexWhileInUse(
            "notification",
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(("claim_id__isnull", False)),
                name="notification_claimed",
            ),
        ),
        RemoveIndexWhileInUse("notification", "notification_due"),
    ]
