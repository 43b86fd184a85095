"""Sets the link to a request to null when that request is removed.

The index of 0027 comes first: without it, each removed request would read the table.
"""

from django.db import migrations

FOREIGN_KEY = """
ALTER TABLE reviews_request ADD CONSTRAINT request_replaces FOREIGN KEY (replaces_id)
    REFERENCES reviews_request (id) ON DELETE SET NULL NOT VALID
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0027_replaced_once")]
    operations = [
        migrations.RunSQL(
            FOREIGN_KEY, "ALTER TABLE reviews_request DROP CONSTRAINT request_replaces"
        ),
    ]
