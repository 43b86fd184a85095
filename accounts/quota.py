"""Checks API keys and charges their quota (docs/contract.md, `auth` and `quota`).

Each call takes one statement. The clock of the database decides the hour. The count is committed
asynchronously, so a crash may lose the last few counted calls of a key, but never an answer.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from accounts import key_format

_CHARGE = """
WITH caller AS (
    SELECT k.id AS key_id, k.permissions,
           k.state = 'active' AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())
               AS usable,
           coalesce(k.hourly_limit, u.hourly_limit, %(default_limit)s) AS hourly_limit,
           date_trunc('hour', statement_timestamp(), 'UTC') AS hour,
           u.id AS user_id, u.email, u.name, u.is_active
      FROM accounts_apikey k JOIN accounts_user u ON u.id = k.user_id
     WHERE k.digest = %(digest)s AND k.state <> 'deleted'
), asynchronous AS (
    SELECT set_config('synchronous_commit', 'off', true)
), charged AS (
    INSERT INTO accounts_usage AS usage (account_id, key_id, hour, calls, credits, last_at)
    SELECT user_id, key_id, hour, 1, 0, statement_timestamp() FROM caller, asynchronous
     WHERE usable AND %(charge)s
    ON CONFLICT ON CONSTRAINT accounts_usage_pkey
    DO UPDATE SET calls = usage.calls + 1, last_at = excluded.last_at
     WHERE usage.calls - usage.credits < (SELECT hourly_limit FROM caller)
    RETURNING calls - credits AS used
)
SELECT caller.key_id, caller.permissions, caller.usable, caller.hourly_limit,
       extract(epoch FROM caller.hour)::bigint + 3600,
       caller.user_id, caller.email, caller.name, caller.is_active,
       charged.used, coalesce(usage.calls - usage.credits, 0)
  FROM caller
  LEFT JOIN charged ON true
  LEFT JOIN accounts_usage usage ON usage.key_id = caller.key_id AND usage.hour = caller.hour
       AND usage.account_id = caller.user_id
"""

_CREDIT = """
UPDATE accounts_usage SET credits = credits + 1
 WHERE key_id = %(key_id)s AND account_id = %(account_id)s AND credits < calls
   AND hour = date_trunc('hour', statement_timestamp(), 'UTC')
   AND hour = date_trunc('hour', %(created_at)s::timestamptz, 'UTC')
"""


@dataclass(frozen=True, slots=True)
class Quota:
    """The limit and use of a key in this hour. `reset` is the Unix time of the next hour."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class Account:
    """The user that a key acts for, with the fields that the API needs, to save a query."""

    id: str
    email: str
    name: str
    is_active: bool


@dataclass(frozen=True, slots=True)
class Caller:
    """The key of a call. `exhausted` means that the call was refused and not charged."""

    key_id: str
    permissions: list[str]
    usable: bool
    exhausted: bool
    quota: Quota
    account: Account


def charge(key: str) -> Caller | None:
    """Charges one call to the key's hour and returns its caller; None for an unknown key.

    An unusable key, or one without calls left in this hour, is not charged.
    """
    return _read_caller(key, charge=True)


def wait_for_disk() -> None:
    """Makes the commit of this transaction wait for the disk, although a call was charged in it."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO DEFAULT")


def find_caller(key: str) -> Caller | None:
    """Returns the key's caller without a charge; None for an unknown key."""
    return _read_caller(key, charge=False)


def _read_caller(key: str, *, charge: bool) -> Caller | None:
    if not key_format.is_well_formed(key):
        return None
    row = fetch_row(
        _CHARGE,
        {
            "digest": key_format.digest(key),
            "default_limit": settings.API_HOURLY_LIMIT,
            "charge": charge,
        },
    )
    if row is None:
        return None
    key_id, permissions, usable, limit, reset, user_id, email, name, is_active, used, before = row
    return Caller(
        key_id=key_id,
        permissions=permissions,
        usable=usable,
        exhausted=charge and usable and used is None,
        quota=Quota(limit=limit, used=before if used is None else used, reset=reset),
        account=Account(id=user_id, email=email, name=name, is_active=is_active),
    )


def fetch_row(sql: str, params: dict[str, Any]) -> tuple[Any, ...] | None:
    """Returns the first row of the statement's result, or None."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def credit(*, key_id: str, account_id: str, created_at: datetime) -> bool:
    """Gives back one call for a cancelled request, if it was created in the current hour.

    Runs in the transaction of the cancel, so it happens once
    (docs/contract.md, `quota.credit_once`).
    """
    params: dict[str, Any] = {"key_id": key_id, "account_id": account_id}
    with connection.cursor() as cursor:
        cursor.execute(_CREDIT, {**params, "created_at": created_at})
        return bool(cursor.rowcount)
