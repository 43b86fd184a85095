"""What a test that commits leaves behind is gone before the next one."""

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from accounts.models import User
from loops.models import Loop
from reviews.models import CounterChange, Request
from tests.emptying import empty_tables, filled_tables
from tests.reviews.conftest import Make, make

__all__ = ["make"]


@pytest.mark.django_db(transaction=True)
def test_everything_goes_but_what_migrations_made(make: Make) -> None:
    make()
    assert Request.objects.exists()
    assert CounterChange.objects.exists()
    before = ContentType.objects.count(), Permission.objects.count()
    empty_tables()
    assert filled_tables() == []
    assert (ContentType.objects.count(), Permission.objects.count()) == before
    empty_tables()


@pytest.mark.django_db(transaction=True)
def test_foreign_keys_hold_again_afterwards(loop: Loop) -> None:
    empty_tables()
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


@pytest.mark.django_db(transaction=True)
def test_nobody_is_left_of_the_test_before() -> None:
    assert not User.objects.exists()
