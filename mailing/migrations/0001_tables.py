import django.db.models.functions.datetime
from django.db import migrations, models

import db.columns
import db.ids


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="QueuedMail",
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
                ("sealed", models.BinaryField()),
                (
                    "next_attempt_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("claim_id", models.CharField(max_length=24, null=True)),
                ("failed_attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["next_attempt_at"], name="queued_mail_due")],
            },
        ),
    ]
