"""A final status stays: the database refuses a second transition out of it."""

from django.db import migrations

CREATE = """
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
DROP = """
DROP TRIGGER request_final_status ON reviews_request;
DROP FUNCTION reviews_request_keep_final();
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
