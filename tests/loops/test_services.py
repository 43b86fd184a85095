"""Joining, inviting, removing, deleting."""

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop, Membership
from loops.services import (
    AlreadyMember,
    InviteNotFound,
    find_invite,
    invite_member,
    join_loop,
    rotate_invite_code,
)
from reviews import services
from reviews.models import Request
from reviews.queries import open_questions
from tests.reviews.conftest import FIELDS, Make, acting, make

__all__ = ["make"]


def members(loop: Loop) -> list[tuple[str, str]]:
    return list(loop.memberships.in_order().values_list("member_id", "status"))


def test_joining_twice_is_joining_once(loop: Loop, outsider: User) -> None:
    before = Loop.objects.get(pk=loop.pk).updated_at
    assert join_loop(user=outsider, code=loop.invite_code) == loop.pk
    joined_at = Membership.objects.get(loop=loop, user=outsider).joined_at
    moved = Loop.objects.get(pk=loop.pk).updated_at
    assert moved > before
    assert join_loop(user=outsider, code=loop.invite_code) == loop.pk
    assert Membership.objects.get(loop=loop, user=outsider).joined_at == joined_at
    assert Loop.objects.get(pk=loop.pk).updated_at == moved


@pytest.mark.parametrize("typed", ["{0}", " {0} ", "{1}", "{2}"])
def test_codes_are_read_as_people_type_them(loop: Loop, outsider: User, typed: str) -> None:
    code = loop.invite_code
    spaced = f"{code[:4]} {code[4:8]} {code[8:]}"
    dashed = f"{code[:4]}-{code[4:8]}-{code[8:]}".lower()
    assert find_invite(typed.format(code, spaced, dashed)) == loop


def test_unknown_retired_and_deleted_codes_get_the_same_answer(loop: Loop, outsider: User) -> None:
    retired = loop.invite_code
    current = rotate_invite_code(loop=loop)
    for code in (retired, "ABCDEFGHJKMN", "", "short", "ABCDEFGHJKM\x00"):
        with pytest.raises(InviteNotFound):
            find_invite(code)
        with pytest.raises(InviteNotFound):
            join_loop(user=outsider, code=code.replace("\x00", "?"))
    services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    with pytest.raises(InviteNotFound):
        join_loop(user=outsider, code=current)


def test_an_invited_address_keeps_its_reserved_id(loop: Loop) -> None:
    pending = invite_member(loop=loop, email="New.Person@example.com")
    assert invite_member(loop=loop, email="new.person@EXAMPLE.com") == pending
    assert (pending.member_id, "pending") in members(loop)
    person = create_account(email="New.Person@example.com", verified=True)
    assert person.pk == pending.member_id
    join_loop(user=person, code=loop.invite_code)
    assert members(loop)[-1] == (person.pk, "active")
    assert len(members(loop)) == 3
    with pytest.raises(AlreadyMember):
        invite_member(loop=loop, email="new.person@example.com")


@pytest.mark.parametrize("verified", [True, False])
def test_an_invitation_to_a_second_address_is_inherited_once_it_is_verified(
    loop: Loop, outsider: User, verified: bool
) -> None:
    pending = invite_member(loop=loop, email="elsewhere@example.com")
    EmailAddress.objects.create(user=outsider, email="elsewhere@example.com", verified=verified)
    join_loop(user=outsider, code=loop.invite_code)
    assert ((pending.member_id, "pending") in members(loop)) is not verified
    assert (outsider.pk, "active") in members(loop)


def test_pending_members_get_no_broadcast_and_see_nothing(
    loop: Loop, owner: User, outsider: User, make: Make
) -> None:
    invite_member(loop=loop, email=outsider.email)
    request = make()
    assert request.broadcasted_to == 2
    assert not Request.objects.visible_to(outsider.pk).exists()
    join_loop(user=outsider, code=loop.invite_code)
    assert open_questions.read_waiting(outsider.pk, 9).ids == [request.pk]


def test_a_removed_member_loses_access_and_claims_at_once(
    loop: Loop, member: User, make: Make
) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    services.remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    assert services.read_request(request.pk).status == "pending"
    with pytest.raises(services.NotAReviewer):
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    with pytest.raises(services.NotAReviewer):
        services.claim_request(request=request, reviewer_id=member.pk)
    assert not Request.objects.visible_to(member.pk).exists()
    join_loop(user=member, code=loop.invite_code)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")


def test_deleting_a_loop_cancels_what_is_open_and_keeps_what_is_done(
    loop: Loop, owner: User, member: User, make: Make
) -> None:
    done, claimed, waiting = make(), make(), make(callback_url="http://127.0.0.1:9/")
    services.answer_request(request=done, reviewer_id=member.pk, answer="yes")
    services.claim_request(request=claimed, reviewer_id=member.pk)
    services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    stored = dict(Request.objects.values_list("id", "status"))
    assert stored == {done.pk: "completed", claimed.pk: "cancelled", waiting.pk: "cancelled"}
    assert owner.deliveries.get().event == "request.cancelled"
    with pytest.raises(services.LoopGone):
        services.create_request(loop_id=loop.pk, account=acting(owner), fields=FIELDS)
    with pytest.raises(Loop.DoesNotExist):
        services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)


def test_a_request_needs_an_active_member(loop: Loop, owner: User) -> None:
    """Out of reach through the interface, where the creator is always active."""
    Membership.objects.filter(loop=loop).delete()
    with pytest.raises(services.NoActiveMembers):
        services.create_request(loop_id=loop.pk, account=acting(owner), fields=FIELDS)
    assert not Request.objects.exists()
