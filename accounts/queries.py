"""Keys and the audit log in windows, by keys and not by counting."""

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

KEYS_PER_PAGE = 25
ENTRIES_PER_PAGE = 50


class ThisHour(Func):
    """The clock hour (UTC) of the statement, by the database's clock: the quota's hour."""

    template = "date_trunc('hour', statement_timestamp(), 'UTC')"
    output_field = DateTimeField()


@dataclass(frozen=True, slots=True)
class Window:
    """The rows of one page, newest first; `older` is the id to go on behind."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def read_keys(account_id: str, *, behind: str | None = None) -> Window:
    """The account's keys as `described`, those that it deleted aside."""
    found = described(ApiKey.objects.of_account(account_id)).order_by("-created_at", "-pk")
    return _window(found, ApiKey, account_id, behind, KEYS_PER_PAGE)


def find_key(account_id: str, key_id: str) -> ApiKey | None:
    """The account's key as `described`, a deleted one too."""
    found: ApiKey | None = described(ApiKey.objects.filter(user_id=account_id, pk=key_id)).first()
    return found


def described(keys: Any) -> Any:
    """Each with `limit`, `used` in this hour, `last_used_at`, and its `standing`: active,
    inactive, revoked, expired, rolled (over) or rolling (still valid beside its successor)."""
    usage = Usage.objects.filter(key=OuterRef("pk")).order_by("-hour")
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


def read_audit(account: User, *, choice: Choice, behind: str | None = None) -> Window:
    """What was done to the account, with actor and key."""
    found = AuditEntry.objects.filter(account=account).select_related("actor", "key")
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
    entries = found.order_by("-created_at", "-pk")
    return _window(entries, AuditEntry, account.pk, behind, ENTRIES_PER_PAGE)


def _window(found: Any, model: Any, account_id: str, behind: str | None, size: int) -> Window:
    """Nothing where `behind` names a row of another account."""
    if behind is not None:
        owner = {"user_id" if model is ApiKey else "account_id": account_id}
        mark = model.objects.filter(pk=behind, **owner).values_list("created_at", flat=True).first()
        if mark is None:
            return Window([], is_first=False)
        found = found.filter(created_at__lte=mark).exclude(created_at=mark, pk__gte=behind)
    rows = list(found[: size + 1])
    older = rows[size - 1].pk if len(rows) > size else None
    return Window(rows[:size], is_first=behind is None, older=older)
