"""Finding requests by the words of their text, with PostgreSQL's own full-text index.

Both sides, the indexed text and what somebody types, lose their ASCII punctuation first: the
parser would else keep addresses whole and read `order-4821` as a negative number. The account is
a word of the index too, so that a search reads nobody else's postings.
"""

import re

from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from reviews.models import RequestQuerySet

# In both languages the same set: every ASCII character but letters and digits.
SEPARATORS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
# The expression of the index request_words (migration search): both must stay equal.
VECTOR = (
    "(to_tsvector('simple'::regconfig, regexp_replace(reviews_request.request_text,"
    f" '{SEPARATORS}', ' ', 'g'))"
    " || array_to_tsvector(ARRAY['=' || reviews_request.creator_id::text]))"
)
MOST_WORDS = 12
SHORTEST_PREFIX = 8  # characters of an id: its first 12 are the time, to the minute here
_ID_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},24}}\Z")


def find(requests: RequestQuerySet, *, account_id: str, typed: str) -> RequestQuerySet:
    """Those of the account's requests whose text has words that begin with every typed one, or
    whose id begins with what was typed."""
    words = re.sub(SEPARATORS, " ", typed.replace("\0", " ")).split()[:MOST_WORDS]
    found: RequestQuerySet = requests.created_by(account_id)
    if not words:
        return found.none()
    parsed = "to_tsquery('simple'::regconfig, %s)"
    sql = f"({VECTOR} @@ ({parsed} && %s::tsquery) AND numnode({parsed}) > 0)"
    query = " & ".join(f"'{word}':*" for word in words)
    matches = Q(RawSQL(sql, [query, f"'={account_id}'", query], BooleanField()))  # noqa: S611 (no word of SQL is typed)
    prefix = typed.strip().lower()
    if _ID_PREFIX.match(prefix):
        # hexadecimal digits sort alike in every collation; LIKE would need an index of its own
        matches |= Q(pk__gte=prefix, pk__lt=prefix + "g")
    return found.filter(matches)
