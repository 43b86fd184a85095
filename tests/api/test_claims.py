"""Claims, as the reviewer makes them and as the client sees them."""

from typing import Any

import pytest

from accounts.models import User
from reviews.models import Request
from reviews.services import (
    NotAReviewer,
    TransitionLost,
    answer_request,
    claim_request,
    release_claim,
)
from tests.api import moments
from tests.api.wire import TIME, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db


@pytest.mark.contract("claim.lease", "request.status", "list.status")
def test_a_claimed_request(api: Api, plenty: str, member: User, ask: Ask) -> None:
    asked = ask()
    before = _single(api, plenty, asked)
    moments.claim(asked, member)
    shown = _single(api, plenty, asked)
    assert (shown["status"], shown["claimed_by"]) == ("claimed", member.pk)
    assert TIME.fullmatch(shown["claimed_at"])
    assert shown["updated_at"] > before["updated_at"]
    assert shown["response_data"] is None
    held = Request.objects.get(pk=asked)
    assert held.claimed_at is not None
    assert held.claim_expires_at is not None
    assert (held.claim_expires_at - held.claimed_at).total_seconds() == 600


@pytest.mark.contract("claim.lease")
def test_only_an_active_member_claims(outsider: User, ask: Ask) -> None:
    request = Request.objects.get(pk=ask())
    with pytest.raises(NotAReviewer):
        claim_request(request=request, reviewer_id=outsider.pk)
    with pytest.raises(NotAReviewer):
        answer_request(request=request, reviewer_id=outsider.pk, answer="yes")
    assert Request.objects.get(pk=request.pk).status == "pending"


@pytest.mark.contract("claim.answer", "state.completed")
def test_only_the_claimer_answers(
    api: Api, plenty: str, owner: User, member: User, ask: Ask
) -> None:
    asked = ask()
    moments.claim(asked, member)
    with pytest.raises(TransitionLost) as lost:
        moments.answer(asked, owner)
    assert (lost.value.request.status, lost.value.request.claimed_by) == ("claimed", member)
    with pytest.raises(TransitionLost):
        moments.claim(asked, owner)
    moments.answer(asked, member, "later")
    shown = _single(api, plenty, asked)
    assert (shown["status"], shown["response_by"]) == ("completed", member.pk)
    assert shown["response_data"] == "later"


@pytest.mark.contract("claim.unclaimed")
def test_a_pending_request_needs_no_claim(api: Api, plenty: str, owner: User, ask: Ask) -> None:
    asked = ask()
    moments.answer(asked, owner)
    shown = _single(api, plenty, asked)
    assert (shown["response_by"], shown["claimed_by"]) == (owner.pk, None)


@pytest.mark.contract("claim.back")
@pytest.mark.parametrize("how", ["released", "lease run out"])
def test_back_to_pending(
    api: Api, plenty: str, owner: User, member: User, ask: Ask, how: str
) -> None:
    asked = ask()
    moments.claim(asked, member)
    if how == "released":
        release_claim(request=Request.objects.get(pk=asked), reviewer_id=member.pk)
    else:
        moments.let_lease_pass(asked)
    shown = _single(api, plenty, asked)
    assert (shown["status"], shown["claimed_by"], shown["claimed_at"]) == ("pending", None, None)
    data = granted(
        api(plenty).get("/v1/api/requests?status=pending"), "Requests retrieved successfully"
    )
    assert data["total"] == 1
    moments.claim(asked, owner)
    assert _single(api, plenty, asked)["claimed_by"] == owner.pk


@pytest.mark.contract("claim.back")
def test_only_the_claimer_releases(owner: User, member: User, ask: Ask) -> None:
    asked = ask()
    moments.claim(asked, member)
    with pytest.raises(TransitionLost):
        release_claim(request=Request.objects.get(pk=asked), reviewer_id=owner.pk)
    assert Request.objects.get(pk=asked).claimed_by == member


@pytest.mark.contract("claim.back")
def test_a_lapsed_claim_can_be_answered_and_cancelled(
    api: Api, plenty: str, owner: User, member: User, ask: Ask
) -> None:
    answered, cancelled = ask(), ask()
    for asked in (answered, cancelled):
        moments.claim(asked, member)
        moments.let_lease_pass(asked)
    moments.answer(answered, owner)
    assert _single(api, plenty, answered)["response_by"] == owner.pk
    response = api(plenty).delete(f"/v1/api/requests/{cancelled}")
    granted(response, "Request cancelled successfully")


@pytest.mark.contract("claim.cancel")
def test_a_claimed_request_cannot_be_cancelled(
    api: Api, plenty: str, member: User, ask: Ask
) -> None:
    asked = ask()
    moments.claim(asked, member)
    response = api(plenty).delete(f"/v1/api/requests/{asked}")
    refused(response, 400, "Request cannot be cancelled in current state")


def _single(api: Api, key: str, request_id: str) -> dict[str, Any]:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    shown: dict[str, Any] = granted(response, "Request retrieved successfully")["request"]
    return shown
