"""Whom a request reaches (the service behind POST create request)."""

import pytest

from accounts.models import User
from accounts.quota import Account
from accounts.services import create_account
from api.errors import NoActiveMembers
from loops.models import Loop, Membership
from loops.services import invite_member, join_loop
from reviews.models import Request
from reviews.services import create_request
from tests.api.bodies import QUESTION
from tests.api.wire import Api, Ask, granted

pytestmark = pytest.mark.django_db


@pytest.mark.contract("create.no_members")
def test_no_active_member(owner: User, loop: Loop) -> None:
    Membership.objects.filter(loop=loop).delete()
    invite_member(loop=loop, email="new@example.org")
    caller = Account(id=owner.pk, email=owner.email, name=owner.name, is_active=True)
    with pytest.raises(NoActiveMembers) as refusal:
        create_request(loop_id=loop.pk, account=caller, fields=dict(QUESTION))
    assert refusal.value.status == 400
    assert refusal.value.sentence == "No active members found in the loop"
    assert not Request.objects.exists()


@pytest.mark.contract("create.broadcasted_to", "pending.listed")
def test_pending_members_get_no_broadcast(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    invite_member(loop=loop, email="new@example.org")
    assert _reached(api, plenty, ask()) == 2
    join_loop(user=create_account(email="third@example.org"), code=loop.invite_code)
    assert _reached(api, plenty, ask()) == 3


def _reached(api: Api, key: str, request_id: str) -> int:
    answer = api(key).get(f"/v1/api/requests/{request_id}")
    shown = granted(answer, "Request retrieved successfully")["request"]
    return int(shown["broadcasted_to"])
