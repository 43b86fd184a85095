"""Adds who is being erased."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0013_index_of_answerers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="Erasure",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("sealed", models.BinaryField()),
                ("begun_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("done_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["begun_at"],
                        condition=Q(done_at__isnull=True),
                        name="erasure_under_way",
                    )
                ]
            },
        ),
    ]
