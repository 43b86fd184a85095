"""Writes the search words of requests in one form (NFKC), and those of existing requests anew."""

from django.db import migrations

from db.operations import FillByKey

FUNCTIONS = r"""
CREATE OR REPLACE FUNCTION reviews_search_words(text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('simple'::regconfig, regexp_replace(regexp_replace(normalize($1, NFKC),
        '[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+', '', 'g'),
        '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\u2010-\u201f\u2032\u2033\u2212\u02bc]+', ' ', 'g'))
$$;
CREATE OR REPLACE FUNCTION reviews_request_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reviews_requestwords (request_id, account_id, words) SELECT id, creator_id,
           reviews_search_words(request_text) || array_to_tsvector(ARRAY['=' || creator_id::text])
      FROM fresh;
    RETURN NULL;
END $$;
"""
BEFORE = r"""
CREATE OR REPLACE FUNCTION reviews_request_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reviews_requestwords (request_id, account_id, words) SELECT id, creator_id,
    to_tsvector('simple'::regconfig, regexp_replace(request_text,
        '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+', ' ', 'g'))
    || array_to_tsvector(ARRAY['=' || creator_id::text])
      FROM fresh;
    RETURN NULL;
END $$;
DROP FUNCTION IF EXISTS reviews_search_words(text);
"""
# The words of ASCII texts are the same as before. Ids are read once, in their order.
FOLLOWING = """
SELECT max(id) FROM
       (SELECT id FROM reviews_request WHERE id > %s ORDER BY id LIMIT 2000) AS batch
"""
FILL = """
UPDATE reviews_requestwords AS kept SET words = found.words
  FROM (SELECT id, reviews_search_words(request_text)
               || array_to_tsvector(ARRAY['=' || creator_id::text]) AS words
          FROM reviews_request
         WHERE id > %s AND id <= %s AND request_text ~ '[^\\x01-\\x7f]') AS found
 WHERE kept.request_id = found.id AND kept.words IS DISTINCT FROM found.words
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0014_erasures")]
    operations = [
        migrations.RunSQL(FUNCTIONS, BEFORE),
        FillByKey(FOLLOWING, FILL),
    ]
