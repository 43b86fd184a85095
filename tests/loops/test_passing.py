"""Whose an emailed invitation is: of whoever confirms the address, under which user id."""

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.models import ReservedId, User
from accounts.proofs import confirm_address
from accounts.services import create_account
from db.ids import is_in_bucket
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
    moved = Loop.objects.get(pk=loop.pk).updated_at
    squat()
    user = User.objects.get(email=EMAIL)
    prove_by(way)
    assert rows(loop) == [(user.pk, "pending", None)]
    assert Membership.objects.get(loop=other, email=EMAIL).member_id == user.pk
    assert Loop.objects.get(pk=loop.pk).updated_at > moved
    assert all(is_in_bucket(row.pk, loop.creator_id) for row in loop.memberships.all())
    join_loop(user=user, code=loop.invite_code)
    assert rows(loop) == [(user.pk, "active", user.pk)]
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
    assert not ReservedId.objects.exists()
    join_loop(user=user, code=loop.invite_code)
    assert rows(loop) == [(user.pk, "active", user.pk)]


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
