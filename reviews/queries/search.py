"""Finds requests by the words of their text, with PostgreSQL's full-text index.

Both are in NFKC, so that `１２３` is `123`, and é is é as one character or as two.
ASCII punctuation is removed from the indexed text and from what somebody types. Otherwise the
parser would keep addresses whole and read `order-4821` as a negative number. The account is a
word of the index too, so a search reads only the account's entries.
"""

import re
import unicodedata
from typing import Any

from django.db import connection

from reviews.models import RequestQuerySet

# Every ASCII character but letters and digits, and typographic apostrophes and dashes. The trigger
# that writes the words (migration 0015) removes and separates the same, after the same NFKC.
SEPARATORS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\u2010-\u201f\u2032\u2033\u2212\u02bc]+"
INVISIBLE = r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+"
MAX_WORDS = 12
MAX_SCANNED = 1000  # newest requests that are scanned before the index is used
MAX_INDEXED = 1000  # matches from the index; the planner cannot tell rare prefixes from common ones
MIN_PREFIX_LENGTH = 8  # characters of an id; they fix its time to the minute
_ID_PREFIX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX_LENGTH},24}}\Z")

_PARSED = "to_tsquery('simple'::regconfig, %s)"
_BY_INDEX = f"""
SELECT request_id FROM reviews_requestwords
 WHERE words @@ ({_PARSED} && %s::tsquery) AND numnode({_PARSED}) > 0"""  # noqa: S608
# OFFSET keeps the planner from joining with all matches instead of reading one row.
_BY_ROW = f"""EXISTS (SELECT FROM reviews_requestwords
     WHERE request_id = scanned.id AND account_id = %s AND words @@ (SELECT {_PARSED}) OFFSET 0)"""
# Whether the row `r` has all of `words`; false without a searchable word.
HAS_WORDS = """EXISTS (SELECT FROM reviews_requestwords
     WHERE request_id = r.id AND words @@ to_tsquery('simple'::regconfig, %(words)s) OFFSET 0)"""
# Up to MAX_INDEXED + 1 requests that have all of `words` and were created by one of the accounts
# of a subquery.
INDEXED = """
SELECT request_id AS id FROM reviews_requestwords
 WHERE words @@ (to_tsquery('simple'::regconfig, %(words)s) && (
           SELECT string_agg(quote_literal('=' || account), ' | ')::tsquery
             FROM ({accounts}) AS creator (account)))
   AND numnode(to_tsquery('simple'::regconfig, %(words)s)) > 0
 LIMIT {limit}"""
# Hexadecimal digits sort alike in every collation; LIKE would need an index of its own.
_BY_ID = "id >= %s AND id < %s"


def find_newest(
    requests: RequestQuerySet, *, account_id: str, typed: str, count: int
) -> RequestQuerySet:
    """Finds the account's newest requests that match, `count` or more if there are so many.

    A request matches if each typed word begins a word of its text, or if its id begins with what
    was typed. A scan from the newest finds common words soon; the index finds rare words fast but
    is slow for common ones. So the search scans the MAX_SCANNED newest, then takes up to
    MAX_INDEXED from the index, and scans to the end only if the index has more.
    """
    own: RequestQuerySet = requests.created_by(account_id)
    query = parse_words(typed)
    if not query or own.query.is_empty():  # Django cannot build SQL for an empty set
        return own.none()
    indexed, by_index = _BY_INDEX, [query, f"'={account_id}'", query]
    row, by_row = _BY_ROW, [account_id, query]
    prefix = typed.strip().lower()
    if _ID_PREFIX.match(prefix):
        ends = [prefix, prefix + "g"]
        indexed += f" UNION ALL SELECT id FROM reviews_request WHERE creator_id = %s AND {_BY_ID}"  # noqa: S608
        row = f"({row} OR {_BY_ID})"
        by_index, by_row = [*by_index, account_id, *ends], by_row + ends
    ids = _scan_newest(own, row, by_row, count, limit=MAX_SCANNED)
    if len(ids) < count:
        ids = _find_in_index(own, indexed, by_index) or ids
        if len(ids) > MAX_INDEXED:
            ids = _scan_newest(own, row, by_row, count)
    return own.filter(pk__in=ids)


def parse_words(typed: str) -> str:
    """Returns the text of a query for requests in which each typed word begins a word."""
    plain = re.sub(INVISIBLE, "", unicodedata.normalize("NFKC", typed.replace("\0", " ")))
    words = re.sub(SEPARATORS, " ", plain).split()[:MAX_WORDS]
    return " & ".join(f"'{word}':*" for word in words)


def _find_in_index(requests: RequestQuerySet, indexed: str, params: list[str]) -> list[str]:
    """Returns up to MAX_INDEXED + 1 ids from the index; [] if the scan covered all requests."""
    rest = requests.order_by("-created_at", "-id").values("id")[MAX_SCANNED : MAX_SCANNED + 1]
    sql, placed = rest.query.sql_with_params()
    return _fetch_ids(
        f"SELECT * FROM ({indexed}) AS ids WHERE EXISTS ({sql}) LIMIT {MAX_INDEXED + 1}",  # noqa: S608
        [*params, *placed],
    )


def _scan_newest(
    requests: RequestQuerySet,
    matches: str,
    params: list[str],
    count: int,
    limit: int | None = None,
) -> list[str]:
    """Returns the ids of the newest `count` matches among the `limit` newest, or among all."""
    scanned = requests.order_by("-created_at", "-id").values("id", "created_at")[:limit]
    sql, placed = scanned.query.sql_with_params()
    return _fetch_ids(
        f"""SELECT id FROM ({sql}) AS scanned WHERE {matches}
         ORDER BY created_at DESC, id DESC LIMIT {count:d}""",  # noqa: S608
        [*placed, *params],
    )


def _fetch_ids(sql: str, params: list[Any]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [pk for (pk,) in cursor.fetchall()]
