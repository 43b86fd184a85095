"""People are erased while others change the same loops, and while encryption keys are rotated."""

import threading
import time
from collections.abc import Callable

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connections, transaction
from pytest_django import Settings

from accounts import vault
from accounts.audit import record
from accounts.erasing import is_erased
from accounts.models import AuditEntry, User
from accounts.services import create_account
from loops.models import Loop
from loops.services import create_loop, invite_member, join_loop
from reviews import erasing, services
from reviews.models import Erasure, Request
from tests.backends import waiting_for_locks
from tests.conftest import account
from tests.reviews.conftest import Make
from tests.waiting import wait_until


def finish_all() -> int:
    return erasing.finish_all(until=time.monotonic() + 60)


def erase_in_a_thread(person: User, failures: list[Exception]) -> threading.Thread:
    def erase() -> None:
        try:
            erasing.begin(person=person)
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=erase)
    thread.start()
    return thread


def erase_while(change: Callable[[], object], person: User) -> None:
    """Erases the person while a transaction that has made the change is open."""
    failures: list[Exception] = []
    with transaction.atomic():
        change()
        thread = erase_in_a_thread(person, failures)
        wait_until(waiting_for_locks)
    thread.join()
    assert failures == []
    person.refresh_from_db()
    assert is_erased(person)


@pytest.mark.django_db(transaction=True)
def test_somebody_who_is_removed_meanwhile(owner: User, member: User, loop: Loop) -> None:
    place = {"loop_id": loop.pk, "account_id": owner.pk}
    erase_while(lambda: services.remove_member(**place, member_id=member.pk), member)


@pytest.mark.django_db(transaction=True)
def test_a_loop_that_is_deleted_meanwhile(owner: User, member: User, loop: Loop) -> None:
    erase_while(lambda: services.delete_loop(loop_id=loop.pk, account_id=owner.pk), member)


@pytest.mark.django_db(transaction=True)
def test_a_request_that_is_created_meanwhile(owner: User, make: Make) -> None:
    erase_while(make, owner)
    assert Request.objects.exists()
    assert finish_all() == 1
    assert not Request.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_who_are_in_each_others_loops() -> None:
    for number in range(8):
        pair = [account(f"{name}{number}") for name in ("ada", "bob")]
        loops = [create_loop(owner_id=each.pk, name="Desk", icon="star") for each in pair]
        join_loop(user=pair[0], code=loops[1].invite_code)
        join_loop(user=pair[1], code=loops[0].invite_code)
        failures: list[Exception] = []
        for thread in [erase_in_a_thread(each, failures) for each in pair]:
            thread.join()
        assert failures == []


@pytest.mark.django_db(transaction=True)
def test_somebody_who_joins_meanwhile(outsider: User, loop: Loop) -> None:
    """The membership is not to be seen yet when the account is made anonymous."""
    failures: list[Exception] = []
    with transaction.atomic():
        join_loop(user=outsider, code=loop.invite_code)
        erase_in_a_thread(outsider, failures).join()
    assert failures == []
    assert finish_all() == 1
    assert not loop.memberships.filter(user=outsider).exists()


@pytest.mark.django_db
def test_keys_are_rotated_meanwhile(settings: Settings, outsider: User, loop: Loop) -> None:
    invite_member(loop=loop, email=outsider.email)
    erasing.begin(person=outsider)
    new = Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, *settings.ENCRYPTION_KEYS]
    call_command("rotatekeys")
    settings.ENCRYPTION_KEYS = [new]
    assert finish_all() == 1
    assert not AuditEntry.objects.filter(subject__contains="outsider@example.com").exists()


@pytest.mark.django_db
def test_one_who_cannot_be_finished_keeps_nobody_waiting(
    owner: User, member: User, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    request = make()
    erasing.begin(person=owner)
    Erasure.objects.update(sealed=b"of a key that is gone")
    erasing.begin(person=member)
    assert finish_all() == 1
    assert f"Erasing {owner.pk} cannot be finished" in caplog.text
    undone = Erasure.objects.filter(done_at=None)
    assert list(undone.values_list("pk", flat=True)) == [owner.pk]
    assert not Request.objects.filter(pk=request.pk).exists()
    with pytest.raises(vault.Unreadable):
        erasing.finish(owner.pk, until=time.monotonic() + 60)


@pytest.mark.django_db
def test_a_long_address_goes_from_the_audit_logs_of_others(owner: User, loop: Loop) -> None:
    domain = ".".join(["a-department-of-the-royal-society-in-london"] * 5) + ".example.org"
    address = f"ada@{domain}"
    assert 200 < len(address) <= 254
    invite_member(loop=loop, email=address)
    ada = create_account(email=address, name="Ada", verified=True)
    entries = AuditEntry.objects.filter(account=owner, action="member.invited")
    assert entries.get().subject.startswith("ada@")
    erasing.begin(person=ada)
    assert finish_all() == 1
    assert entries.get().subject.startswith("Erased person")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("CSV, person=Ada@example.org, status=timeout", "CSV, person={}, status=timeout"),
        ("Questions to ada@example.org.", "Questions to {}."),
        ("<ada@example.org>, ada@example.org", "<{}>, {}"),
        ("nada@example.org x-ada@example.org x.ada@example.org a+ada@example.org", None),
        ("ada@example.org.au ada@example.orga ada@example.org-b", None),
    ],
)
def test_an_address_goes_wherever_it_stands(
    owner: User, subject: str, expected: str | None
) -> None:
    ada = create_account(email="ada@example.org", name="Ada", verified=True)
    record(account_id=owner.pk, actor_id=owner.pk, action="loop.created", subject=subject)
    erasing.begin(person=ada)
    assert finish_all() == 1
    ada.refresh_from_db()
    assert AuditEntry.objects.get(account=owner, action="loop.created").subject == (
        subject if expected is None else expected.replace("{}", ada.name)
    )
