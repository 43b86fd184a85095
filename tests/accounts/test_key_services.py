"""Keys made by a form: created once, shown once, and rolled with an overlap."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts import key_format
from accounts.key_services import NotRollable, create_api_key_once, mark_key_shown, roll_api_key
from accounts.models import PERMISSIONS, ApiKey, AuditEntry, User
from accounts.services import UnknownPermission, create_api_key, set_key_state
from tests.conftest import Api

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def made(user: User, secret: str, **fields: Any) -> ApiKey:
    wanted = {"name": "CI", "permissions": list(PERMISSIONS), "expires_at": None, **fields}
    return create_api_key_once(user=user, secret=secret, **wanted)


def test_a_form_sent_twice_makes_one_key(owner: User) -> None:
    secret = key_format.new_key()
    assert made(owner, secret) == made(owner, secret, name="Other")
    assert ApiKey.objects.get().name == "CI"
    assert AuditEntry.objects.filter(action="key.created").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_twice_at_once_makes_one_key(owner: User) -> None:
    secret, found = key_format.new_key(), []
    start = threading.Barrier(4)

    def send() -> None:
        start.wait()
        found.append(made(owner, secret).pk)
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert ApiKey.objects.count() == 1


def test_unknown_permissions_are_refused(owner: User) -> None:
    with pytest.raises(UnknownPermission):
        made(owner, key_format.new_key(), permissions=["loops:paint"])


def test_it_is_shown_once_and_to_its_holder_alone(owner: User, outsider: User) -> None:
    secret = key_format.new_key()
    key = made(owner, secret)
    assert mark_key_shown(user=outsider, key_id=key.pk, secret=secret) is None
    assert mark_key_shown(user=owner, key_id=key.pk, secret=key_format.new_key()) is None
    assert mark_key_shown(user=owner, key_id=key.pk, secret=secret) == key
    assert mark_key_shown(user=owner, key_id=key.pk, secret=secret) is None


def test_a_key_from_the_command_line_counts_as_shown(owner: User) -> None:
    key, secret = create_api_key(user=owner, name="CI")
    assert mark_key_shown(user=owner, key_id=key.pk, secret=secret) is None


class TestRoll:
    def test_both_work_until_the_overlap_ends(self, owner: User, api: type[Api]) -> None:
        old, old_secret = create_api_key(
            user=owner, name="CI", permissions=["loops:read"], hourly_limit=7
        )
        secret = key_format.new_key()
        fresh = roll_api_key(key=old, secret=secret, overlap=HOUR)
        assert (fresh.name, fresh.permissions, fresh.hourly_limit) == ("CI", ["loops:read"], 7)
        old.refresh_from_db()
        assert old.replaced_by == fresh
        assert old.expires_at is not None
        assert abs(old.expires_at - timezone.now() - HOUR) < timedelta(minutes=1)
        assert api(old_secret).get("/v1/test").status_code == 200
        assert api(secret).get("/v1/test").status_code == 200

    def test_an_overlap_of_nothing_ends_the_old_one_now(self, owner: User, api: type[Api]) -> None:
        old, old_secret = create_api_key(user=owner, name="CI")
        roll_api_key(key=old, secret=key_format.new_key(), overlap=timedelta(0))
        response = api(old_secret).get("/v1/test")
        assert response.status_code == 401
        assert response.json()["msg"] == "API key is inactive"

    def test_an_earlier_end_stays(self, owner: User) -> None:
        soon = timezone.now() + timedelta(minutes=5)
        old, _ = create_api_key(user=owner, name="CI", expires_at=soon)
        roll_api_key(key=old, secret=key_format.new_key(), overlap=HOUR)
        old.refresh_from_db()
        assert old.expires_at == soon

    @pytest.mark.parametrize("left", [timedelta(minutes=5), timedelta(days=30)])
    def test_the_successor_ends_when_the_old_one_would(self, owner: User, left: timedelta) -> None:
        end = timezone.now() + left
        old, _ = create_api_key(user=owner, name="CI", expires_at=end)
        fresh = roll_api_key(key=old, secret=key_format.new_key(), overlap=HOUR)
        again = roll_api_key(key=fresh, secret=key_format.new_key(), overlap=HOUR)
        for key in (fresh, again):
            assert ApiKey.objects.filter(expires_at__lte=end).contains(key)
        assert again.expires_at == end

    def test_a_key_without_end_has_a_successor_without_end(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        assert roll_api_key(key=old, secret=key_format.new_key(), overlap=HOUR).expires_at is None

    def test_the_same_form_twice_rolls_once(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        secret = key_format.new_key()
        first = roll_api_key(key=old, secret=secret, overlap=HOUR)
        assert roll_api_key(key=old, secret=secret, overlap=HOUR) == first
        assert ApiKey.objects.count() == 2
        with pytest.raises(NotRollable):
            roll_api_key(key=old, secret=key_format.new_key(), overlap=HOUR)

    @pytest.mark.parametrize("state", ["inactive", "revoked", "deleted"])
    def test_only_a_key_that_works(self, owner: User, state: str) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        set_key_state(key=old, state=ApiKey.State(state))
        with pytest.raises(NotRollable):
            roll_api_key(key=old, secret=key_format.new_key(), overlap=HOUR)
        assert ApiKey.objects.count() == 1
