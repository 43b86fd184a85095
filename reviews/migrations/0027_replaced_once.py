"""Adds the index of the links, while the service keeps running. A request is replaced at most once."""

from django.db import migrations, models

from db.operations import AddUniqueWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0026_replaces")]
    operations = [
        AddUniqueWhileInUse(
            "request",
            models.UniqueConstraint(
                fields=["replaces"],
                condition=models.Q(replaces__isnull=False),
                name="request_replaced_once",
            ),
        ),
    ]
