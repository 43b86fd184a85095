"""DELETE /api/requests/{id}."""

from typing import Any

import pytest

from accounts.models import User
from reviews.lifecycle import transitions
from reviews.models import Request
from tests.api import moments
from tests.api.wire import NOWHERE, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

CANCELLED = "Request cancelled successfully"


@pytest.mark.contract("cancel.data", "state.cancelled", "request.updated_at")
def test_it_cancels(api: Api, plenty: str, owner_key: str, ask: Ask) -> None:
    asked = ask()
    before = _single(api, plenty, asked)
    data = granted(api(owner_key).delete(f"/v1/api/requests/{asked.upper()}"), CANCELLED)
    assert data == {"request_id": asked, "status": "cancelled"}
    after = _single(api, plenty, asked)
    assert after["updated_at"] > before["updated_at"]
    unchanged = ("response_data", "response_by", "response_at", "answered_by")
    assert (after["status"], *(after[field] for field in unchanged)) == ("cancelled", *[None] * 4)


@pytest.mark.contract("cancel.state", "state.final", "claim.cancel", "timeout.clock")
@pytest.mark.parametrize("status", ["claimed", "completed", "timeout", "cancelled"])
def test_only_pending_can_be_cancelled(
    api: Api, plenty: str, member: User, ask: Ask, status: str
) -> None:
    asked = ask()
    path = f"/v1/api/requests/{asked}"
    if status == "claimed":
        moments.claim(asked, member)
    elif status == "completed":
        moments.answer(asked, member)
    elif status == "timeout":
        moments.let_pass(asked, hours=2)
    else:
        api(plenty).delete(path)
    refused(api(plenty).delete(path), 400, "Request cannot be cancelled in current state")
    assert _single(api, plenty, asked)["status"] == status


@pytest.mark.contract("cancel.missing", "auth.request_rules")
def test_it_is_found_by_its_account_alone(
    api: Api, member_key: str, outsider_key: str, ask: Ask
) -> None:
    asked = ask()
    for key in (member_key, outsider_key):
        refused(api(key).delete(f"/v1/api/requests/{asked}"), 404, "Request not found")
    assert Request.objects.get(pk=asked).status == "pending"


@pytest.mark.contract("cancel.missing", "cancel.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    refused(api(owner_key).delete(f"/v1/api/requests/{NOWHERE}"), 404, "Request not found")
    refused(api(owner_key).delete("/v1/api/requests/x"), 400, "Invalid request ID format")


def _single(api: Api, key: str, request_id: str) -> dict[str, Any]:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    shown: dict[str, Any] = granted(response, "Request retrieved successfully")["request"]
    return shown


@pytest.mark.django_db(transaction=True)
def test_it_is_told_although_nobody_can_be_woken(
    api: Api, plenty: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database fails behind the commit: what is committed is not told as a failure."""
    asked = ask()
    monkeypatch.setattr(transitions, "CHANGED_CHANNEL", "x" * 64)  # one too long for a name
    granted(api(plenty).delete(f"/v1/api/requests/{asked}"), CANCELLED)
    assert _single(api, plenty, asked)["status"] == "cancelled"
