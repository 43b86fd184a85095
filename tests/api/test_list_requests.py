"""GET /api/requests: filters, orders and pages."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import question
from tests.api.wire import NOWHERE, TIME, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

LISTED = "Requests retrieved successfully"
FIELDS = {
    *("id", "loop_id", "processing_type", "type", "priority", "request_text", "response_type"),
    *("status", "response_data", "response_by", "response_at", "response_time_seconds"),
    *("timeout_at", "created_at", "updated_at"),
}


def listed(api: Api, key: str, query: str = "") -> dict[str, Any]:
    """The data of the list under this query string."""
    return granted(api(key).get(f"/v1/api/requests{query}"), LISTED)


def ids(api: Api, key: str, query: str = "") -> list[str]:
    """The ids that the list shows, in its order."""
    return [entry["id"] for entry in listed(api, key, query)["requests"]]


@pytest.mark.contract(
    "list.requests",
    "list.count",
    "list.total",
    "list.has_more",
    "list.pagination",
    "list.limit",
    "list.offset",
    "list.msg",
    "request.id",
    "request.loop_id",
    "request.processing_type",
    "request.type",
    "request.priority",
    "request.request_text",
    "request.response_type",
    "request.status",
    "request.created_at",
    "request.updated_at",
    "request.timeout_at",
)
def test_one_request(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    asked = ask()
    data = listed(api, plenty)
    [entry] = data.pop("requests")
    assert data == {
        "count": 1,
        "total": 1,
        "has_more": False,
        "pagination": {"limit": 50, "offset": 0, "next_offset": None},
    }
    moments_of = {field: entry[field] for field in ("timeout_at", "created_at", "updated_at")}
    assert all(TIME.fullmatch(moment) for moment in moments_of.values())
    assert entry == {
        "id": asked,
        "loop_id": loop.pk,
        "processing_type": "time-sensitive",
        "type": "markdown",
        "priority": "high",
        "request_text": "Shall we publish?",
        "response_type": "single_select",
        "status": "pending",
        "response_data": None,
        "response_by": None,
        "response_at": None,
        "response_time_seconds": None,
        **moments_of,
    }


@pytest.mark.contract("list.requests", "list.pagination")
def test_no_request(api: Api, owner_key: str) -> None:
    assert listed(api, owner_key) == {
        "requests": [],
        "count": 0,
        "total": 0,
        "has_more": False,
        "pagination": {"limit": 50, "offset": 0, "next_offset": None},
    }


@pytest.mark.contract("list.own", "auth.scope")
def test_it_lists_what_the_account_created(
    api: Api, owner_key: str, member_key: str, outsider_key: str, ask: Ask
) -> None:
    asked = ask()
    assert ids(api, owner_key) == [asked]
    assert ids(api, member_key) == []
    assert ids(api, outsider_key) == []


@pytest.mark.contract("list.status", "list.total", "timeout.clock")
def test_filter_by_status(api: Api, plenty: str, member: User, ask: Ask) -> None:
    by_status = {name: ask() for name in ("pending", "claimed", "completed", "cancelled")}
    by_status["timeout"] = ask()
    moments.claim(by_status["claimed"], member)
    moments.answer(by_status["completed"], member)
    api(plenty).delete(f"/v1/api/requests/{by_status['cancelled']}")
    moments.let_pass(by_status["timeout"], hours=2)
    for status, request_id in by_status.items():
        data = listed(api, plenty, f"?status={status}")
        assert [entry["id"] for entry in data["requests"]] == [request_id]
        assert (data["requests"][0]["status"], data["total"]) == (status, 1)
        assert set(data["requests"][0]) == FIELDS
    assert listed(api, plenty)["total"] == 5


@pytest.mark.contract("list.priority", "list.loop_id")
def test_filters_together(api: Api, plenty: str, owner: User, loop: Loop, ask: Ask) -> None:
    other = create_loop(owner_id=owner.pk, name="Other", icon="bell")
    low, high = ask(priority="low"), ask(priority="high")
    response = api(plenty).post(f"/v1/api/loops/{other.pk}/requests", question(priority="low"))
    elsewhere = response.json()["data"]["request_id"]  # type: ignore[attr-defined]
    assert ids(api, plenty, "?priority=low") == [elsewhere, low]
    assert ids(api, plenty, f"?loop_id={loop.pk}") == [high, low]
    assert ids(api, plenty, f"?loop_id={loop.pk.upper()}&priority=low&status=pending") == [low]
    assert ids(api, plenty, f"?loop_id={NOWHERE}") == []
    assert ids(api, plenty, "?priority=critical") == []


@pytest.mark.contract("list.sort")
def test_orders(api: Api, plenty: str, member: User, ask: Ask) -> None:
    names = ("low", "critical", "medium", "high", "critical", "low")
    asked = [ask(priority=priority) for priority in names]
    assert ids(api, plenty, "?sort=created_at_asc") == asked
    assert ids(api, plenty, "?sort=created_at_desc") == asked[::-1]
    assert ids(api, plenty) == asked[::-1]
    by_priority = [asked[4], asked[1], asked[3], asked[2], asked[5], asked[0]]
    assert ids(api, plenty, "?sort=priority_desc") == by_priority
    moments.answer(asked[0], member)
    moments.claim(asked[2], member)
    api(plenty).delete(f"/v1/api/requests/{asked[5]}")
    moments.let_pass(asked[1], hours=2)
    cancelled, claimed, completed, timeout = asked[5], asked[2], asked[0], asked[1]
    by_status = [cancelled, claimed, completed, asked[4], asked[3], timeout]
    assert ids(api, plenty, "?sort=status_asc") == by_status


@pytest.mark.contract("list.total_order", "list.has_more", "list.pagination", "list.offset")
@pytest.mark.parametrize(
    "sort", ["created_at_desc", "created_at_asc", "priority_desc", "status_asc"]
)
def test_pages_neither_repeat_nor_skip(api: Api, plenty: str, ask: Ask, sort: str) -> None:
    asked = {ask() for _ in range(7)}
    first = Request.objects.all()[0]
    for request_id in sorted(asked)[3:] + sorted(asked)[:3]:  # so that none lies in order
        Request.objects.filter(pk=request_id).update(
            created_at=first.created_at, timeout_at=first.timeout_at
        )
    seen: list[str] = []
    offset = 0
    while True:
        data = listed(api, plenty, f"?limit=3&offset={offset}&sort={sort}")
        seen += [entry["id"] for entry in data["requests"]]
        assert (data["total"], data["count"]) == (7, len(data["requests"]))
        assert data["pagination"]["offset"] == offset
        assert data["pagination"]["limit"] == 3
        assert data["has_more"] is (data["pagination"]["next_offset"] is not None)
        if not data["has_more"]:
            break
        offset = data["pagination"]["next_offset"]
    assert seen == sorted(asked, reverse=sort != "created_at_asc")


@pytest.mark.contract("list.cursor", "list.total_order")
@pytest.mark.parametrize("filters", ["", "&status=pending", "&priority=high"])
@pytest.mark.parametrize(
    "sort", ["created_at_desc", "created_at_asc", "priority_desc", "status_asc"]
)
def test_a_cursor_follows_the_rows(
    api: Api, plenty: str, member: User, ask: Ask, sort: str, filters: str
) -> None:
    asked = [ask(priority=priority) for priority in ("low", "high", "critical", "high") * 3]
    moments.answer(asked[0], member)
    moments.claim(asked[1], member)
    moments.claim(asked[2], member)
    equal = Request.objects.get(pk=asked[4])
    Request.objects.filter(pk__in=asked[4:8]).update(
        created_at=equal.created_at, timeout_at=equal.timeout_at
    )
    query = f"?limit=3&sort={sort}{filters}"
    wanted = ids(api, plenty, f"?limit=100&sort={sort}{filters}")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        data = listed(api, plenty, f"{query}&cursor={cursor}")
        page = data["pagination"]
        seen += [entry["id"] for entry in data["requests"]]
        assert (data["total"], data["count"]) == (len(wanted), len(data["requests"]))
        assert data["has_more"] is (page["next_cursor"] is not None)
        assert (page["limit"], page["offset"], page["next_offset"]) == (3, 0, None)
        cursor = page["next_cursor"]
    assert seen == wanted


@pytest.mark.contract("list.cursor")
def test_what_leaves_the_list_moves_nothing_past_a_cursor(
    api: Api, plenty: str, loop: Loop, ask: Ask
) -> None:
    for path in ("/v1/api/requests", f"/v1/api/loops/{loop.pk}/requests"):
        asked = [ask() for _ in range(6)]
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            query = f"?status=pending&limit=2&cursor={cursor}"
            data = api(plenty).get(f"{path}{query}").json()["data"]  # type: ignore[attr-defined]
            ids = [entry["id"] for entry in data["requests"]]
            for request_id in ids:
                api(plenty).delete(f"/v1/api/requests/{request_id}")
            seen += ids
            cursor = data["pagination"]["next_cursor"]
        assert seen == asked[::-1]


@pytest.mark.contract("list.cursor", "list.bad_query")
@pytest.mark.parametrize(
    "query",
    [
        *(f"cursor={value}" for value in ("x", "1", "1.2", f"1.{NOWHERE}.1", "%00", "%ff", ".")),
        *(f"cursor={value}.{NOWHERE}" for value in ("-1", "1.5", "9" * 18, "9" * 4000, "%D9%A3")),
        f"sort=priority_desc&cursor=4.1.{NOWHERE}",
        f"sort=priority_desc&cursor=1.{NOWHERE}",
        f"sort=status_asc&cursor=open.1.{NOWHERE}",
        f"sort=status_asc&cursor=%00.1.{NOWHERE}",
    ],
)
def test_a_bad_cursor(api: Api, owner_key: str, query: str) -> None:
    detail = "cursor must be empty, or the next_cursor of a page with the same sort"
    refused(api(owner_key).get(f"/v1/api/requests?{query}"), 400, "Validation failed", detail)


@pytest.mark.contract("list.cursor", "list.bad_query")
def test_a_cursor_with_an_offset(api: Api, owner_key: str) -> None:
    response = api(owner_key).get("/v1/api/requests?cursor=&offset=1")
    refused(response, 400, "Validation failed", "offset must be 0 with a cursor")
    assert listed(api, owner_key, f"?offset=0&cursor={'9' * 17}.{NOWHERE}")["count"] == 0


@pytest.mark.contract("list.limit", "list.offset", "list.has_more")
def test_windows(api: Api, plenty: str, ask: Ask) -> None:
    for _ in range(2):
        ask()
    exact = listed(api, plenty, "?limit=2")
    assert (exact["count"], exact["has_more"]) == (2, False)
    part = listed(api, plenty, "?limit=1")
    assert (part["count"], part["has_more"], part["pagination"]["next_offset"]) == (1, True, 1)
    beyond = listed(api, plenty, "?limit=100&offset=5000")
    assert (beyond["count"], beyond["total"], beyond["has_more"]) == (0, 2, False)
    assert beyond["pagination"] == {"limit": 100, "offset": 5000, "next_offset": None}


@pytest.mark.contract("list.bad_query", "list.limit", "list.offset", "list.sort", "list.status")
@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("limit=0", "limit must be between 1 and 100"),
        ("limit=101", "limit must be between 1 and 100"),
        ("limit=-1", "limit must be between 1 and 100"),
        *((f"limit={value}", "limit must be an integer") for value in ("x", "", "1.5")),
        *((f"limit={value}", "limit must be an integer") for value in ("%D9%A3", "1e1", "%00")),
        ("limit=" + "9" * 400, "limit must be an integer"),
        ("offset=-1", "offset must be between 0 and 2147483647"),
        ("offset=4294967296", "offset must be between 0 and 2147483647"),
        ("offset=x", "offset must be an integer"),
        ("status=open", "status must be one of: pending, claimed, completed, timeout, cancelled"),
        ("status=", "status must be one of: pending, claimed, completed, timeout, cancelled"),
        ("status=%00", "status must be one of: pending, claimed, completed, timeout, cancelled"),
        ("priority=High", "priority must be one of: low, medium, high, critical"),
        ("priority=%ff", "priority must be one of: low, medium, high, critical"),
        (
            "sort=id",
            "sort must be one of: created_at_desc, created_at_asc, priority_desc, status_asc",
        ),
    ],
)
def test_bad_values(api: Api, owner_key: str, query: str, detail: str) -> None:
    refused(api(owner_key).get(f"/v1/api/requests?{query}"), 400, "Validation failed", detail)


@pytest.mark.contract("list.loop_id")
@pytest.mark.parametrize("loop_id", ["x", "", "%00", "%ff", "0" * 25])
def test_a_malformed_loop_id(api: Api, owner_key: str, loop_id: str) -> None:
    response = api(owner_key).get(f"/v1/api/requests?loop_id={loop_id}")
    refused(response, 400, "Invalid loop ID format")


@pytest.mark.contract("list.bad_query", "http.first_fault")
def test_the_first_bad_value_in_the_order_of_the_table(api: Api, owner_key: str) -> None:
    response = api(owner_key).get("/v1/api/requests?sort=x&limit=0&loop_id=x&priority=x&status=x")
    refused(
        response,
        400,
        "Validation failed",
        "status must be one of: pending, claimed, completed, timeout, cancelled",
    )
    response = api(owner_key).get("/v1/api/requests?sort=x&offset=-1&limit=0&loop_id=x")
    refused(response, 400, "Invalid loop ID format")
    response = api(owner_key).get("/v1/api/requests?sort=x&offset=-1&limit=0")
    refused(response, 400, "Validation failed", "limit must be between 1 and 100")


def test_strange_query_strings(api: Api, owner_key: str) -> None:
    for query in ("?%00=%00", "?%ff", "?&&&==", "?a=%ed%a0%80", "?" + "a" * 3000):
        assert listed(api, owner_key, query)["total"] == 0


def test_too_many_parameters(api: Api, owner_key: str) -> None:
    response = api(owner_key).get("/v1/api/requests?" + "a=1&" * 1001)
    refused(response, 400, "Validation failed", "query must have at most 1000 parameters")
