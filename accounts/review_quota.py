"""Checks review tokens and counts their calls (docs/contract.md, `review.token`, `review.quota`).

As for API keys (`accounts.quota`), each call takes one statement, whose commit does not wait for
the disk.
"""

from django.conf import settings

from accounts import key_format
from accounts.quota import Account, Caller, Quota, fetch_row

PERMISSION = "review"  # the only one of a token; no API key has it
_THIS_HOUR = "date_trunc('hour', statement_timestamp(), 'UTC')"
_USABLE = "t.revoked_at IS NULL AND t.expires_at > statement_timestamp()"
_CHARGE = f"""
WITH caller AS (
    SELECT t.id, {_USABLE} AS usable, {_THIS_HOUR} AS hour,
           CASE WHEN t.hour = {_THIS_HOUR} THEN t.calls ELSE 0 END AS used,
           u.id AS user_id, u.email, u.name, u.is_active
      FROM accounts_reviewtoken t JOIN accounts_user u ON u.id = t.user_id
     WHERE t.digest = %(digest)s
), asynchronous AS (
    SELECT set_config('synchronous_commit', 'off', true)
), charged AS (
    UPDATE accounts_reviewtoken t
       SET calls = CASE WHEN t.hour = caller.hour THEN t.calls + 1 ELSE 1 END,
           hour = caller.hour, last_used_at = statement_timestamp()
      FROM caller, asynchronous
     WHERE t.id = caller.id AND t.user_id = caller.user_id AND %(charge)s AND {_USABLE}
       AND (t.hour IS DISTINCT FROM caller.hour OR t.calls < %(limit)s)
    RETURNING t.calls
)
SELECT caller.id, caller.usable, extract(epoch FROM caller.hour)::bigint + 3600,
       caller.user_id, caller.email, caller.name, caller.is_active, caller.used, charged.calls
  FROM caller LEFT JOIN charged ON true
"""  # noqa: S608 (nothing in it comes from outside)


def charge(token: str) -> Caller | None:
    """Counts one call of the token's hour and returns its caller; None for an unknown token.

    An unusable token, or one without calls left in this hour, is not charged.
    """
    return _read_caller(token, charge=True)


def find_caller(token: str) -> Caller | None:
    """Returns the token's caller without a charge; None for an unknown token."""
    return _read_caller(token, charge=False)


def _read_caller(token: str, *, charge: bool) -> Caller | None:
    if not key_format.is_well_formed(token, key_format.REVIEW_PREFIX):
        return None
    limit = settings.REVIEW_HOURLY_LIMIT
    params = {"digest": key_format.digest(token), "limit": limit}
    row = fetch_row(_CHARGE, {**params, "charge": charge})
    if row is None:
        return None
    token_id, usable, reset, user_id, email, name, is_active, used, charged = row
    exhausted = charge and usable and charged is None
    if exhausted and used < limit:  # revoked, or charged by another call, in this moment
        row = fetch_row(_CHARGE, {**params, "charge": False})
        usable = exhausted = row is not None and row[1]
    return Caller(
        key_id=token_id,
        permissions=[PERMISSION],
        usable=usable,
        exhausted=exhausted,
        quota=Quota(limit=limit, used=used if charged is None else charged, reset=reset),
        account=Account(id=user_id, email=email, name=name, is_active=is_active),
    )
