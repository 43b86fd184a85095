"""Makes the audit log append-only, tunes the vacuum of usage, and adds the view of usage."""

from django.db import migrations

APPEND_ONLY = """
CREATE FUNCTION accounts_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON accounts_auditentry
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
"""
NO_APPEND_ONLY = """
DROP TRIGGER audit_append_only ON accounts_auditentry;
DROP FUNCTION accounts_audit_append_only();
"""
# Every call updates the row of its key and hour. The page keeps room for the next version, so that
# no index changes and no bloat remains. Vacuum depends on the number of updates, not of rows.
VACUUM = """
ALTER TABLE accounts_usage SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.05);
"""
NO_VACUUM = """
ALTER TABLE accounts_usage RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
    autovacuum_analyze_scale_factor);
"""
ROWS = """
CREATE VIEW accounts_usagerow AS
SELECT key_id || to_char(hour AT TIME ZONE 'UTC', 'YYYYMMDDHH24') AS id,
       key_id, hour, calls, credits, last_at
  FROM accounts_usage;
"""
# Django names the unique constraint of a one-to-one field by itself.
NAME = """
ALTER TABLE accounts_apikey
    RENAME CONSTRAINT accounts_apikey_replaced_by_id_key TO api_key_replaces_one;
"""
NO_NAME = """
ALTER TABLE accounts_apikey
    RENAME CONSTRAINT api_key_replaces_one TO accounts_apikey_replaced_by_id_key;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_tables")]
    operations = [
        migrations.RunSQL(APPEND_ONLY, NO_APPEND_ONLY),
        migrations.RunSQL(VACUUM, NO_VACUUM),
        migrations.RunSQL(ROWS, "DROP VIEW accounts_usagerow"),
        migrations.RunSQL(NAME, NO_NAME),
    ]
