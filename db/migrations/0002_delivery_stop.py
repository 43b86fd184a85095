"""Adds the row that stops deliveries."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("db", "0001_tables")]
    operations = [
        migrations.CreateModel(
            name="DeliveryStop",
            fields=[
                (
                    "id",
                    models.SmallIntegerField(
                        db_default=1, default=1, primary_key=True, serialize=False
                    ),
                ),
                ("reason", models.CharField(max_length=200)),
                ("begun_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(id=1), name="delivery_stop_is_one"
                    )
                ],
            },
        ),
    ]
