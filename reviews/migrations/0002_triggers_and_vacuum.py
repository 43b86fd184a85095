"""Creates the triggers on requests, the index on their words, statistics and vacuum settings."""

from django.db import migrations

# The database refuses every transition out of a final status.
FINAL = """
CREATE FUNCTION reviews_request_keep_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'request % is % for good', OLD.id, OLD.status
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER request_final_status BEFORE UPDATE OF status ON reviews_request
    FOR EACH ROW
    WHEN (OLD.status IN ('completed', 'timeout', 'cancelled'))
    EXECUTE FUNCTION reviews_request_keep_final();
"""
NO_FINAL = """
DROP TRIGGER request_final_status ON reviews_request;
DROP FUNCTION reviews_request_keep_final();
"""
# Writes the changes of the counters (`reviews.counters`). A trigger sees every writer, also COPY and
# SQL by hand. It runs for each statement, not for each row, so a sweep of 500 rows adds few changes.
COUNTERS = """
CREATE FUNCTION reviews_request_counters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO reviews_counterchange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, count(*) FROM fresh GROUP BY 1, 2, 3, 4;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO reviews_counterchange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, -count(*) FROM gone GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO reviews_counterchange (creator_id, loop_id, status, priority, n)
        SELECT creator_id, loop_id, status, priority, sum(one)
          FROM (SELECT creator_id, loop_id, status, priority, 1 AS one FROM fresh
                 UNION ALL
                SELECT creator_id, loop_id, status, priority, -1 FROM gone) AS change
         GROUP BY 1, 2, 3, 4 HAVING sum(one) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER request_counters_insert AFTER INSERT ON reviews_request
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_counters();
CREATE TRIGGER request_counters_update AFTER UPDATE ON reviews_request
    REFERENCING NEW TABLE AS fresh OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_counters();
CREATE TRIGGER request_counters_delete AFTER DELETE ON reviews_request
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_counters();
"""
NO_COUNTERS = """
DROP TRIGGER request_counters_insert ON reviews_request;
DROP TRIGGER request_counters_update ON reviews_request;
DROP TRIGGER request_counters_delete ON reviews_request;
DROP FUNCTION reviews_request_counters();
"""
# Writes the search words of requests; `reviews.queries.search` gives the reasons for their form.
WORDS = r"""
CREATE FUNCTION reviews_request_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reviews_requestwords (request_id, account_id, words) SELECT id, creator_id,
    to_tsvector('simple'::regconfig, regexp_replace(request_text,
        '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+', ' ', 'g'))
    || array_to_tsvector(ARRAY['=' || creator_id::text])
      FROM fresh;
    RETURN NULL;
END $$;
CREATE TRIGGER request_words_insert AFTER INSERT ON reviews_request
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_words();
CREATE INDEX request_words ON reviews_requestwords USING gin (words);
"""
NO_WORDS = """
DROP INDEX request_words;
DROP TRIGGER request_words_insert ON reviews_request;
DROP FUNCTION reviews_request_words();
"""

# On the expression of the index `request_due`: the planner uses no statistics of a partial index,
# and without statistics it does not know that few rows are overdue.
STATISTICS = """
CREATE STATISTICS request_due_at
    ON (CASE WHEN status IN ('pending', 'claimed') THEN timeout_at END) FROM reviews_request;
"""
# Without a fresh visibility map an index-only scan fetches every row. At the default scale of 20 %
# a table of a million rows is vacuumed once in 200,000 changes, which is too late.
VACUUM = """
ALTER TABLE reviews_request SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02);
-- every counter is a row that is updated often: the page keeps room for its next version
ALTER TABLE reviews_counter SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- rows live for a second: vacuum removes dead rows soon, whatever the size of the table
ALTER TABLE reviews_counterchange SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
"""
NO_VACUUM = """
ALTER TABLE reviews_request RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor,
    autovacuum_analyze_scale_factor);
ALTER TABLE reviews_counter RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
ALTER TABLE reviews_counterchange RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_cost_delay);
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_tables")]
    operations = [
        migrations.RunSQL(FINAL, NO_FINAL),
        migrations.RunSQL(COUNTERS, NO_COUNTERS),
        migrations.RunSQL(WORDS, NO_WORDS),
        migrations.RunSQL(STATISTICS, "DROP STATISTICS request_due_at"),
        migrations.RunSQL(VACUUM, NO_VACUUM),
    ]
