"""Lets the audit log end: old entries may be removed, and erased people made anonymous."""

from django.db import migrations

# Only for a transaction that says so, and no more than it says. Entries of the last 30 days stay
# whatever anybody sets; nobody changes who did what, or when.
MAY_END = """
CREATE OR REPLACE FUNCTION accounts_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    purpose text := current_setting('review_loop.audit', true);
BEGIN
    IF TG_OP = 'DELETE' AND purpose = 'prune'
       AND OLD.created_at < statement_timestamp() - interval '30 days' THEN
        RETURN OLD;
    ELSIF TG_OP = 'UPDATE' AND purpose = 'erase'
       AND to_jsonb(NEW) - 'subject' - 'ip' = to_jsonb(OLD) - 'subject' - 'ip' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
NEVER_ENDS = """
CREATE OR REPLACE FUNCTION accounts_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_setup_hidden")]
    operations = [migrations.RunSQL(MAY_END, NEVER_ENDS)]
