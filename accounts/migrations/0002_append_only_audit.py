"""The audit log only grows: the database refuses changes and deletions."""

from django.db import migrations

CREATE = """
CREATE FUNCTION accounts_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON accounts_auditentry
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
"""
DROP = """
DROP TRIGGER audit_append_only ON accounts_auditentry;
DROP FUNCTION accounts_audit_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
