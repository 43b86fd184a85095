"""The loops that somebody is in, and leaving one."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import AuditEntry, User
from loops.models import Loop, Membership
from loops.services import create_loop, join_loop
from reviews import services
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db


def test_whose_and_since_when(owner: User, member: User, loop: Loop) -> None:
    page = words(signed_in(member).get("/loops/"))
    assert "Refund desk By Owner, joined just now" in page
    assert "Leave this loop?" in page
    mine = words(signed_in(owner).get("/loops/"))
    assert "Refund desk Yours" in mine
    assert "Leave this loop?" not in mine


def test_leaving_gives_back_what_is_held(member: User, loop: Loop, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    response = signed_in(member).post(f"/loops/{loop.pk}/leave/", follow=True)
    assert "You have left Refund desk." in words(response)
    assert "You’re not in a loop yet" in words(response)
    assert services.read_request(request.pk).status == "pending"
    entry = AuditEntry.objects.filter(action="member.left").get()
    assert (entry.account_id, entry.actor_id) == (loop.creator_id, member.pk)


def test_creators_and_outsiders_leave_nothing(owner: User, outsider: User, loop: Loop) -> None:
    for person in (owner, outsider):
        assert signed_in(person).post("/loops/x/leave/").status_code == 404
        for loop_id in (loop.pk, "f" * 24):
            response = signed_in(person).post(f"/loops/{loop_id}/leave/", follow=True)
            assert "You can’t leave this loop" in words(response)
    assert Membership.objects.filter(loop=loop).count() == 2


def test_only_a_signed_in_post_leaves(member: User, loop: Loop) -> None:
    path = f"/loops/{loop.pk}/leave/"
    assert signed_in(member).get(path)["Location"] == "/loops/"
    assert signed_in(member).put(path).status_code == 405
    assert signed_in(member, enforce_csrf_checks=True).post(path).status_code == 403
    assert Client().post(path)["Location"].startswith("/accounts/login/")
    assert Membership.objects.filter(loop=loop).count() == 2


def test_statements(
    owner: User, member: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(member)
    for number in range(2):
        with django_assert_num_queries(3):
            browser.get("/loops/")
        other = create_loop(owner_id=owner.pk, name=f"Loop {number}", icon="x")
        join_loop(user=member, code=other.invite_code)
