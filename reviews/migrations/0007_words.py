"""The words of texts move into a table of their own: see reviews.models.words."""

import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

VECTOR = r"""
    to_tsvector('simple'::regconfig, regexp_replace(request_text,
        '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+', ' ', 'g'))
    || array_to_tsvector(ARRAY['=' || creator_id::text])
"""
TRIGGER = f"""
CREATE FUNCTION reviews_request_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reviews_requestwords (request_id, words) SELECT id, {VECTOR} FROM fresh;
    RETURN NULL;
END $$;
CREATE TRIGGER request_words_insert AFTER INSERT ON reviews_request
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reviews_request_words();
"""
NO_TRIGGER = """
DROP TRIGGER request_words_insert ON reviews_request;
DROP FUNCTION reviews_request_words();
"""
FILL = f"""
INSERT INTO reviews_requestwords (request_id, words) SELECT id, {VECTOR} FROM reviews_request;
DROP INDEX request_words;
CREATE INDEX request_words ON reviews_requestwords USING gin (words);
"""
EMPTY = f"""
DROP INDEX request_words;
CREATE INDEX request_words ON reviews_request USING gin (({VECTOR}));
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0006_lists")]
    operations = [
        migrations.CreateModel(
            name="RequestWords",
            fields=[
                (
                    "request",
                    models.OneToOneField(
                        primary_key=True,
                        serialize=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        db_constraint=False,
                        to="reviews.request",
                    ),
                ),
                ("words", django.contrib.postgres.search.SearchVectorField()),
            ],
        ),
        migrations.RunSQL(TRIGGER, NO_TRIGGER),
        migrations.RunSQL(FILL, EMPTY),
    ]
