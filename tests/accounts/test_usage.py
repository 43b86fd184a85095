"""Calls per key and hour, as the overview's chart shows them."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import ApiKey, Usage, User
from accounts.services import create_api_key, set_key_state
from accounts.usage import read_hourly

pytestmark = pytest.mark.django_db


def used(key: ApiKey, hours_ago: int, calls: int, credits: int = 0) -> None:
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    then = hour - timedelta(hours=hours_ago)
    Usage.objects.create(
        account_id=key.user_id, key=key, hour=then, calls=calls, credits=credits, last_at=then
    )


def test_every_hour_of_the_window_is_there(
    owner: User, outsider: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first, _ = create_api_key(user=owner, name="first", hourly_limit=9)
    second, _ = create_api_key(user=owner, name="second")
    create_api_key(user=outsider, name="theirs")
    for hours_ago, calls in ((0, 5), (1, 3), (23, 2), (24, 100)):
        used(first, hours_ago, calls, credits=1)
    with django_assert_num_queries(1):
        rows = read_hourly(owner.pk)
    assert [(row.name, row.display, row.limit) for row in rows] == [
        ("first", str(first), 9),
        ("second", str(second), 100),
    ]
    assert list(rows[0].hours.values()) == [1, *[0] * 21, 2, 4]
    assert (rows[0].total, rows[0].current) == (7, 4)
    assert sorted(rows[0].hours) == list(rows[0].hours)
    assert list(rows[1].hours.values()) == [0] * 24


def test_the_window_may_be_a_week(owner: User) -> None:
    key, _ = create_api_key(user=owner, name="first")
    used(key, 7 * 24 - 1, 4)
    (row,) = read_hourly(owner.pk, hours=7 * 24)
    assert len(row.hours) == 168
    assert row.total == 4


def test_a_deleted_key_is_told_of_while_it_has_calls(owner: User) -> None:
    for name, calls in (("busy", 3), ("idle", 0)):
        key, _ = create_api_key(user=owner, name=name)
        if calls:
            used(key, 1, calls)
        set_key_state(key=key, state=ApiKey.State.DELETED)
    assert [row.name for row in read_hourly(owner.pk)] == ["busy"]


def test_limits_of_the_account_and_of_the_operator(owner: User, settings: Settings) -> None:
    create_api_key(user=owner, name="first")
    settings.API_HOURLY_LIMIT = 55
    assert read_hourly(owner.pk)[0].limit == 55
    owner.hourly_limit = 12
    owner.save()
    assert read_hourly(owner.pk)[0].limit == 12
