"""Adds standing grants of approvals, and to requests the grant that completed them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
from django.conf import settings
from django.db import migrations, models

import db.columns


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_grants_ended_at"),
        ("loops", "0009_forbids_grants"),
        ("reviews", "0033_texts_of_answers"),
    ]
    operations = [
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", db.columns.OwnedIdField(owner="account_id", serialize=False)),
                ("request_id", models.CharField(max_length=24)),
                ("call", models.CharField(max_length=200)),
                (
                    "names",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), null=True, size=None
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("max_uses", models.PositiveSmallIntegerField()),
                ("uses", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
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
                    "api_key",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "loop",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to="loops.loop",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["loop", "api_key", "call", "expires_at"], name="grant_of_call"),
                    models.Index(fields=["person", "-created_at", "-id"], name="grant_of_person"),
                    models.Index(fields=["account", "-created_at", "-id"], name="grant_of_account"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            django.db.models.functions.text.Right("id", 3),
                            django.db.models.functions.text.Right("account_id", 3),
                        ),
                        name="grant_in_bucket",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("uses__lte", models.F("max_uses"))),
                        name="grant_uses_bounded",
                    ),
                    models.UniqueConstraint(fields=("request_id",), name="one_grant_a_request"),
                ],
            },
        ),
        migrations.AddField(
            "request",
            "grant",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="reviews.grant",
            ),
        ),
    ]
