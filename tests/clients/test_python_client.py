"""clients/python against the real server, while people answer through the services."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import reviewloop
from django.db import transaction
from reviewloop import Client

from accounts.models import User
from bench.serving import children, is_python_worker
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.backends import waiting_for_locks
from tests.clients.conftest import answer, asked, let_time_run_out
from tests.clients.gate import Fault, Gate
from tests.conftest import key_of
from tests.reviews.conftest import Make, make
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["make"]  # a fixture


def test_a_person_answers(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User
) -> None:
    asking = pool.submit(
        client.ask, "Ship it?", options=["yes", "no"], default="no", loop=loop.name
    )
    request = answer("yes", member, comment="Looks good.")
    got = asking.result(30)
    assert (got.value, got.by_human, got.comment) == ("yes", True, "Looks good.")
    assert (got.request_id, got.request["response_by"]) == (request.pk, member.pk)
    assert (request.timeout_seconds, request.response_type) == (3600, "single_select")
    assert request.platform_version == f"reviewloop-python/{reviewloop.__version__}"


CALL = {"proposal": {"name": "refund", "arguments": {"order": 7}}}


@pytest.mark.parametrize(
    ("decision", "may_run"),
    [
        ({"action": "approve"}, {"order": 7}),
        ({"action": "edit", "arguments": {"order": 8}}, {"order": 8}),
        ({"action": "reject"}, None),
    ],
)
def test_an_approval(
    client: Client,
    pool: ThreadPoolExecutor,
    loop: Loop,
    member: User,
    decision: dict[str, Any],
    may_run: Any,
) -> None:
    config = {**CALL, "actions": ["approve", "edit", "reject"]}
    asking = pool.submit(
        client.ask,
        "May I?",
        response_type="approval",
        response_config=config,
        default={"action": "reject"},
    )
    answer(decision, member)
    got = asking.result(30)
    assert got.decision is not None
    assert got.decision["action"] == decision["action"]
    assert got.arguments == may_run


def test_metadata(client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User) -> None:
    pairs = {"order": "1042", "a]b[c=d&e": ""}
    asking = pool.submit(client.ask, "Why?", default="-", metadata=pairs)
    request = answer("Because.", member)
    assert asking.result(30).request["metadata"] == pairs
    client.requests.create(
        loop.pk,
        request_text="Why?",
        response_type="text",
        response_config={},
        default_response="-",
        metadata={"order": "1043"},
    )
    for listed in (
        client.requests.list(metadata=pairs, status="completed"),
        client.requests.list_of_loop(loop.pk, metadata=pairs),
    ):
        assert [each["id"] for each in listed] == [request.pk]


def test_nobody_answers(client: Client, pool: ThreadPoolExecutor, loop: Loop) -> None:
    asking = pool.submit(client.ask, "Why?", default="Unknown", timeout="10m")
    let_time_run_out(asked())
    got = asking.result(30)
    assert (got.value, got.by_human, got.request["status"]) == ("Unknown", False, "timeout")

    Request.objects.all().delete()
    asking = pool.submit(client.ask, "Why?", default="Unknown", require_human=True)
    let_time_run_out(asked())
    with pytest.raises(reviewloop.DefaultUsed) as raised:
        asking.result(30)
    assert raised.value.answer.value == "Unknown"


def test_people_do_not_agree(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, owner: User, member: User
) -> None:
    policy = {"rule": "unanimous", "answers": 2}
    asking = pool.submit(client.ask, "Which?", default="b", options=["a", "b"],
                         policy=policy, require_human=True)  # fmt: skip
    request = asked()
    for person, text in ((owner, "a"), (member, "b")):
        services.answer_request(request=request, reviewer_id=person.pk, answer=text)
    sentence = f"The people who answered request {request.pk} did not agree"
    with pytest.raises(reviewloop.DefaultUsed, match=f"^{sentence}$"):
        asking.result(30)


@pytest.mark.parametrize(
    ("outcome", "received", "sentence"),
    [
        (None, 0, "Nobody answered request 7 in time"),
        ("default", 0, "Nobody answered request 7 in time"),
        ("default", 1, "Too few people answered request 7 in time"),
        ("unreachable", 0, "Too few people were left to answer request 7"),
    ],
)
def test_why_the_default_is_used(outcome: Any, received: int, sentence: str) -> None:
    request: Any = {"id": "7", "outcome": outcome, "answers_received": received}
    answer = reviewloop.Answer("no", by_human=False, comment=None, request=request)
    assert str(reviewloop.DefaultUsed(answer)) == sentence


def test_the_request_is_cancelled(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, owner: User
) -> None:
    asking = pool.submit(client.ask, "How many?", default=0, response_type="number",
                         response_config={"max_value": 9}, timeout="30d")  # fmt: skip
    request = asked()
    assert request.processing_type == "deferred"
    client.requests.cancel(request.pk)
    with pytest.raises(reviewloop.Cancelled) as raised:
        asking.result(30)
    assert (raised.value.request_id, raised.value.superseded_by) == (request.pk, None)


def test_two_people_decide(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, owner: User, member: User
) -> None:
    policy = {"rule": "unanimous", "answers": 2}
    asking = pool.submit(
        client.ask, "Refund 80 €?", options=["yes", "no"], default="no", policy=policy
    )
    request = asked()
    for person in (owner, member):
        services.answer_request(
            request=services.read_request(request.pk), reviewer_id=person.pk, answer="yes"
        )
    answer = asking.result(30)
    assert (answer.value, answer.by_human) == ("yes", True)
    assert answer.request["outcome"] == "decided"
    assert [each["response_by"] for each in answer.request["answers"]] == [owner.pk, member.pk]


def test_the_next_version_of_a_question(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User
) -> None:
    asking = pool.submit(client.ask, "Refund 80 €?", options=["yes", "no"], default="no")
    older = asked()
    again = pool.submit(
        client.ask, "Refund 40 €?", options=["yes", "no"], default="no", replaces=older.pk
    )
    with pytest.raises(reviewloop.Cancelled) as raised:
        asking.result(30)
    newer = Request.objects.get(replaces=older)
    assert (raised.value.request_id, raised.value.superseded_by) == (older.pk, newer.pk)
    assert str(raised.value).endswith(f"was cancelled; {newer.pk} has replaced it")
    services.answer_request(request=newer, reviewer_id=member.pk, answer="yes")
    assert again.result(30).request["replaces"] == older.pk


def test_loops(client: Client, owner: User, member: User) -> None:
    made = client.loops.create("Editors", description="They decide.")
    assert made["join_url"] == client.loops.get(made["id"])["join_url"]
    assert made["qr_code_url"].startswith("http")
    assert client.loops.update(made["id"], name="Writers")["name"] == "Writers"
    assert [loop["id"] for loop in client.loops.list()] == [made["id"]]
    assert [each["email"] for each in client.loops.members(made["id"])] == [owner.email]
    client.loops.delete(made["id"])
    assert not list(client.loops.list())
    with pytest.raises(reviewloop.NotFound) as raised:
        client.loops.delete(made["id"])
    assert str(raised.value) == "Loop not found (HTTP 404)"


def test_webhook_endpoints(client: Client, loop: Loop) -> None:
    endpoints = client.webhook_endpoints
    made = endpoints.create("https://router.example/hook", ["request.created"])
    assert made["secret"].startswith("whsec_")
    assert made["loop_ids"] == []
    shown = endpoints.get(made["id"])
    assert "secret" not in shown
    assert {**shown, "secret": made["secret"]} == made
    changed = endpoints.update(made["id"], loop_ids=[loop.pk], enabled=False)
    assert (changed["loop_ids"], changed["enabled"]) == ([loop.pk], False)
    rotated = endpoints.rotate_secret(made["id"])
    with pytest.raises(reviewloop.InvalidCall):
        endpoints.rotate_secret(made["id"])
    forced = endpoints.rotate_secret(made["id"], force=True)
    assert len({each["secret"] for each in (made, rotated, forced)}) == 3
    assert [each["id"] for each in endpoints.list()] == [made["id"]]
    endpoints.delete(made["id"])
    assert not endpoints.list()
    with pytest.raises(reviewloop.NotFound):
        endpoints.delete(made["id"])


def test_which_loop_is_asked(client: Client) -> None:
    first = client.loops.find()  # the account has none: one is made
    assert first["name"] == "Questions"
    assert client.loops.find()["id"] == first["id"]
    other = client.loops.create("Night shift")
    with pytest.raises(reviewloop.LoopNotChosen, match="Your loops: Night shift, Questions"):
        client.loops.find()
    assert client.loops.find("Night shift")["id"] == other["id"]
    assert client.loops.find(other["id"].upper())["id"] == other["id"]
    client.loops.create("Night shift")
    with pytest.raises(reviewloop.LoopNotChosen, match="2 loops are called 'Night shift': use an"):
        client.loops.find("Night shift")
    with pytest.raises(reviewloop.LoopNotChosen, match="There is no loop 'Nobody'"):
        client.loops.find("Nobody")


def test_requests_come_page_by_page(client: Client, gate: Gate, make: Make, loop: Loop) -> None:
    made = [make().pk for _ in range(5)]
    assert [each["id"] for each in client.requests.list(page_size=2, sort="created_at_asc")] == made
    assert len(gate.calls) == 3
    listed = client.requests.list_of_loop(loop.pk, status="pending")
    assert {each["id"] for each in listed} == set(made)

    pages = client.requests.list(page_size=2)
    first = [next(pages), next(pages)]
    make()  # it moves the others to the next page
    assert [each["id"] for each in [*first, *pages]] == made[::-1]


def test_a_list_follows_its_rows(client: Client, gate: Gate, make: Make, loop: Loop) -> None:
    made = {make().pk for _ in range(7)}
    for listed in (
        client.requests.list(status="pending", page_size=2),
        client.requests.list_of_loop(loop.pk, status="pending", page_size=2),
    ):
        seen = []
        for request in listed:
            client.requests.cancel(request["id"])
            seen.append(request["id"])
        assert sorted(seen) == sorted(made)
        made = {make().pk for _ in range(7)}


def test_a_list_of_a_service_without_cursors(client: Client, gate: Gate, make: Make) -> None:
    gate.is_old = True
    made = [make().pk for _ in range(5)]
    assert [each["id"] for each in client.requests.list(page_size=2)] == made[::-1]
    assert [call.path.rpartition("&")[2] for call in gate.calls] == [
        "cursor=",
        "offset=2",
        "offset=4",
    ]


def test_feedback(client: Client, make: Make, member: User) -> None:
    request = make()
    with pytest.raises(reviewloop.InvalidCall, match="can only be added to completed requests"):
        client.requests.give_feedback(request.pk, rating=5)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert client.requests.give_feedback(request.pk, rating=5, tags=["quick"])["rating"] == 5
    assert client.requests.get(request.pk)["feedback"] == {"rating": 5, "tags": ["quick"]}


def test_a_wait_ends_after_its_seconds(client: Client, make: Make) -> None:
    assert client.requests.wait(make().pk, seconds=1)["status"] == "pending"


def test_no_failure_makes_a_wait_longer(client: Client, gate: Gate, make: Make) -> None:
    request = make()
    for fault in (Fault(429, {"Retry-After": "3000"}), Fault(503, {"Retry-After": "20"})):
        gate.faults = [fault]
        with pytest.raises(reviewloop.ApiError) as raised:
            client.requests.wait(request.pk, seconds=5)
        assert raised.value.status == fault.status


def test_a_silent_service_makes_no_wait_longer(
    client: Client, gate: Gate, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewloop.transport.LATE_SECONDS", 0.1)
    gate.hold = ("GET", "?wait=", "before")
    with pytest.raises(reviewloop.ConnectionFailed, match="Read timed out"):
        client.requests.wait(make().pk, seconds=0.5)
    gate.release()
    assert len(gate.calls) <= 2


def test_a_call_that_may_not_wait_pauses(
    client: Client,
    gate: Gate,
    pool: ThreadPoolExecutor,
    make: Make,
    member: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The service answers at once where too many calls wait (`Wait-Applied: 0`)."""
    request = make()
    pauses: list[float] = []
    monkeypatch.setattr("reviewloop.asked.sleep", pauses.append)
    monkeypatch.setattr("reviewloop.asked.MAX_PAUSE", 4.0)
    gate.crowded = 4
    waiting = pool.submit(client.requests.wait, request.pk)
    wait_until(lambda: len(gate.calls) == 5)  # the fifth waits
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert waiting.result(30)["status"] == "completed"
    assert pauses == [1, 2, 4, 4]


def test_each_failure_has_its_exception(
    client: Client, service: str, owner: User, loop: Loop
) -> None:
    with pytest.raises(reviewloop.Unauthorized, match=r"^Invalid API key \(HTTP 401\)$"):
        Client(service, "rl_live_nonsense").check()  # /v1 is added
    with pytest.raises(reviewloop.Forbidden):
        Client(service, key_of(owner, permissions=["loops:read"])).requests.get("0" * 24)
    with pytest.raises(reviewloop.InvalidCall) as raised:
        client.ask("Ship it?", options=["yes", "no"], default="perhaps")
    assert raised.value.msg == "Invalid default response"
    assert raised.value.data == "default_response must match one of the configured options"
    with pytest.raises(reviewloop.ConnectionFailed):
        Client("http://127.0.0.1:9/v1", "x", patience=0).check()
    with pytest.raises(reviewloop.ConfigurationError, match="REVIEW_LOOP_KEY is not set"):
        Client(service)
    with pytest.raises(reviewloop.ConfigurationError, match="REVIEW_LOOP_URL is not set"):
        Client()
    with pytest.raises(ValueError, match="60 seconds to 24 hours"):
        client.ask("Ship it?", default="no", timeout="5s")


def test_a_netrc_file_does_not_replace_the_key(
    service: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert Client(service, key).check()["account_status"] == "active"


FAULTS = [
    Fault(503),
    Fault(502),
    Fault(409, {"Retry-After": "0"}),
    Fault(),
    Fault(is_forwarded=True),
]


def test_a_create_is_repeated_with_its_key(
    client: Client, gate: Gate, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After failures, broken connections, and a response that was lost."""
    monkeypatch.setattr("reviewloop.transport.FIRST_PAUSE", 0.01)
    gate.faults += FAULTS
    client.requests.create(
        loop.pk,
        request_text="Ship it?",
        response_type="text",
        response_config={},
        default_response="no",
    )
    assert Request.objects.count() == 1
    assert len(gate.keys()) == len(FAULTS) + 1
    assert len(set(gate.keys())) == 1
    client.loops.create("Other")
    assert len(set(gate.keys())) == 2


def test_it_passes_traces_on(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User
) -> None:
    traces = [f"00-{n:032x}-{'ab' * 8}-01" for n in (1, 2, 3, 4)]
    for trace, resume in zip(traces, (None, "deploy-4711"), strict=False):
        asking = pool.submit(client.ask, "Why?", default="-", traceparent=trace, resume=resume)
        assert answer("Because.", member).traceparent == trace
        asking.result(30)
        Request.objects.all().delete()
    made = client.requests.create(
        loop.pk,
        request_text="Ship it?",
        response_type="text",
        response_config={},
        default_response="no",
        traceparent=traces[2],
    )
    assert asked().traceparent == traces[2]
    client.requests.cancel(made["request_id"], traceparent=traces[3])
    assert asked().traceparent == traces[3]


def test_a_cancel_whose_answer_was_lost_has_succeeded(
    client: Client, gate: Gate, make: Make, loop: Loop
) -> None:
    request = make()
    gate.faults.append(Fault(is_forwarded=True))
    client.requests.cancel(request.pk)
    with pytest.raises(reviewloop.InvalidCall, match="cannot be cancelled in current state"):
        client.requests.cancel(request.pk)
    gate.faults.append(Fault(is_forwarded=True))
    client.loops.delete(loop.pk)


def test_retry_after_is_honoured(client: Client, gate: Gate, loop: Loop) -> None:
    gate.faults += [Fault(429, {"Retry-After": "1"}), Fault(503, {"Retry-After": "1"})]
    begun = time.monotonic()
    client.check()
    assert time.monotonic() - begun >= 2  # a lower bound only: a busy machine may take longer
    assert len(gate.calls) == 3

    gate.faults.append(Fault(429, {"Retry-After": "3000"}))
    with pytest.raises(reviewloop.RateLimited) as raised:
        client.check()  # longer than its patience
    assert raised.value.retry_after == 3000


def test_the_real_quota_is_named(service: str, owner: User) -> None:
    client = Client(service, key_of(owner, hourly_limit=1), patience=0)
    client.check()
    with pytest.raises(reviewloop.RateLimited, match="API rate limit exceeded") as raised:
        client.check()
    assert 0 < (raised.value.retry_after or 0) <= 3600


def test_a_wait_sits_out_the_quota(
    client: Client, gate: Gate, pool: ThreadPoolExecutor, make: Make, member: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    request = make()
    pauses: list[float] = []
    monkeypatch.setattr("reviewloop.transport.sleep", pauses.append)
    gate.faults += [Fault(429, {"Retry-After": "3000"})] * 3
    waiting = pool.submit(client.requests.wait, request.pk)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert waiting.result(30)["response_data"] == "yes"
    assert all(3000 <= pause <= 3001 for pause in pauses)
    assert len(pauses) == 3


def test_a_killed_web_process_makes_no_second_request(
    client: Client, service: str, pool: ThreadPoolExecutor, loop: Loop, member: User
) -> None:
    """It dies in the middle of the create, and again while the client waits."""
    parent = parent_of(service)
    with transaction.atomic():
        Loop.objects.select_for_update().get(pk=loop.pk)
        asking = pool.submit(client.ask, "Ship it?", options=["yes", "no"], default="no")
        wait_until(waiting_for_locks, 30)
        replace_worker(parent)
    request = asked()
    replace_worker(parent)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert asking.result(60).value == "yes"
    assert Request.objects.count() == 1


def parent_of(service: str) -> int:
    port = service.rpartition(":")[2]
    return next(pid for pid in children(os.getpid()) if f"--port\0{port}\0" in command_of(pid))


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")


def replace_worker(parent: int) -> None:
    (worker,) = workers_of(parent)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: workers_of(parent) not in ([], [worker]), 30)


def workers_of(parent: int) -> list[int]:
    return [pid for pid in children(parent) if is_python_worker(pid)]
