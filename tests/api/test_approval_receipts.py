"""From the proposal over the decision to the redeemed receipt, as programs and people do it."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Receipt
from tests.api import moments
from tests.api.bodies import of_type
from tests.api.wire import Api, granted, json_of, refused
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db

ARGUMENTS = {"order": 4821, "amount": 12.5, "note": "Größer ✓"}
PROPOSAL = {"name": "refund", "arguments": ARGUMENTS}


def ask(api: Api, key: str, loop: Loop, **config: Any) -> str:
    body = of_type("approval", **{"proposal": PROPOSAL, **config})
    response = api(key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    return str(json_of(response)["data"]["request_id"])


def redeem(api: Api, key: str, request_id: str, arguments: dict[str, Any]) -> Any:
    return api(key).post(f"/v1/api/requests/{request_id}/redeem", {"arguments": arguments})


def test_what_a_person_approved_may_run_once(
    api: Api, owner_key: str, loop: Loop, member: User
) -> None:
    request_id = ask(api, owner_key, loop)
    response = redeem(api, owner_key, request_id, ARGUMENTS)
    refused(response, 400, "Only approved requests have a receipt", "the request is still open")
    moments.answer(request_id, member, {"action": "approve"})
    granted(redeem(api, owner_key, request_id, ARGUMENTS), "Approval redeemed successfully")
    assert redeem(api, owner_key, request_id, ARGUMENTS).status_code == 409


def test_what_a_person_changed_is_what_may_run(
    api: Api, owner_key: str, loop: Loop, member: User
) -> None:
    request_id = ask(api, owner_key, loop)
    changed = {**ARGUMENTS, "amount": 10}
    moments.answer(request_id, member, {"action": "edit", "arguments": changed})
    response = redeem(api, owner_key, request_id, ARGUMENTS)
    message = "Arguments differ from the approved ones"
    refused(response, 409, message, {"path": "arguments.amount"})
    read = json_of(api(owner_key).get(f"/v1/api/requests/{request_id}"))["data"]["request"]
    runs = read["response_data"]["arguments"]
    granted(redeem(api, owner_key, request_id, runs), "Approval redeemed successfully")


@pytest.mark.parametrize("action", ["reject", "respond"])
def test_what_nobody_approved(
    api: Api, owner_key: str, loop: Loop, member: User, action: str
) -> None:
    request_id = ask(api, owner_key, loop)
    moments.answer(request_id, member, {"action": action, "message": "Why?"})
    assert redeem(api, owner_key, request_id, ARGUMENTS).status_code == 400


def test_the_default_approves_nothing(api: Api, owner_key: str, loop: Loop) -> None:
    request_id = ask(api, owner_key, loop)
    moments.let_pass(request_id, hours=2)
    response = redeem(api, owner_key, request_id, ARGUMENTS)
    message = "Only approved requests have a receipt"
    refused(response, 400, message, "nobody approved it in time")


@pytest.mark.parametrize("seconds", [59, 2_592_001, "60", True, 60.5])
def test_how_long_it_may_be_valid(api: Api, owner_key: str, loop: Loop, seconds: Any) -> None:
    body = of_type("approval", proposal=PROPOSAL, approval_valid_seconds=seconds)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    reason = "approval_valid_seconds must be an integer between 60 and 2592000"
    refused(response, 400, "Invalid response configuration", reason)


def test_a_proposal_without_arguments(api: Api, owner_key: str, loop: Loop, member: User) -> None:
    request_id = ask(
        api, owner_key, loop, proposal={"name": "restart"}, actions=["approve", "reject"]
    )
    moments.answer(request_id, member, {"action": "approve"})
    granted(redeem(api, owner_key, request_id, {}), "Approval redeemed successfully")


def test_its_page_says_when_it_was_redeemed(
    api: Api, owner: User, owner_key: str, loop: Loop, member: User
) -> None:
    request_id = ask(api, owner_key, loop, approval_valid_seconds=60)
    path = f"/dashboard/requests/{request_id}/"
    assert "Receipt" not in words(signed_in(owner).get(path))
    moments.answer(request_id, member, {"action": "approve"})
    before = words(signed_in(owner).get(path))
    assert "Receipt A signed proof of this approval." in before
    assert "Redeemed Not yet Valid until" in before
    assert "Approval redeemed" not in before
    granted(redeem(api, owner_key, request_id, ARGUMENTS), "Approval redeemed successfully")
    after = words(signed_in(owner).get(path))
    assert "Approval redeemed With the key" in after
    assert "Not yet" not in after
    moments.let_pass(request_id, hours=2)
    receipt = Receipt.objects.get(pk=request_id)
    assert receipt.redeemed_with is not None
    assert receipt.redeemed_with.name in after


def test_a_rejection_has_no_receipt_on_its_page(
    api: Api, owner: User, owner_key: str, loop: Loop, member: User
) -> None:
    request_id = ask(api, owner_key, loop)
    moments.answer(request_id, member, {"action": "reject"})
    page = words(signed_in(owner).get(f"/dashboard/requests/{request_id}/"))
    assert "A signed proof" not in page
