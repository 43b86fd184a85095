"""A trace goes from the call that makes or ends a request into the webhooks of that request."""

import pytest
from django.db.models.functions import Now

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import question
from tests.api.mcp.wire import QUESTION, Agent
from tests.api.test_query_counts import statements
from tests.api.wire import Api, granted
from tests.webhooks.conftest import deliver_here
from tests.webhooks.receivers import Receiver, receiving
from tests.webhooks.test_trace_context import PARENT, TRACE, VALID
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db
OTHER = f"00-{'ab' * 16}-{PARENT}-00"


def create(api: Api, key: str, loop: Loop, *, traceparent: str | None = None) -> Request:
    """A request with a callback."""
    headers = {} if traceparent is None else {"traceparent": traceparent}
    body = question(callback_url="https://example.com/hook")
    response = api(key).post(f"/v1/api/loops/{loop.pk}/requests", body, **headers)
    data = granted(response, "Request created and broadcasted successfully", status=201)
    request: Request = Request.objects.get(pk=data["request_id"])
    return request


def sent_to(receiver: Receiver) -> list[str | None]:
    """The traces of what is delivered now; they must be in the log of deliveries, too."""
    Delivery.objects.filter(state="waiting").update(url=receiver.url, host="127.0.0.1")
    before = len(receiver.got)
    deliver_here()
    traces = [got.headers.get("traceparent") for got in receiver.got[before:]]
    logged = [attempt.request_headers or {} for attempt in Attempt.objects.all()]
    assert {each.get("traceparent") for each in logged} >= set(traces)
    return traces


def test_each_webhook_continues_the_trace_of_the_create(
    api: Api, plenty: str, loop: Loop, member: User
) -> None:
    request = create(api, plenty, loop, traceparent=VALID)
    assert request.traceparent == VALID
    moments.claim(request.pk, member)
    moments.answer(request.pk, member)
    with receiving() as receiver:
        claimed, completed = sent_to(receiver)
        Delivery.objects.update(state="waiting", delivered_at=None, next_attempt_at=Now())
        again = sent_to(receiver)
    sent = [claimed, completed, *again]
    assert [str(each).split("-")[1] for each in sent] == [TRACE] * 4
    assert len({PARENT, *(str(each).split("-")[2] for each in sent)}) == 5


def test_without_a_trace_there_is_none(api: Api, plenty: str, loop: Loop, member: User) -> None:
    moments.answer(create(api, plenty, loop).pk, member)
    with receiving() as receiver:
        assert sent_to(receiver) == [None]


@pytest.mark.parametrize("header", ["nonsense", f"00-{'0' * 32}-{PARENT}-01", "é" * 2000])
def test_one_that_is_not_valid_is_ignored(api: Api, plenty: str, loop: Loop, header: str) -> None:
    assert create(api, plenty, loop, traceparent=header).traceparent is None


def test_the_trace_of_a_cancel_wins(api: Api, plenty: str, loop: Loop) -> None:
    for header, trace in ((OTHER, "ab" * 16), (None, TRACE), ("nonsense", TRACE)):
        request = create(api, plenty, loop, traceparent=VALID)
        headers = {} if header is None else {"traceparent": header}
        path = f"/v1/api/requests/{request.pk}"
        granted(api(plenty).delete(path, **headers), "Request cancelled successfully")
        with receiving() as receiver:
            (sent,) = sent_to(receiver)
        assert str(sent).split("-")[1] == trace


def test_the_trace_of_a_deleted_loop(api: Api, plenty: str, loop: Loop) -> None:
    create(api, plenty, loop)
    create(api, plenty, loop, traceparent=VALID)
    path = f"/v1/api/loops/{loop.pk}"
    granted(api(plenty).delete(path, traceparent=OTHER), "Loop deleted successfully")
    with receiving() as receiver:
        assert [str(sent).split("-")[1] for sent in sent_to(receiver)] == ["ab" * 16] * 2


def test_a_trace_is_no_part_of_what_a_repeated_call_repeats(
    api: Api, plenty: str, loop: Loop
) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    for header in (VALID, OTHER):
        given = {"Idempotency-Key": "order-4711", "traceparent": header}
        assert api(plenty).post(path, question(), **given).status_code == 201
    assert Request.objects.get().traceparent == VALID


def test_an_agent_names_it_in_the_message(api: Api, plenty: str, loop: Loop) -> None:
    agent = Agent(api, plenty)
    asked = {**QUESTION, "loop_id": loop.pk}
    meta = {**agent.meta, "traceparent": VALID}
    for header in ({}, {"traceparent": OTHER}):  # that of something in between
        call = {"name": "create_request", "arguments": full(asked), "_meta": meta}
        agent.result("tools/call", call, **header)
    call = {"name": "create_request", "arguments": full(asked)}
    agent.result("tools/call", call, traceparent=OTHER)
    agent.result("tools/call", {**call, "_meta": {**agent.meta, "traceparent": [7]}})
    stored = Request.objects.order_by("id").values_list("traceparent", flat=True)
    assert list(stored) == [VALID, VALID, OTHER, None]


def full(asked: dict[str, object]) -> dict[str, object]:
    """The arguments of create_request."""
    return {**asked, "processing_type": "time-sensitive", "type": "markdown", "priority": "low"}


def test_it_costs_no_statement(api: Api, plenty: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    assert statements(lambda: api(plenty).post(path, question(), traceparent=VALID), 201) == 2
