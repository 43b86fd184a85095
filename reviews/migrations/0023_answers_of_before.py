"""Fills the table of answers from the requests that were answered before, in batches."""

from django.db import migrations

from db.ids import owned_id_sql
from db.operations import FillByKey

FOLLOWING = """
SELECT max(id) FROM
       (SELECT id FROM reviews_request WHERE id > %s ORDER BY id LIMIT 2000) AS batch
"""
FILL = f"""
INSERT INTO reviews_answer (id, request_id, account_id, loop_id, person_id, data, comment,
                            asked_at, answered_at)
SELECT {owned_id_sql("creator_id")}, id, creator_id, loop_id, response_by_id, response_data,
       response_comment, created_at, response_at
  FROM reviews_request
 WHERE id > %s AND id <= %s AND response_by_id IS NOT NULL
ON CONFLICT ON CONSTRAINT one_answer_a_person DO NOTHING
"""  # noqa: S608 (nothing in it comes from outside)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0022_answers")]
    operations = [FillByKey(FOLLOWING, FILL)]
