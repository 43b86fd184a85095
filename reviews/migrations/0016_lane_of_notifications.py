"""Gives notifications a lane, the host of the push service; old rows share the lane ''."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0015_search_in_one_form")]
    operations = [
        migrations.AddField(
            "notification",
            "lane",
            models.CharField(blank=True, db_default="", default="", max_length=255),
        ),
        migrations.AlterField(
            "notification",
            "next_attempt_at",
            models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
    ]
