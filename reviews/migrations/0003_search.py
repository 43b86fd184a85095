"""The index behind the search in requests' texts; `reviews.queries.search` says why it looks so."""

from django.db import migrations

CREATE = r"""
CREATE INDEX request_words ON reviews_request USING gin ((
    to_tsvector('simple'::regconfig, regexp_replace(request_text,
        '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+', ' ', 'g'))
    || array_to_tsvector(ARRAY['=' || creator_id::text])
));
"""
DROP = "DROP INDEX request_words;"


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_final_statuses")]
    operations = [migrations.RunSQL(CREATE, DROP)]
