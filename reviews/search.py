"""Finding requests by the words of their text, with PostgreSQL's own full-text index.

Both sides, the indexed text and what somebody types, lose their ASCII punctuation first: the
parser would else keep addresses whole and read `order-4821` as a negative number. The account is
a word of the index too, so that a search reads nobody else's postings.
"""

import re

from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from reviews.models import RequestQuerySet

# As in the trigger that writes the words: every ASCII character but letters and digits.
SEPARATORS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
MOST_WORDS = 12
RARE = 1000  # matches; the planner cannot tell rare words from common ones by their beginning
SHORTEST_PREFIX = 8  # characters of an id: its first 12 are the time, to the minute here
_ID_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},24}}\Z")


def find(requests: RequestQuerySet, *, account_id: str, typed: str) -> RequestQuerySet:
    """Those of the account's requests whose text has words that begin with every typed one, or
    whose id begins with what was typed.

    Up to RARE are found by their words and then sorted; of more, so many match that going through
    the account's requests in order comes upon a page of them soon.
    """
    words = re.sub(SEPARATORS, " ", typed.replace("\0", " ")).split()[:MOST_WORDS]
    found: RequestQuerySet = requests.created_by(account_id)
    if not words:
        return found.none()
    parsed = "to_tsquery('simple'::regconfig, %s)"
    ids = f"""SELECT request_id FROM reviews_requestwords
        WHERE words @@ ({parsed} && %s::tsquery) AND numnode({parsed}) > 0"""  # noqa: S608
    query = " & ".join(f"'{word}':*" for word in words)
    params = [query, f"'={account_id}'", query]
    prefix = typed.strip().lower()
    if _ID_PREFIX.match(prefix):
        # hexadecimal digits sort alike in every collation; LIKE would need an index of its own
        ids += " UNION ALL SELECT id FROM reviews_request WHERE id >= %s AND id < %s"
        params += [prefix, prefix + "g"]
    first = matching(ids, params)
    if len(first) <= RARE:
        return found.filter(pk__in=first)
    matches = RawSQL(f"reviews_request.id IN ({ids})", params, BooleanField())  # noqa: S611 (no word of SQL is typed)
    return found.filter(matches)


def matching(ids: str, params: list[str]) -> list[str]:
    """The first of the ids that a statement reads: RARE, and one more."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({ids}) AS ids LIMIT {RARE + 1}", params)  # noqa: S608
        return [pk for (pk,) in cursor.fetchall()]
