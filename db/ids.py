"""Public identifiers: 24 hexadecimal characters, time-ordered.

The first 12 characters are the Unix time in milliseconds, the others come from a cryptographic
source, so that ids sort by creation and cannot be guessed from one another. The last three of
an account's id are its bucket, one of 4,096. Every id that the account owns ends with the same
three, so that an id alone tells where its rows are, however many databases there may be one day.
"""

import re
import secrets
import time

BUCKET = 3  # characters
_WELL_FORMED = re.compile(r"[0-9a-f]{24}\Z")


def new_id() -> str:
    """A fresh id that no account owns: that of an account itself, or of a claim."""
    return f"{_milliseconds():012x}{secrets.token_hex(6)}"


def owned_id(account_id: str) -> str:
    """A fresh id in the account's bucket. `owned_id_sql` is the same in SQL."""
    return f"{_milliseconds():012x}{secrets.token_hex(5)[:9]}{account_id[-BUCKET:]}"


def owned_id_sql(account_id: str) -> str:
    """SQL: a fresh id for each row, in the bucket of the account that an expression names."""
    return (
        "lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::bigint), 12, '0')"
        " || left(replace(gen_random_uuid()::text, '-', ''), 9)"
        f" || right({account_id}, {BUCKET})"
    )


def is_in_bucket(owned: str, account_id: str) -> bool:
    """Whether the account may own an id that ends like this."""
    return owned[-BUCKET:] == account_id[-BUCKET:]


def normalize_id(text: str) -> str | None:
    """The id in lowercase, or None where `text` is no id."""
    lowered = text.lower()
    return lowered if _WELL_FORMED.match(lowered) else None


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
