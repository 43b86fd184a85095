"""Usage and audit entries go after the days that the service keeps them."""

import time
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import retention, tasks
from accounts.models import ApiKey, AuditEntry, Usage, User
from accounts.services import create_api_key
from db.ids import owned_id

pytestmark = pytest.mark.django_db


def prune() -> int:
    return retention.prune(until=time.monotonic() + 10)


def entry(account: User, *, days: int) -> AuditEntry:
    at = timezone.now() - timedelta(days=days)
    made: AuditEntry = AuditEntry.objects.create(
        id=f"{int(at.timestamp() * 1000):012x}{owned_id(account.pk)[12:]}",
        account=account, actor=account, action="loop.created", created_at=at,
    )  # fmt: skip
    return made


def used(key: ApiKey, *, days: int) -> None:
    at = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(days=days)
    Usage.objects.create(account_id=key.user_id, key=key, hour=at, calls=3, last_at=at)


def test_old_usage_goes(
    owner: User, outsider: User, settings: Settings,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    settings.KEEP_USAGE_DAYS = 31
    for account in (owner, outsider):
        key, _ = create_api_key(user=account, name="CI")
        for days in (0, 30, 31, 300):
            used(key, days=days)
    with django_assert_num_queries(1):
        assert prune() == 4
    oldest = timezone.now() - timedelta(days=31)
    assert Usage.objects.filter(hour__gt=oldest).count() == Usage.objects.count() == 4
    assert prune() == 0


def test_the_audit_log_stays_by_default(owner: User) -> None:
    entry(owner, days=4_000)
    assert prune() == 0


def test_old_entries_go_if_the_operator_says_so(owner: User, settings: Settings) -> None:
    settings.KEEP_AUDIT_DAYS = 40
    kept = entry(owner, days=39)
    entry(owner, days=41)
    assert prune() == 1
    assert AuditEntry.objects.get().pk == kept.pk


def test_nothing_else_may_remove_or_change_entries(owner: User) -> None:
    entry(owner, days=29)
    for purpose in ("prune", "erase", ""):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('review_loop.audit', %s, true)", [purpose])
            for change in (
                lambda: AuditEntry.objects.all().delete(),
                lambda: AuditEntry.objects.update(action="loop.deleted"),
            ):
                with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
                    change()


def test_a_restored_copy_keeps_everything(owner: User, settings: Settings) -> None:
    settings.KEEP_AUDIT_DAYS, settings.DELIVERIES_ARE_ON = 40, False
    entry(owner, days=41)
    assert tasks.prune_logs() == 0
    settings.DELIVERIES_ARE_ON = True
    assert tasks.prune_logs() == 1
