"""Exact totals without counting: sums, changes, and the trigger that writes the changes.

A trigger, because it forgets no writer, COPY and SQL by hand included. For each statement and not
for each row: a sweep of 500 rows adds a handful of changes.
"""

import db.columns
from django.db import migrations, models

TRIGGER = """
CREATE FUNCTION reviews_request_tally() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO reviews_tallychange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, count(*) FROM fresh GROUP BY 1, 2, 3, 4;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO reviews_tallychange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, -count(*) FROM gone GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO reviews_tallychange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, sum(one)
          FROM (SELECT creator_id, loop_id, status, priority, 1 AS one FROM fresh
                 UNION ALL
                SELECT creator_id, loop_id, status, priority, -1 FROM gone) AS change
         GROUP BY 1, 2, 3, 4 HAVING sum(one) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER request_tally_insert AFTER INSERT ON reviews_request
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_tally();
CREATE TRIGGER request_tally_update AFTER UPDATE ON reviews_request
    REFERENCING NEW TABLE AS fresh OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_tally();
CREATE TRIGGER request_tally_delete AFTER DELETE ON reviews_request
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_tally();
"""
NO_TRIGGER = """
DROP TRIGGER request_tally_insert ON reviews_request;
DROP TRIGGER request_tally_update ON reviews_request;
DROP TRIGGER request_tally_delete ON reviews_request;
DROP FUNCTION reviews_request_tally();
"""
# After the trigger: its lock keeps writers out until this migration is committed.
FILL = """
INSERT INTO reviews_tally (scope_id, status, priority, n)
SELECT scope_id, status, priority, count(*)
  FROM reviews_request CROSS JOIN LATERAL (VALUES (creator_id), (loop_id)) AS scope (scope_id)
 GROUP BY 1, 2, 3;
"""


def tally(*names):
    """The columns that sums and changes share, after those that say whose they are."""
    lengths = {**{name: 24 for name in names}, "status": 9, "priority": 8}
    return [
        ("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")),
        *((name, db.columns.LookupField(max_length=length)) for name, length in lengths.items()),
        ("n", models.BigIntegerField()),
    ]


class Migration(migrations.Migration):
    dependencies = [("reviews", "0004_notifications")]
    operations = [
        migrations.CreateModel(
            name="Tally",
            fields=tally("scope_id"),
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["scope_id", "status", "priority"], name="tally_of_scope_once"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="TallyChange",
            fields=tally("creator_id", "loop_id"),
            options={
                "indexes": [
                    models.Index(fields=["creator_id"], name="tally_change_account"),
                    models.Index(fields=["loop_id"], name="tally_change_loop"),
                ]
            },
        ),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
