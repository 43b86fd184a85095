"""Reads the calls of API keys per hour, from the rows that count the quota."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

HOUR = timedelta(hours=1)

_HOURLY = """
SELECT date_trunc('hour', statement_timestamp(), 'UTC'),
       k.id, k.name, k.prefix || '…' || k.last_four,
       coalesce(k.hourly_limit, u.hourly_limit, %(default_limit)s),
       used.hour, used.calls - used.credits
  FROM accounts_apikey k
  JOIN accounts_user u ON u.id = k.user_id
  LEFT JOIN accounts_usage used ON used.key_id = k.id AND used.account_id = k.user_id
       AND used.hour > date_trunc('hour', statement_timestamp(), 'UTC') - %(period)s::interval
 WHERE k.user_id = %(account_id)s AND k.id = coalesce(%(key_id)s, k.id)
   AND (k.state NOT IN ('deleted', 'revoked') OR used.hour IS NOT NULL
        OR k.state = 'revoked' AND k.id = %(key_id)s)
 ORDER BY k.created_at, k.id, used.hour
"""


@dataclass(slots=True)
class KeyUsage:
    """The calls of one key, without the credited ones.

    `hours` has every hour of the period, the oldest first and the current one last.
    """

    key_id: str
    name: str
    display: str
    limit: int
    hours: dict[datetime, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.hours.values())

    @property
    def current(self) -> int:
        """The calls of this hour; `limit` is the maximum."""
        return next(reversed(self.hours.values()))


def read_hourly(account_id: str, *, hours: int = 24, key_id: str | None = None) -> list[KeyUsage]:
    """Reads the calls of each key in the last `hours` clock hours (UTC), the oldest key first.

    Leaves out revoked and deleted keys without calls in these hours. With `key_id`, reads only
    that key, also if it is revoked.
    """
    usage: dict[str, KeyUsage] = {}
    parameters: dict[str, Any] = {
        "account_id": account_id,
        "key_id": key_id,
        "period": HOUR * hours,
        "default_limit": settings.API_HOURLY_LIMIT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOURLY, parameters)
        for now, pk, name, display, limit, hour, calls in cursor.fetchall():
            if pk not in usage:
                calls_by_hour = {now - HOUR * back: 0 for back in range(hours - 1, -1, -1)}
                usage[pk] = KeyUsage(pk, name, display, limit, calls_by_hour)
            if hour is not None:
                usage[pk].hours[hour] = calls
    return list(usage.values())
