"""Has the index of waiting emails find the oldest one of each recipient."""

from django.db import migrations, models

from db.operations import AddIndexWhileInUse, RemoveIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0018_texts_of_feedback")]
    operations = [
        AddIndexWhileInUse(
            "notification",
            models.Index(
                fields=["recipient", "next_attempt_at"],
                condition=models.Q(("channel", "mail"), ("state", "waiting")),
                name="notification_mail_lane",
            ),
        ),
        RemoveIndexWhileInUse("notification", "notification_mail_of"),
    ]
