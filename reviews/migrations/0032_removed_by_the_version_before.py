"""Lets the version before remove requests and texts, though it does not know the newer tables.

That version serves until the new one has started. Its DELETE of a request takes the rows with it
that refer to the request. When it removes texts, a trigger removes those that it does not know;
what `reviews.retention` has already emptied stays as it is.
"""

from django.db import migrations

# Beside those of Django, which look only at the end of the transaction.
FOREIGN_KEY = """
ALTER TABLE reviews_{table} ADD CONSTRAINT {table}_request
    FOREIGN KEY (request_id) REFERENCES reviews_request (id) ON DELETE CASCADE
    DEFERRABLE INITIALLY DEFERRED NOT VALID
"""
NO_FOREIGN_KEY = "ALTER TABLE reviews_{table} DROP CONSTRAINT {table}_request"
TABLES = ("answer", "receipt", "viewer")
# as `reviews.retention` does
TRIGGER = """
CREATE FUNCTION reviews_without_texts(kind text, value json) RETURNS json
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value IS NULL THEN NULL
                WHEN kind = 'text' THEN '""'
                WHEN kind = 'form' THEN '{}'
                WHEN kind = 'approval' THEN json_strip_nulls(json_build_object(
                    'action', value->'action', 'edited', value->'edited'))
                ELSE value END
$$;
CREATE FUNCTION reviews_request_texts_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reviews_answer
       SET comment = NULL, data = reviews_without_texts(NEW.response_type, data)
     WHERE request_id = NEW.id AND account_id = NEW.creator_id
       AND (comment IS NOT NULL
            OR data::text <> reviews_without_texts(NEW.response_type, data)::text);
    NEW.metadata := NULL;
    NEW.response_data := reviews_without_texts(NEW.response_type, NEW.response_data);
    NEW.default_response := reviews_without_texts(NEW.response_type, NEW.default_response);
    IF NEW.response_type = 'form' THEN
        NEW.response_config := '{}';
    ELSIF NEW.response_type = 'approval' THEN
        NEW.response_config := json_build_object(
            'proposal', json_build_object('name', NEW.response_config->'proposal'->'name'));
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER request_texts_removed BEFORE UPDATE OF texts_removed_at ON reviews_request
    FOR EACH ROW WHEN (OLD.texts_removed_at IS NULL AND NEW.texts_removed_at IS NOT NULL)
    EXECUTE FUNCTION reviews_request_texts_removed();
"""
NO_TRIGGER = """
DROP TRIGGER request_texts_removed ON reviews_request;
DROP FUNCTION reviews_request_texts_removed();
DROP FUNCTION reviews_without_texts(text, json);
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0031_answers_agreed")]
    operations = [
        *(
            migrations.RunSQL(
                FOREIGN_KEY.format(table=table), NO_FOREIGN_KEY.format(table=table)
            )
            for table in TABLES
        ),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
    ]
