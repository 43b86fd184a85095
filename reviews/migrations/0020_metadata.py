"""Adds the metadata of requests, and the function that writes it for its index."""

from django.db import migrations

from db.columns import ExactJSONField

# As reviews.models.metadata writes pairs. Without the cast the function would not be immutable.
FUNCTION = """
CREATE OR REPLACE FUNCTION reviews_metadata_pairs(account text, metadata json) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(account || length(key)::text || ':' || key || value)
      FROM json_each_text(metadata)
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0019_index_of_mail_lanes")]
    operations = [
        migrations.AddField("request", "metadata", ExactJSONField(null=True)),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION IF EXISTS reviews_metadata_pairs(text, json)"),
    ]
