import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
from django.conf import settings
from django.db import migrations, models

import db.columns


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0006_delivery_call_id"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="LoggedEvent",
            fields=[
                ("id", db.columns.OwnedIdField(owner="account_id", serialize=False)),
                ("name", models.CharField(max_length=40)),
                ("body", models.BinaryField(null=True)),
                ("transaction_id", db.columns.TransactionIdField()),
                ("horizon", db.columns.TransactionIdField()),
                ("created_at", models.DateTimeField()),
                ("account", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["account", "transaction_id", "id"], name="logged_event_in_order"),
                    models.Index(fields=["created_at"], name="logged_event_by_age"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            django.db.models.functions.text.Right("id", 3),
                            django.db.models.functions.text.Right("account_id", 3),
                        ),
                        name="logged_event_in_bucket",
                    )
                ],
            },
        ),
    ]
