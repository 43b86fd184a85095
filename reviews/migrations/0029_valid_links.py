"""Validates the foreign key of 0028, which blocks nobody by itself."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("reviews", "0028_removed_versions")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE reviews_request VALIDATE CONSTRAINT request_replaces",
            migrations.RunSQL.noop,
        ),
    ]
