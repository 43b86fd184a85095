"""Invitations: codes, the join link, and addresses that were invited."""

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import User
from accounts.proofs import confirm_address
from accounts.services import create_account
from loops.invite_codes import ALPHABET, LENGTH
from loops.models import Loop, Membership
from loops.services import (
    InviteNotFound,
    create_loop,
    invite_member,
    join_loop,
    rotate_invite_code,
)

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    """A browser of this person."""
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.mark.contract("invite.code")
def test_codes_are_hard_to_guess_and_easy_to_type(outsider: User, loop: Loop) -> None:
    assert len(ALPHABET) ** LENGTH >= 2**50
    assert not set(ALPHABET) & set("0O1Il")
    assert set(loop.invite_code) <= set(ALPHABET)
    typed = f" {loop.invite_code.lower()[:4]}-{loop.invite_code.lower()[4:]} "
    join_loop(user=outsider, code=typed)
    assert Membership.objects.get(loop=loop, user=outsider).status == "active"


@pytest.mark.contract("invite.rotate")
def test_a_rotated_code_stops_working(outsider: User, loop: Loop) -> None:
    old, new = loop.invite_code, rotate_invite_code(loop=loop)
    assert new != old
    with pytest.raises(InviteNotFound):
        join_loop(user=outsider, code=old)
    join_loop(user=outsider, code=new)


@pytest.mark.contract("invite.same_answer")
def test_unknown_and_retired_codes_get_the_same_answer(outsider: User, loop: Loop) -> None:
    retired = loop.invite_code
    rotate_invite_code(loop=loop)
    browser = signed_in(outsider)
    unknown = "".join(reversed(ALPHABET[:LENGTH]))
    answers = [browser.get(f"/join/{code}", follow=True) for code in (retired, unknown, "nonsense")]
    assert len({answer.status_code for answer in answers}) == 1
    assert not any("Refund desk" in answer.content.decode() for answer in answers)
    posts = [browser.post(f"/join/{code}", follow=True) for code in (retired, unknown)]
    assert len({answer.status_code for answer in posts}) == 1
    assert not Membership.objects.filter(user=outsider).exists()


@pytest.mark.contract("invite.opening")
def test_opening_a_link_changes_nothing(outsider: User, loop: Loop) -> None:
    path = f"/join/{loop.invite_code}"
    before = Loop.objects.get(pk=loop.pk).updated_at
    for browser in (Client(), signed_in(outsider)):
        response = browser.get(path)
        assert response.status_code == 200
        assert "Refund desk" in response.content.decode()
        assert browser.head(path).status_code == 200
    assert Membership.objects.filter(loop=loop).count() == 2
    assert Loop.objects.get(pk=loop.pk).updated_at == before


@pytest.mark.contract("invite.post", "member.states")
def test_joining_is_a_post_of_a_signed_in_person(loop: Loop) -> None:
    path = f"/join/{loop.invite_code}"
    Client().post(path)
    assert Membership.objects.filter(loop=loop).count() == 2
    unverified = create_account(email="new@example.org", verified=False)
    response = signed_in(unverified).post(path)
    assert response.status_code in (200, 302)
    joined = Membership.objects.get(loop=loop, user=unverified)
    assert joined.status == "active"
    assert joined.joined_at is not None


@pytest.mark.contract("invite.post")
def test_joining_twice_is_joining_once(member: User, loop: Loop) -> None:
    before = Membership.objects.get(loop=loop, user=member)
    join_loop(user=member, code=loop.invite_code)
    after = Membership.objects.get(loop=loop, user=member)
    assert (after.pk, after.joined_at) == (before.pk, before.joined_at)


@pytest.mark.contract("pending.reserved")
def test_an_invited_address_keeps_its_id(loop: Loop) -> None:
    invited = invite_member(loop=loop, email="New@Example.org")
    assert invite_member(loop=loop, email="new@example.org").member_id == invited.member_id
    other = create_loop(owner_id=loop.creator_id, name="Other", icon="bell")
    assert invite_member(loop=other, email="new@example.org").member_id == invited.member_id
    person = create_account(email="new@example.org", verified=True)
    assert person.pk == invited.member_id
    join_loop(user=person, code=loop.invite_code)
    joined = Membership.objects.get(loop=loop, member_id=invited.member_id)
    assert (joined.user, joined.status) == (person, "active")
    assert Membership.objects.filter(loop=loop).count() == 3
    waiting = Membership.objects.get(loop=other, member_id=invited.member_id)
    assert (waiting.status, waiting.joined_at) == ("pending", None)


@pytest.mark.contract("pending.reserved")
def test_the_address_of_an_account_has_a_reserved_id_too(outsider: User, loop: Loop) -> None:
    invited = invite_member(loop=loop, email=outsider.email.upper())
    assert invited.member_id != outsider.pk
    join_loop(user=outsider, code=loop.invite_code)
    assert loop.memberships.known_as(invited.member_id).get().member_id == outsider.pk


@pytest.mark.contract("invite.unlimited")
def test_many_members(loop: Loop) -> None:
    for number in range(120):
        invite_member(loop=loop, email=f"person{number}@example.org")
    assert Membership.objects.filter(loop=loop).count() == 122


@pytest.mark.parametrize("page", [False, True])
def test_an_address_that_has_become_somebodys_is_invited_again(
    owner: User, outsider: User, loop: Loop, page: bool
) -> None:
    first = invite_member(loop=loop, email="nora@example.org")
    make_primary(outsider, "nora@example.org")
    if page:
        form = {"email": "Nora@example.org"}
        response = signed_in(owner).post(f"/dashboard/loops/{loop.pk}/invite/", form)
        assert response.status_code == 302
    else:
        assert invite_member(loop=loop, email="Nora@example.org") == first
    assert loop.memberships.filter(status="pending").count() == 1
    join_loop(user=outsider, code=loop.invite_code)
    assert not loop.memberships.filter(status="pending").exists()


def test_an_address_that_somebody_has_left_is_invited_again(outsider: User, loop: Loop) -> None:
    address = outsider.email
    first = invite_member(loop=loop, email=address)
    make_primary(outsider, "other@example.org")
    EmailAddress.objects.filter(user=outsider, email=address).delete()
    assert invite_member(loop=loop, email=address) == first


def make_primary(user: User, address: str) -> None:
    confirm_address(user=user, address=address)
    EmailAddress.objects.get(user=user, email=address).set_as_primary()
