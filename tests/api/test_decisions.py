"""What a loop teaches: figures of its approvals, and an export of every decision."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiKey, AuditEntry, User
from accounts.services import create_api_key
from api.decisions import KeyEnded
from loops.models import Loop
from reviews import services
from reviews.models import ExportLease, Request, Viewer
from reviews.queries import decisions
from tests.api import moments
from tests.api.wire import Api, Ask, body_of, granted, json_of, send
from tests.reviews.approvals import ARGUMENTS, PROPOSAL, decide, turn_into_approval
from tests.reviews.conftest import make_overdue

pytestmark = pytest.mark.django_db


@pytest.fixture
def approval(ask: Ask) -> Callable[..., str]:
    """`approval(tool)` is the id of an open approval of a tool."""

    def make(tool: str = "refund", **config: Any) -> str:
        request_id = ask()
        turn_into_approval(request_id, **{"proposal": {**PROPOSAL, "name": tool}, **config})
        return request_id

    return make


def answer_after(seconds: float, request_id: str, person: User, action: str, **more: Any) -> None:
    """The person decides so many seconds after they opened the request."""
    decide(request_id, person, action, **more)
    row = Request.objects.get(pk=request_id)
    Viewer.objects.create(request=row, person=person, account_id=row.creator_id)
    opened = row.response_at - timedelta(seconds=seconds)  # type: ignore[operator]
    Viewer.objects.filter(request=row).update(opened_at=opened)


def figures(api: Api, key: str, loop: Loop) -> dict[str, Any]:
    answer = api(key).get(f"/v1/api/loops/{loop.pk}/statistics")
    return granted(answer, "Loop statistics retrieved successfully")


def lines(api: Api, key: str, loop: Loop, query: str = "") -> list[dict[str, Any]]:
    answer: Any = api(key).get(f"/v1/api/loops/{loop.pk}/decisions{query}")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/jsonl"
    assert answer["Cache-Control"] == "no-store"
    text = b"".join(answer.streaming_content).decode()
    answer._iterator.close()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.contract(
    "loop_statistics.shares", "loop_statistics.opening", "loop_statistics.quick",
)  # fmt: skip
def test_figures_by_tool(
    api: Api, plenty: str, loop: Loop, member: User, approval: Callable[..., str], ask: Ask
) -> None:
    moments.answer(ask(), member)  # another type does not count
    for seconds, action in ((1, "approve"), (2, "approve"), (9, "edit"), (30, "reject")):
        answer_after(seconds, approval(), member, action)
    late = approval()
    make_overdue(Request.objects.get(pk=late))
    services.read_request(late)
    answer_after(5, approval("deploy"), member, "respond", message="Which?")
    decide(approval("deploy"), member)  # nobody has opened it
    found = figures(api, plenty, loop)
    refund = {
        "tool": "refund", "count": 5, "approved": 0.4, "edited": 0.2, "rejected": 0.2,
        "replied": 0.0, "timed_out": 0.2, "median_seconds_from_opening": 5.5,
        "may_not_have_been_read": 0.5,
    }  # fmt: skip
    deploy = {
        "tool": "deploy", "count": 2, "approved": 0.5, "edited": 0.0, "rejected": 0.0,
        "replied": 0.5, "timed_out": 0.0, "median_seconds_from_opening": 5.0,
        "may_not_have_been_read": 0.0,
    }  # fmt: skip
    assert found["tools"] == [refund, deploy]
    assert found["approvals"] == {
        "count": 7, "approved": 0.429, "edited": 0.143, "rejected": 0.143, "replied": 0.143,
        "timed_out": 0.143, "median_seconds_from_opening": 5.0, "may_not_have_been_read": 0.4,
    }  # fmt: skip
    assert (found["days"], found["quick_seconds"]) == (90, 2)


def test_figures_without_approvals(api: Api, plenty: str, loop: Loop) -> None:
    found = figures(api, plenty, loop)
    assert (found["approvals"], found["tools"]) == (None, [])


def test_figures_take_one_statement(
    api: Api, plenty: str, loop: Loop, member: User, approval: Callable[..., str]
) -> None:
    counts = []
    for _ in range(2):
        decide(approval(), member)
        with CaptureQueriesContext(connection) as queries:
            figures(api, plenty, loop)
        counts.append(len(queries))
    assert counts == [3, 3]  # the key, the loop, the figures


def test_old_approvals_do_not_count(
    api: Api, plenty: str, loop: Loop, member: User, approval: Callable[..., str]
) -> None:
    decide(approval(), member)
    Request.objects.update(created_at=F("created_at") - timedelta(days=91))
    assert figures(api, plenty, loop)["approvals"] is None


@pytest.mark.contract("loop_decisions.lines")
def test_lines(
    api: Api, plenty: str, loop: Loop, member: User, approval: Callable[..., str], ask: Ask
) -> None:
    plain, edited, rejected, late, open_one, dropped = (
        ask(), approval(), approval("deploy"), approval(), approval(), ask()
    )  # fmt: skip
    moments.answer(plain, member)
    approved = {**ARGUMENTS, "amount": 30}
    answer_after(3, edited, member, "edit", arguments=approved, edited=["amount"])
    decide(rejected, member, "reject", message="Not on a Friday.")
    make_overdue(Request.objects.get(pk=late))
    services.cancel_request(request_id=dropped, account_id=loop.creator_id)
    found = lines(api, plenty, loop)
    assert [each["id"] for each in found] == [late, rejected, edited, plain]
    assert open_one not in [each["id"] for each in found]
    row = Request.objects.get(pk=edited)
    changed = found[2]
    assert changed == {
        "id": edited,
        "created_at": changed["created_at"],
        "ended_at": changed["ended_at"],
        "response_type": "approval",
        "question": row.request_text,
        "tool": "refund",
        "proposal": PROPOSAL,
        "action": "edit",
        "answered_by": "human",
        "approved_arguments": approved,
        "difference": {"amount": {"proposed": 40, "approved": 30}},
        "answer": None,
        "message": None,
        "comment": None,
        "seconds": changed["seconds"],
        "seconds_from_opening": 3.0,
    }
    assert changed["seconds"] >= 0
    no = found[1]
    assert (no["tool"], no["action"], no["message"]) == ("deploy", "reject", "Not on a Friday.")
    assert no["approved_arguments"] is no["difference"] is no["seconds_from_opening"] is None
    assert (found[0]["action"], found[0]["seconds"], found[0]["ended_at"] is None) == (
        "timeout", None, False,
    )  # fmt: skip
    assert (found[3]["action"], found[3]["answer"], found[3]["tool"]) == ("answer", "yes", None)


@pytest.mark.contract("loop_decisions.span")
def test_the_span(
    api: Api, plenty: str, loop: Loop, member: User, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "PAGE", 2)
    ids = [ask() for _ in range(5)]
    for number, request_id in enumerate(ids):
        moments.answer(request_id, member)
        at = f"2026-05-0{number + 1}T00:00:00Z"
        Request.objects.filter(pk=request_id).update(created_at=at)

    def between(query: str) -> list[str]:
        return [each["id"] for each in lines(api, plenty, loop, query)]

    assert between("") == ids[::-1]
    assert between("?since=2026-05-02T00:00:00Z&until=2026-05-04T00:00:00Z") == [ids[2], ids[1]]
    assert between("?since=2026-05-05") == [ids[4]]
    assert between("?until=2026-05-01T01:00:00%2B02:00") == []
    for name in ("since", "until"):
        answer = api(plenty).get(f"/v1/api/loops/{loop.pk}/decisions?{name}=yesterday")
        assert json_of(answer)["data"] == f"{name} must be a time, such as 2026-05-01T00:00:00Z"
    assert not ExportLease.objects.exists()


@pytest.mark.contract("loop_decisions.denied", "loop_statistics.denied")
def test_others_are_denied(
    api: Api, loop: Loop, member_key: str, outsider_key: str, owner_key: str
) -> None:
    for name in ("statistics", "decisions"):
        for key in (member_key, outsider_key):
            answer = api(key).get(f"/v1/api/loops/{loop.pk}/{name}")
            assert (answer.status_code, body_of(answer)["msg"]) == (
                403, "Access denied to this loop",
            )  # fmt: skip
        answer = api(owner_key).get(f"/v1/api/loops/x/{name}")
        assert body_of(answer)["msg"] == "Invalid loop ID format"


def revoke(key: ApiKey, loop: Loop) -> None:
    ApiKey.objects.filter(pk=key.pk).update(state="revoked")


def take_the_permission(key: ApiKey, loop: Loop) -> None:
    ApiKey.objects.filter(pk=key.pk).update(permissions=["loops:read"])


def deactivate(key: ApiKey, loop: Loop) -> None:
    User.objects.filter(pk=loop.creator_id).update(is_active=False)


def delete(key: ApiKey, loop: Loop) -> None:
    services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)


@pytest.mark.contract("loop_decisions.ends")
@pytest.mark.parametrize("end", [revoke, take_the_permission, deactivate, delete])
def test_it_breaks_off(
    loop: Loop,
    owner: User,
    member: User,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[ApiKey, Loop], None],
) -> None:
    monkeypatch.setattr(decisions, "PAGE", 1)
    for _ in range(3):
        moments.answer(ask(), member)
    key, secret = create_api_key(user=owner, name="reads", permissions=["requests:read"])
    answer: Any = send("GET", f"/v1/api/loops/{loop.pk}/decisions", f"Bearer {secret}")
    parts = iter(answer.streaming_content)
    assert json.loads(next(parts))
    end(key, loop)
    with pytest.raises(KeyEnded):
        next(parts)
    answer._iterator.close()
    assert not ExportLease.objects.exists()


@pytest.mark.contract("loop_decisions.once")
def test_one_at_a_time_and_it_is_in_the_audit_log(
    api: Api, loop: Loop, plenty: str, member: User, ask: Ask
) -> None:
    moments.answer(ask(), member)
    path = f"/v1/api/loops/{loop.pk}/decisions"
    first: Any = api(plenty).get(path)
    second = api(plenty).get(path)
    assert (second.status_code, body_of(second)["msg"]) == (409, "Another export is running")
    assert second["Retry-After"] == "30"
    assert b"".join(first.streaming_content)
    first._iterator.close()
    assert lines(api, plenty, loop)
    said = AuditEntry.objects.filter(action="request.exported")
    assert set(said.values_list("subject", flat=True)) == {"JSONL, Refund desk"}
    assert all(row.key_id for row in said)
