"""Adds the link from a request to the version before it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0025_index_of_policies")]
    operations = [
        migrations.AddField(
            "request",
            "replaces",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="reviews.request",
            ),
        ),
    ]
