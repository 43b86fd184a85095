"""Lists of API keys and of the audit log, page by page."""

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
from web.keyset import KeysetPage, read_page

KEYS_PER_PAGE = 25
ENTRIES_PER_PAGE = 50


class ThisHour(Func):
    """The clock hour (UTC) of the statement, by the database's clock: the quota's hour."""

    template = "date_trunc('hour', statement_timestamp(), 'UTC')"
    output_field = DateTimeField()


def read_keys(account_id: str, *, cursor: str | None = None) -> KeysetPage:
    """The account's keys as `described`, those that it deleted aside."""
    return read_page(
        described(ApiKey.objects.of_account(account_id)),
        cursor=cursor,
        among=ApiKey.objects.filter(user_id=account_id),
        size=KEYS_PER_PAGE,
    )


def find_key(account_id: str, key_id: str) -> ApiKey | None:
    """The account's key as `described`, a deleted one too."""
    found: ApiKey | None = described(ApiKey.objects.filter(user_id=account_id, pk=key_id)).first()
    return found


def described(keys: Any) -> Any:
    """Each with `limit`, `used` in this hour, `last_used_at`, and its `standing`: active,
    inactive, revoked, expired, rolled (over) or rolling (still valid beside its successor)."""
    mine = Usage.objects.filter(key=OuterRef("pk"), account=OuterRef("user"))
    usage = mine.order_by("-hour")
    this_hour = usage.filter(hour=ThisHour()).values_list(F("calls") - F("credits"))
    over = Q(expires_at__lte=Now())
    return keys.select_related("replaced_by", "replaces").annotate(
        limit=Coalesce(
            "hourly_limit", "user__hourly_limit", Value(settings.API_HOURLY_LIMIT),
            output_field=IntegerField(),
        ),
        used=Coalesce(Subquery(this_hour), 0),
        last_used_at=Subquery(usage.values("last_at")[:1]),
        standing=Case(
            When(state__in=[ApiKey.State.REVOKED, ApiKey.State.INACTIVE], then="state"),
            When(over & Q(replaced_by__isnull=False), then=Value("rolled")),
            When(over, then=Value("expired")),
            When(replaced_by__isnull=False, then=Value("rolling")),
            default=Value("active"),
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """Which entries of the audit log: of a kind, by whom (`me`, `others`), between two moments."""

    kind: str = ""
    who: str = ""
    since: datetime | None = None
    until: datetime | None = None


def read_audit(account: User, *, choice: Choice, cursor: str | None = None) -> KeysetPage:
    """What was done to the account, with actor and key."""
    entries = AuditEntry.objects.filter(account=account)
    found = entries.select_related("actor", "key")
    if choice.kind:
        found = found.filter(action__startswith=f"{choice.kind}.")
    if choice.who == "me":
        found = found.filter(actor=account)
    elif choice.who == "others":
        found = found.exclude(actor=account)
    if choice.since:
        found = found.filter(created_at__gte=choice.since)
    if choice.until:
        found = found.filter(created_at__lt=choice.until)
    return read_page(found, cursor=cursor, among=entries, size=ENTRIES_PER_PAGE)
