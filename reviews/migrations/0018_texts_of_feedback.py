"""Removes the texts of feedback on requests whose texts went before feedback's did."""

from django.db import migrations

from db.operations import FillByKey

KEPT = (
    "rating", "accuracy", "timeliness", "helpfulness", "would_recommend", "follow_up_needed",
    "category",
)  # fmt: skip
FOLLOWING = """
SELECT max(request_id) FROM
       (SELECT request_id FROM reviews_feedback WHERE request_id > %s
         ORDER BY request_id LIMIT 2000) AS batch
"""
FILL = f"""
UPDATE reviews_feedback AS kept
   SET body = coalesce(
       (SELECT json_object_agg(key, value) FROM json_each(kept.body)
         WHERE key IN ({", ".join(f"'{name}'" for name in KEPT)})), '{{}}')
  FROM reviews_request AS r
 WHERE kept.request_id > %s AND kept.request_id <= %s AND r.id = kept.request_id
   AND r.texts_removed_at IS NOT NULL
"""  # noqa: S608 (nothing in it comes from outside)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0017_indexes_of_lanes")]
    operations = [FillByKey(FOLLOWING, FILL)]
