"""Whom a request reaches (the service behind POST create request)."""

import pytest

from accounts.services import create_account
from loops.models import Loop, Membership
from loops.services import invite_member, join_loop
from reviews.models import Request
from tests.api.bodies import QUESTION
from tests.api.wire import Api, Ask, granted, refused

pytestmark = pytest.mark.django_db


@pytest.mark.contract("create.no_members")
def test_no_active_member(api: Api, plenty: str, loop: Loop) -> None:
    Membership.objects.filter(loop=loop).delete()  # out of reach: the creator is always active
    invite_member(loop=loop, email="new@example.org")
    response = api(plenty).post(f"/v1/api/loops/{loop.pk}/requests", dict(QUESTION))
    refused(response, 400, "No active members found in the loop")
    assert not Request.objects.exists()


@pytest.mark.contract("create.broadcasted_to", "pending.listed")
def test_pending_members_get_no_broadcast(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    invite_member(loop=loop, email="new@example.org")
    assert _reached(api, plenty, ask()) == 2
    join_loop(user=create_account(email="third@example.org"), code=loop.invite_code)
    assert _reached(api, plenty, ask()) == 3


def _reached(api: Api, key: str, request_id: str) -> int:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    shown = granted(response, "Request retrieved successfully")["request"]
    return int(shown["broadcasted_to"])
