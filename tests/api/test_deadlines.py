"""What a request becomes at its deadline, though no background worker runs in these tests."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import TransitionLost, answer_request, claim_request
from tests.api import moments
from tests.api.bodies import TYPES
from tests.api.wire import Api, Ask, granted

pytestmark = pytest.mark.django_db


@pytest.mark.contract("state.timeout", "timeout.data", "timeout.answered_by")
@pytest.mark.parametrize("response_type", list(TYPES))
def test_the_default_becomes_the_answer(
    api: Api, plenty: str, ask: Ask, response_type: str
) -> None:
    late = ask(response_type=response_type, **TYPES[response_type])
    moments.let_pass(late, hours=1)
    shown = _single(api, plenty, late)
    default = TYPES[response_type]["default_response"]
    assert (shown["status"], shown["response_data"]) == ("timeout", default)
    assert type(shown["response_data"]) is type(default)
    assert shown["answered_by"] == "default"
    assert shown["updated_at"] == shown["timeout_at"]
    for field in ("response_by", "response_by_user", "response_at", "response_time_seconds"):
        assert shown[field] is None


@pytest.mark.contract("timeout.data")
@pytest.mark.parametrize(
    ("response_type", "default"),
    [("multi_select", "red"), ("multi_select", ["blue", "red"]), ("number", 5.0), ("rating", 5)],
)
def test_it_is_as_it_was_sent(
    api: Api, plenty: str, ask: Ask, response_type: str, default: Any
) -> None:
    shape = {**TYPES[response_type], "default_response": default}
    late = ask(response_type=response_type, **shape)
    moments.let_pass(late, hours=1)
    value = _single(api, plenty, late)["response_data"]
    assert (value, type(value)) == (default, type(default))


@pytest.mark.contract("timeout.clock", "list.status", "list.total")
def test_no_list_says_pending(api: Api, plenty: str, member: User, loop: Loop, ask: Ask) -> None:
    late, held = ask(), ask()
    moments.claim(held, member)
    for request_id in (late, held):
        moments.let_pass(request_id, hours=1)
    for path in ("/v1/api/requests", f"/v1/api/loops/{loop.pk}/requests"):
        for status, total in (("pending", 0), ("claimed", 0), ("timeout", 2)):
            data = api(plenty).get(f"{path}?status={status}").json()["data"]  # type: ignore[attr-defined]
            assert (data["total"], data["count"]) == (total, total)
        data = api(plenty).get(path).json()["data"]  # type: ignore[attr-defined]
        shown = [(row["status"], row["response_data"]) for row in data["requests"]]
        assert shown == [("timeout", "no")] * 2
    assert set(Request.objects.values_list("status", flat=True)) == {"timeout"}


@pytest.mark.contract("timeout.clock", "state.final")
def test_no_write_gets_through(api: Api, plenty: str, member: User, owner: User, ask: Ask) -> None:
    late, held = ask(), ask()
    moments.claim(held, member)
    for request_id in (late, held):
        moments.let_pass(request_id, hours=1)
        request = Request.objects.get(pk=request_id)
        with pytest.raises(TransitionLost) as lost:
            answer_request(request=request, reviewer_id=member.pk, answer="yes")
        assert lost.value.request.status == "timeout"
        with pytest.raises(TransitionLost):
            claim_request(request=request, reviewer_id=owner.pk)
        assert api(plenty).delete(f"/v1/api/requests/{request_id}").status_code == 400
        assert _single(api, plenty, request_id)["status"] == "timeout"


@pytest.mark.contract("state.final")
def test_a_final_request_stays_as_it_is(api: Api, plenty: str, member: User, ask: Ask) -> None:
    done, cancelled = ask(), ask()
    moments.answer(done, member)
    api(plenty).delete(f"/v1/api/requests/{cancelled}")
    before = [_single(api, plenty, request_id) for request_id in (done, cancelled)]
    for request_id in (done, cancelled):
        Request.objects.filter(pk=request_id).update(timeout_at="2020-01-01T00:00:00Z")
    after = [_single(api, plenty, request_id) for request_id in (done, cancelled)]
    for old, new in zip(before, after, strict=True):
        assert {**new, "timeout_at": old["timeout_at"]} == old


def _single(api: Api, key: str, request_id: str) -> dict[str, Any]:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    shown: dict[str, Any] = granted(response, "Request retrieved successfully")["request"]
    return shown
