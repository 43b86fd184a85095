"""Erasing a person also finds the addresses that they had before, and nobody else's."""

import json

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts import vault
from accounts.audit import record
from accounts.erasing import read_former_addresses
from accounts.models import AuditEntry, ReservedId, User
from accounts.proofs import confirm_address
from accounts.services import create_account
from loops.models import Loop, Membership
from loops.services import create_loop, invite_member, join_loop
from reviews import erasing
from reviews.models import Erasure
from reviews.services import remove_member
from tests.conftest import PASSWORD
from tests.portal import signed_in
from tests.reviews.test_erasing import erase, everything

pytestmark = pytest.mark.django_db
OLD, NEW = "ada@old.example", "ada@new.example"


@pytest.fixture
def ada(db: None) -> User:
    """Signed up with a code."""
    return create_account(email=OLD, name="Ada", password=PASSWORD, verified=True)


@pytest.fixture
def other(owner: User) -> Loop:
    return create_loop(owner_id=owner.pk, name="Other", icon="star")


def press(browser: Client, button: str, address: str) -> None:
    browser.post("/accounts/email/", {f"action_{button}": "", "email": address})


def move(person: User, address: str) -> None:
    """The person changes to another address and removes the one of before."""
    before, browser = person.email, signed_in(person)
    press(browser, "add", address)
    confirm_address(user=person, address=address)
    press(browser, "primary", address)
    press(browser, "remove", before)
    person.refresh_from_db()
    assert person.email == address
    assert not EmailAddress.objects.filter(email=before).exists()


def is_named(address: str) -> list[tuple[str, str]]:
    return [(label, row) for label, row in everything() if address in row.lower()]


def subjects(person: User) -> list[str]:
    rows = AuditEntry.objects.filter(account=person, subject__contains=" to ")
    return list(rows.order_by("id").values_list("subject", flat=True))


def test_nothing_of_an_address_that_they_changed(ada: User, loop: Loop, other: Loop) -> None:
    invite_member(loop=loop, email=OLD)
    join_loop(user=ada, code=loop.invite_code)
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=ada.pk)
    invite_member(loop=other, email=OLD)
    move(ada, NEW)
    move(ada, "ada@newest.example")
    assert is_named(OLD)
    erase(ada)
    assert is_named(OLD) == []
    assert is_named(NEW) == []
    assert not Membership.objects.filter(status="pending").exists()


def test_what_is_somebody_elses_by_now(
    ada: User, owner: User, outsider: User, loop: Loop, other: Loop
) -> None:
    """Invitations are theirs, and in audit logs what came after Ada removed the address."""
    invite_member(loop=loop, email=OLD)
    move(ada, NEW)
    move(outsider, OLD)
    invite_member(loop=other, email=OLD)
    erase(ada)
    outsider.refresh_from_db()
    assert outsider.email == OLD
    assert subjects(owner) == [f"{ada.name} to Refund desk", f"{OLD} to Other"]
    assert Membership.objects.filter(status="pending", email=OLD).count() == 2
    assert ReservedId.objects.filter(email=OLD).exists()
    erase(outsider)
    assert is_named(OLD) == []


@pytest.mark.parametrize("is_removed", [False, True])
def test_an_address_that_they_never_confirmed_is_not_theirs(
    ada: User, owner: User, loop: Loop, is_removed: bool
) -> None:
    """Whoever types somebody's address and deletes the account leaves that person's invitation."""
    invite_member(loop=loop, email="nora@example.org")
    move(ada, NEW)
    press(signed_in(ada), "add", "nora@example.org")
    if is_removed:
        press(signed_in(ada), "remove", "nora@example.org")
    erase(ada)
    assert subjects(owner) == ["nora@example.org to Refund desk"]
    assert Membership.objects.filter(status="pending", email="nora@example.org").exists()
    assert ReservedId.objects.filter(email="nora@example.org").exists()


def test_an_address_of_a_sign_up_that_was_never_confirmed(loop: Loop) -> None:
    invite_member(loop=loop, email="nora@example.org")
    stranger = create_account(email="nora@example.org", name="Eve")
    press(signed_in(stranger), "add", "eve@example.org")
    confirm_address(user=stranger, address="eve@example.org")
    assert not EmailAddress.objects.filter(email="nora@example.org").exists()
    assert read_former_addresses(stranger.pk) == {}
    erase(stranger)
    assert Membership.objects.filter(status="pending", email="nora@example.org").exists()


def test_entries_of_before_domains_had_one_form(owner: User) -> None:
    ada = create_account(email="ada@bücher.example", name="Ada", verified=True)
    assert ada.email == "ada@xn--bcher-kva.example"
    for address in ("Ada@Bücher.example", ada.email, "ada@bücher.example.org"):
        subject = f"{address} to X"
        record(account_id=owner.pk, actor_id=owner.pk, action="member.invited", subject=subject)
    erase(ada)
    # Entries of one millisecond have no order.
    assert sorted(subjects(owner)) == [
        f"{ada.name} to X",
        f"{ada.name} to X",
        "ada@bücher.example.org to X",
    ]


def test_an_address_that_was_added_twice(ada: User) -> None:
    move(ada, NEW)
    move(ada, OLD)
    press(signed_in(ada), "add", "typed@example.org")
    press(signed_in(ada), "remove", "typed@example.org")
    assert set(read_former_addresses(ada.pk)) == {OLD, NEW}


def test_an_address_that_another_account_took_from_them(ada: User, outsider: User) -> None:
    """Who confirms an address takes it from accounts that have not."""
    move(ada, NEW)
    press(signed_in(ada), "add", outsider.email)
    EmailAddress.objects.filter(user=outsider, email=outsider.email).update(verified=False)
    confirm_address(user=outsider, address=outsider.email)
    removed = AuditEntry.objects.filter(account=ada, action="account.email_removed")
    assert {row.subject for row in removed} == {OLD, outsider.email}
    assert set(read_former_addresses(ada.pk)) == {OLD}


def test_what_the_version_before_has_begun(ada: User, owner: User) -> None:
    record(account_id=owner.pk, actor_id=owner.pk, action="member.invited", subject=f"{OLD} to X")
    erasing.begin(person=ada)
    row = Erasure.objects.get()
    found = json.loads(vault.open_sealed(row.sealed))
    del found["passed_on"]
    row.sealed = vault.seal(json.dumps(found))
    row.save()
    ada.refresh_from_db()
    assert erasing.finish(ada.pk, until=float("inf"))
    assert subjects(owner) == [f"{ada.name} to X"]
