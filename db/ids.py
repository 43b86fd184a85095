"""Creates and checks public ids: 24 hexadecimal characters, ordered by time.

The first 12 characters are the Unix time in milliseconds, so ids sort by creation. The others
are random, so nobody can guess one id from another. The last three characters of an account's id
are its bucket, one of 4,096. Every id that the account owns ends with the same three characters:
if data is ever split over several databases, the id alone says where a row is.
"""

import re
import secrets
import time

BUCKET = 3  # characters
_WELL_FORMED = re.compile(r"[0-9a-f]{24}\Z")


def new_id() -> str:
    """Returns a new id that no account owns: for an account itself or for a claim."""
    return f"{_milliseconds():012x}{secrets.token_hex(6)}"


def owned_id(account_id: str) -> str:
    """Returns a new id in the account's bucket. `owned_id_sql` does the same in SQL."""
    return f"{_milliseconds():012x}{secrets.token_hex(5)[:9]}{account_id[-BUCKET:]}"


def owned_id_sql(account_id: str) -> str:
    """Returns SQL for a new id in the bucket of the SQL expression `account_id`."""
    return (
        "lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::bigint), 12, '0')"
        " || left(replace(gen_random_uuid()::text, '-', ''), 9)"
        f" || right({account_id}, {BUCKET})"
    )


def bucket_of(row_id: str) -> str:
    """The bucket of an account's id, and of every id that it owns."""
    return row_id[-BUCKET:]


def is_in_bucket(row_id: str, account_id: str) -> bool:
    """Tells whether the id is in the account's bucket."""
    return bucket_of(row_id) == bucket_of(account_id)


def normalize_id(text: str) -> str | None:
    """Returns the id in lowercase, or None if `text` is not an id."""
    lowered = text.lower()
    return lowered if _WELL_FORMED.match(lowered) else None


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
