"""Adds who opened, skipped and claimed a request."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("reviews", "0004_response_comment"),
    ]
    operations = [
        migrations.CreateModel(
            name="Viewer",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "request_id",
                        "person_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("skipped_at", models.DateTimeField(null=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="viewers",
                        to="reviews.request",
                    ),
                ),
            ],
        ),
    ]
