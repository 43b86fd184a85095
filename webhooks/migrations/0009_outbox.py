"""Gives `failed_attempts` a default in the database, as every row of an outbox has."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0008_indexes_of_deliveries")]
    operations = [
        migrations.AlterField(
            "delivery",
            "failed_attempts",
            models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
