"""Reads API keys and the audit log, page by page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import (
    Case,
    DateTimeField,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Now

from accounts.models import ApiKey, AuditEntry, Usage, User
from web.keyset import KeysetPage, Place, read_page

KEYS_PER_PAGE = 25
ENTRIES_PER_PAGE = 50


class ThisHour(Func):
    """The current clock hour (UTC) of the database, which is the hour of the quota."""

    template = "date_trunc('hour', statement_timestamp(), 'UTC')"
    output_field = DateTimeField()


def read_keys(account_id: str, *, after: Place | None = None) -> KeysetPage:
    """Reads the account's keys except deleted ones, with the columns of `annotate_keys`."""
    return read_page(
        annotate_keys(ApiKey.objects.of_account(account_id)),
        after=after,
        size=KEYS_PER_PAGE,
    )


def find_key(account_id: str, key_id: str) -> ApiKey | None:
    """Finds the account's key, also a deleted one, with the columns of `annotate_keys`."""
    rows = annotate_keys(ApiKey.objects.filter(user_id=account_id, pk=key_id))
    key: ApiKey | None = rows.first()
    return key


def annotate_keys(keys: Any) -> Any:
    """Adds `limit`, `used` (calls this hour), `last_used_at` and `standing` to keys.

    `standing` is active, inactive, revoked, expired, rolled (replaced, no longer valid) or rolling
    (replaced, still valid).
    """
    own = Usage.objects.filter(key=OuterRef("pk"), account=OuterRef("user"))
    usage = own.order_by("-hour")
    this_hour = usage.filter(hour=ThisHour()).values_list(F("calls") - F("credits"))
    has_ended = Q(expires_at__lte=Now())
    return keys.select_related("replaced_by", "replaces").annotate(
        limit=Coalesce(
            "hourly_limit", "user__hourly_limit", Value(settings.API_HOURLY_LIMIT),
            output_field=IntegerField(),
        ),
        used=Coalesce(Subquery(this_hour), 0),
        last_used_at=Subquery(usage.values("last_at")[:1]),
        standing=Case(
            When(state__in=[ApiKey.State.REVOKED, ApiKey.State.INACTIVE], then="state"),
            When(has_ended & Q(replaced_by__isnull=False), then=Value("rolled")),
            When(has_ended, then=Value("expired")),
            When(replaced_by__isnull=False, then=Value("rolling")),
            default=Value("active"),
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filters of the audit log: the kind, the actor (`me`, `others`) and the period."""

    kind: str = ""
    who: str = ""
    since: datetime | None = None
    until: datetime | None = None


def read_audit(account: User, *, filters: AuditFilter, after: Place | None = None) -> KeysetPage:
    """Reads the account's audit log, with actors and keys."""
    rows = AuditEntry.objects.filter(account=account).select_related("actor", "key")
    if filters.kind:
        rows = rows.filter(action__startswith=f"{filters.kind}.")
    if filters.who == "me":
        rows = rows.filter(actor=account)
    elif filters.who == "others":
        rows = rows.exclude(actor=account)
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(created_at__lt=filters.until)
    return read_page(rows, after=after, size=ENTRIES_PER_PAGE)
