"""Removes the texts of answers whose request the version before had emptied, in batches, and
validates the foreign keys of 0032, which blocks nobody by itself."""

from django.db import migrations

from db.operations import FillByKey

FOLLOWING = """
SELECT max(id) FROM (SELECT id FROM reviews_request
                      WHERE id > %s AND texts_removed_at IS NOT NULL ORDER BY id LIMIT 2000) AS batch
"""
EMPTY = """
UPDATE reviews_answer a
   SET comment = NULL, data = reviews_without_texts(r.response_type, a.data)
  FROM reviews_request r
 WHERE r.id > %s AND r.id <= %s AND r.texts_removed_at IS NOT NULL AND a.request_id = r.id
   AND (a.comment IS NOT NULL
        OR a.data::text <> reviews_without_texts(r.response_type, a.data)::text)
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0032_removed_by_the_version_before")]
    operations = [
        FillByKey(FOLLOWING, EMPTY),
        *(
            migrations.RunSQL(
                f"ALTER TABLE reviews_{table} VALIDATE CONSTRAINT {table}_request",
                migrations.RunSQL.noop,
            )
            for table in ("answer", "receipt", "viewer")
        ),
    ]
