"""The limits of metadata, and how its index writes a pair: as one text, with its account."""

from collections.abc import Mapping

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, TextField

# How many pairs a request may have, and how many characters a key and a value.
MAX_PAIRS, MAX_KEY, MAX_VALUE = 16, 40, 500
# The SQL function is made by migration 0020.
PAIRS = Func(
    F("creator_id"),
    F("metadata"),
    function="reviews_metadata_pairs",
    output_field=ArrayField(TextField()),
)
# Whether the row has all of `pairs`; the first condition is that of the index.
HAS_PAIRS = """metadata IS NOT NULL
      AND reviews_metadata_pairs(creator_id, metadata) @> %(pairs)s::text[]"""


def write_pairs(account_id: str, metadata: Mapping[str, str]) -> list[str]:
    """Writes the pairs as the index has them for a request that the account created.

    The length of the key keeps it apart from the value.
    """
    return [f"{account_id}{len(key)}:{key}{value}" for key, value in metadata.items()]
