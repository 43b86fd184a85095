"""Finding requests by the words of their text, with PostgreSQL's own full-text index.

Both sides, the indexed text and what somebody types, lose their ASCII punctuation first: the
parser would else keep addresses whole and read `order-4821` as a negative number. The account is
a word of the index too, so that a search reads nobody else's postings.
"""

import re
from typing import Any

from django.db import connection

from reviews.models import RequestQuerySet

# As in the trigger that writes the words: every ASCII character but letters and digits.
SEPARATORS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
MAX_WORDS = 12
NEAR = 1000  # requests that are looked at before the index is
RARE = 1000  # matches; the planner cannot tell rare words from common ones by their beginning
MIN_PREFIX_LENGTH = 8  # characters of an id: its first 12 are the time, to the minute here
_ID_PREFIX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX_LENGTH},24}}\Z")

_PARSED = "to_tsquery('simple'::regconfig, %s)"
_BY_INDEX = f"""
SELECT request_id FROM reviews_requestwords
 WHERE words @@ ({_PARSED} && %s::tsquery) AND numnode({_PARSED}) > 0"""  # noqa: S608
# OFFSET keeps the planner from turning the look at one row into a join with all that match.
_BY_ROW = f"""EXISTS (SELECT FROM reviews_requestwords
     WHERE request_id = walked.id AND account_id = %s AND words @@ (SELECT {_PARSED}) OFFSET 0)"""
# Hexadecimal digits sort alike in every collation; LIKE would need an index of its own.
_BY_ID = "id >= %s AND id < %s"


def newest(
    requests: RequestQuerySet, *, account_id: str, typed: str, count: int
) -> RequestQuerySet:
    """Those of the account's requests whose text has words that begin with every typed one, or
    whose id begins with what was typed: the newest `count` at least.

    Common words are met soon by going through the requests in order, and rare ones are few in the
    index, which takes long over common ones. So the NEAR newest are looked through, then up to
    RARE taken from the index, and only what is neither near nor rare is walked for to the end.
    """
    mine: RequestQuerySet = requests.created_by(account_id)
    words = re.sub(SEPARATORS, " ", typed.replace("\0", " ")).split()[:MAX_WORDS]
    if not words:
        return mine.none()
    query = " & ".join(f"'{word}':*" for word in words)
    indexed, by_index = _BY_INDEX, [query, f"'={account_id}'", query]
    row, by_row = _BY_ROW, [account_id, query]
    prefix = typed.strip().lower()
    if _ID_PREFIX.match(prefix):
        ends = [prefix, prefix + "g"]
        indexed += f" UNION ALL SELECT id FROM reviews_request WHERE creator_id = %s AND {_BY_ID}"  # noqa: S608
        row = f"({row} OR {_BY_ID})"
        by_index, by_row = [*by_index, account_id, *ends], by_row + ends
    found = _walk(mine, row, by_row, count, most=NEAR)
    if len(found) < count:
        found = _farther(mine, indexed, by_index) or found
        if len(found) > RARE:
            found = _walk(mine, row, by_row, count)
    return mine.filter(pk__in=found)


def _farther(requests: RequestQuerySet, indexed: str, params: list[str]) -> list[str]:
    """Up to RARE from the index, and one more; none, and no look at it, where all are near."""
    rest = requests.order_by("-created_at", "-id").values("id")[NEAR : NEAR + 1]
    sql, placed = rest.query.sql_with_params()
    return _ids(
        f"SELECT * FROM ({indexed}) AS ids WHERE EXISTS ({sql}) LIMIT {RARE + 1}",  # noqa: S608
        [*params, *placed],
    )


def _walk(
    requests: RequestQuerySet,
    matches: str,
    params: list[str],
    count: int,
    most: int | None = None,
) -> list[str]:
    """The newest `count` that match, of the `most` newest or of all."""
    walked = requests.order_by("-created_at", "-id").values("id", "created_at")[:most]
    sql, placed = walked.query.sql_with_params()
    return _ids(
        f"""SELECT id FROM ({sql}) AS walked WHERE {matches}
         ORDER BY created_at DESC, id DESC LIMIT {count:d}""",  # noqa: S608
        [*placed, *params],
    )


def _ids(sql: str, params: list[Any]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [pk for (pk,) in cursor.fetchall()]
