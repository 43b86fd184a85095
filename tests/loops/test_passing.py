"""Whose an emailed invitation is: of whoever confirms the address, under which user id."""

from importlib import import_module
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.test import Client

from accounts.models import ReservedId, User
from accounts.proofs import confirm_address
from accounts.services import create_account, reserve_user_id
from db.ids import is_in_bucket, new_id
from loops.models import Loop, Membership
from loops.services import AlreadyMember, create_loop, invite_member, join_loop
from reviews.services import delete_loop
from tests.conftest import Api
from tests.signin.test_code_by_mail import NORA, SIGN_UP, ask, code_in, give
from tests.signin.test_taking_over import prove_by, squat

pytestmark = pytest.mark.django_db
EMAIL = "nora@example.org"


def rows(loop: Loop) -> list[tuple[str, str, str | None]]:
    """The members without the first two: id, state, account."""
    listed = loop.memberships.in_order()[2:]
    return [(row.member_id, row.status, row.user_id) for row in listed]


def test_who_has_not_confirmed_inherits_nothing(loop: Loop) -> None:
    invited = invite_member(loop=loop, email=EMAIL)
    stranger = create_account(email=EMAIL, name="Eve")
    assert stranger.pk != invited.member_id
    join_loop(user=stranger, code=loop.invite_code)  # with the code, as anybody
    assert rows(loop) == [
        (invited.member_id, "pending", None),
        (stranger.pk, "active", stranger.pk),
    ]
    assert invite_member(loop=loop, email=EMAIL).member_id == invited.member_id


def test_inviting_an_unconfirmed_account_is_not_inviting_its_stranger(loop: Loop) -> None:
    stranger = create_account(email=EMAIL, name="Eve")
    invited = invite_member(loop=loop, email=EMAIL)
    assert invited.member_id != stranger.pk
    join_loop(user=stranger, code=loop.invite_code)
    assert (invited.member_id, "pending", None) in rows(loop)


@pytest.mark.parametrize("way", ["code", "reset", "link"])
def test_it_passes_to_the_account_that_confirms(
    api: type[Api], owner_key: str, loop: Loop, way: str
) -> None:
    other = create_loop(owner_id=loop.creator_id, name="Other", icon="bell")
    invited = invite_member(loop=loop, email=EMAIL)
    invite_member(loop=other, email=EMAIL)
    squat()
    user = User.objects.get(email=EMAIL)
    prove_by(way)
    assert rows(loop) == [(invited.member_id, "pending", None)]
    join_loop(user=user, code=loop.invite_code)
    assert rows(loop) == [(user.pk, "active", user.pk)]
    assert all(is_in_bucket(row.pk, loop.creator_id) for row in loop.memberships.all())
    joined = loop.memberships.get(user=user)
    assert (joined.former_ids, joined.invited_at) == ([invited.member_id], invited.invited_at)
    assert Membership.objects.get(loop=other, email=EMAIL).member_id == invited.member_id
    with pytest.raises(AlreadyMember):
        invite_member(loop=loop, email=EMAIL)
    path = f"/v1/api/loops/{loop.pk}/members/{invited.member_id.upper()}"
    removed = api(owner_key).delete(path).json()["data"]  # a client that kept the first id
    assert removed["user_id"] == invited.member_id
    assert rows(loop) == []


def test_who_joined_before_confirming_is_one_member(loop: Loop) -> None:
    invited = invite_member(loop=loop, email=EMAIL)
    user = create_account(email=EMAIL)
    join_loop(user=user, code=loop.invite_code)
    confirm_address(user=user, address=EMAIL)
    assert rows(loop) == [(user.pk, "active", user.pk)]
    assert loop.memberships.get(user=user).former_ids == [invited.member_id]


def test_a_code_before_the_account_exists_gives_the_reserved_id(loop: Loop) -> None:
    invited = invite_member(loop=loop, email=EMAIL)
    ask(browser := Client(), SIGN_UP, **NORA)
    give(browser, code_in(mail.outbox[-1]))
    user = User.objects.get(email=EMAIL)
    assert user.pk == invited.member_id
    join_loop(user=user, code=loop.invite_code)
    assert rows(loop) == [(user.pk, "active", user.pk)]


def read_loops(api: type[Api], key: str) -> list[list[dict[str, object]]]:
    """The members of each loop of the key's account, as lists of loops show them."""
    return [loop["members"] for loop in api(key).get("/v1/api/loops").json()["data"]["loops"]]


class TestTheInviterSeesNoAccounts:
    """An invitation is the same for an address with and without an account."""

    @pytest.mark.parametrize("before", [0, 1, 2])
    def test_in_two_loops(self, api: type[Api], owner_key: str, loop: Loop, before: int) -> None:
        """The account is made when the address has been invited to so many loops."""
        other = create_loop(owner_id=loop.creator_id, name="Other", icon="bell")
        for number, each in enumerate((loop, other, None)):
            if number == before:
                create_account(email=EMAIL, name="Nora", verified=True)
            if each:
                invite_member(loop=each, email=EMAIL)
                invite_member(loop=each, email="nobody@example.org")
        ids = set()
        for members in read_loops(api, owner_key):
            nora, nobody = (
                next(row for row in members if row["email"] == email)
                for email in (EMAIL, "nobody@example.org")
            )
            ids.add(nora["user_id"])
            ignored = {"user_id": "", "email": ""}
            assert {**nora, **ignored} == {**nobody, **ignored}
        assert len(ids) == 1
        assert before or User.objects.get(email=EMAIL).pk not in ids

    def test_when_it_was_made(self, loop: Loop, outsider: User) -> None:
        """The time in the id is that of the first invitation."""
        begun = new_id()
        assert outsider.pk < begun < invite_member(loop=loop, email=outsider.email).member_id


def test_an_address_invited_again_is_removed_without_its_former_member(
    api: type[Api], owner_key: str, loop: Loop, outsider: User
) -> None:
    invited = invite_member(loop=loop, email=outsider.email)
    join_loop(user=outsider, code=loop.invite_code)
    User.objects.filter(pk=outsider.pk).update(email="other@example.org")
    assert invite_member(loop=loop, email=outsider.email).member_id == invited.member_id
    path = f"/v1/api/loops/{loop.pk}/members/{invited.member_id}"
    assert api(owner_key).delete(path).status_code == 200
    assert rows(loop) == [(outsider.pk, "active", outsider.pk)]


class TestFurtherAddress:
    def test_it_passes_on_joining_and_tells_nothing_before(
        self, loop: Loop, outsider: User
    ) -> None:
        """Until then, the inviter does not learn that both addresses are one person's."""
        one, two = (invite_member(loop=loop, email=f"{at}@example.org") for at in "ab")
        for at in "ab":
            EmailAddress.objects.create(user=outsider, email=f"{at}@example.org")
            confirm_address(user=outsider, address=f"{at}@example.org")
        assert [row[0] for row in rows(loop)] == [one.member_id, two.member_id]
        join_loop(user=outsider, code=loop.invite_code)
        assert rows(loop) == [(outsider.pk, "active", outsider.pk)]
        for invited in (one, two):
            assert loop.memberships.known_as(invited.member_id).get().user == outsider

    def test_the_creators_own_does_not_remove_them(
        self, api: type[Api], owner: User, owner_key: str, loop: Loop
    ) -> None:
        invited = invite_member(loop=loop, email=EMAIL)
        EmailAddress.objects.create(user=owner, email=EMAIL)
        confirm_address(user=owner, address=EMAIL)
        EmailAddress.objects.get(user=owner, email=EMAIL).set_as_primary()
        path = f"/v1/api/loops/{loop.pk}/members/{invited.member_id}"
        Membership.objects.filter(loop=loop, user=owner).update(former_ids=["0" * 24])
        assert api(owner_key).delete(path).status_code == 200  # the invitation
        path = f"/v1/api/loops/{loop.pk}/members/{'0' * 24}"
        assert api(owner_key).delete(path).status_code == 404
        assert loop.memberships.filter(user=owner).exists()


def test_a_deleted_loop_has_no_part_in_it(loop: Loop, owner: User) -> None:
    invited = invite_member(loop=loop, email=EMAIL)
    delete_loop(loop_id=loop.pk, account_id=owner.pk)
    confirm_address(user=create_account(email=EMAIL), address=EMAIL)
    assert [row[0] for row in rows(loop)] == [invited.member_id]


def test_the_upgrade_takes_ids_of_accounts_from_invitations(loop: Loop, outsider: User) -> None:
    """As the code of before made them: with the account's id, a reserved one, or one replaced."""
    other = create_loop(owner_id=loop.creator_id, name="Other", icon="bell")
    replaced = create_account(email="replaced@example.org", verified=True)
    for each in (loop, other):
        for email in (outsider.email, "nora@example.org", replaced.email, "nobody@example.org"):
            invite_member(loop=each, email=email)
    before = {row.email: row.member_id for row in loop.memberships.filter(status="pending")}
    ReservedId.objects.filter(email__in=[outsider.email, "nora@example.org"]).delete()
    nora = User.objects.create(pk=before["nora@example.org"], email="nora@example.org")
    EmailAddress.objects.create(user=nora, email=nora.email, verified=True, primary=True)
    pending = Membership.objects.filter(status="pending")
    pending.filter(email=outsider.email).update(member_id=outsider.pk)
    pending.filter(email=replaced.email).update(
        member_id=replaced.pk, former_ids=[before[replaced.email]]
    )
    migration: Any = import_module("loops.migrations.0007_ids_of_invitations")
    for operation in migration.Migration.operations:
        with connection.cursor() as cursor:
            cursor.execute(operation.statement)
            cursor.execute(operation.statement)
            assert cursor.rowcount == 0
    for each in (loop, other):
        after = {row.email: row for row in each.memberships.filter(status="pending")}
        assert {email: row.member_id for email, row in after.items()} == {
            **before, outsider.email: after[outsider.email].member_id
        }  # fmt: skip
        assert after[outsider.email].former_ids == [outsider.pk]
        for email, row in after.items():
            assert invite_member(loop=each, email=email) == row
            assert reserve_user_id(email=email) == row.member_id
        join_loop(user=outsider, code=each.invite_code)
        join_loop(user=nora, code=each.invite_code)
    assert not pending.filter(email__in=[outsider.email, nora.email]).exists()
