"""The filtered requests as a file: complete, safe in a spreadsheet, and of any length."""

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, User
from dashboard import export
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import ExportLease, Notification, Request
from reviews.policy import Policy
from reviews.queries.single_read import read_many_as_json
from tests.conftest import Api
from tests.dashboard.many import older
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
LIST = "/dashboard/requests/"
ROWS = 4_000  # of 3 kB each
MANY = """
INSERT INTO reviews_request (id, loop_id, creator_id, processing_type, type, priority, request_text,
       timeout_seconds, response_type, response_config, default_response, platform, status,
       timeout_at, claim_count, broadcasted_to, notifications_sent, created_at, updated_at)
SELECT lpad(to_hex(n), 21, '0') || right(creator_id, 3), loop_id, creator_id, processing_type, type,
       priority, repeat('word ', 600) || n, timeout_seconds, response_type, response_config,
       default_response, platform, 'cancelled', timeout_at, 0, broadcasted_to, 0,
       created_at - n * interval '1 s', updated_at
  FROM reviews_request, generate_series(1, %s) n WHERE id = %s
"""


@pytest.fixture
def loop(owner: User, member: User) -> Loop:
    made: Loop = create_loop(owner_id=owner.pk, name="Desk", icon="star")
    join_loop(user=member, code=made.invite_code)
    return made


def get(user: User, kind: str, **query: str) -> Any:
    """The response, of which nothing is read yet."""
    return signed_in(user).get(f"{LIST}export.{kind}", query)


def download(user: User, kind: str, **query: str) -> str:
    response = get(user, kind, **query)
    assert response.status_code == 200, response
    assert response["Content-Disposition"].endswith(f'.{kind}"')
    text = b"".join(response.streaming_content).decode()  # and closes it
    assert not ExportLease.objects.exists()
    return text


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_what_is_filtered_and_nothing_else(
    owner: User, member: User, loop: Loop, make: Make
) -> None:
    done = make(request_text="Größe?\nSecond, line", response_config={"options": [
        {"value": "yes", "label": "Yes, please"}, "no"]})  # fmt: skip
    services.answer_request(
        request=done, reviewer_id=member.pk, answer="yes", comment="=Good\nSeal torn"
    )
    make(priority="low")
    (row,) = read_csv(download(owner, "csv", priority="high"))
    stored = services.read_request(done.pk)
    assert stored.response_at is not None
    assert row["id"] == done.pk
    assert row["question"] == "Größe?\nSecond, line"
    assert (row["status"], row["answer"], row["answered_by"]) == (
        "Completed",
        "Yes, please",
        "human",
    )
    assert row["comment"] == "'=Good\nSeal torn"
    (same,) = json.loads(download(owner, "json", priority="high"))
    assert same["response_comment"] == "=Good\nSeal torn"
    assert (row["answered_by_name"], row["answered_by_email"]) == ("Member", "member@example.com")
    assert float(row["response_time_seconds"]) > 0
    assert row["loop"] == "Desk"
    assert len(read_csv(download(owner, "csv"))) == 2
    assert read_csv(download(owner, "csv", person="nobody")) == []
    assert read_csv(download(member, "csv")) == []


def test_the_response_time_is_that_of_the_api(
    owner: User, owner_key: str, member: User, make: Make
) -> None:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    whole = request.created_at.replace(microsecond=0)
    Request.objects.update(
        created_at=whole + timedelta(microseconds=100),
        response_at=whole + timedelta(seconds=1, microseconds=1800),
    )
    (row,) = read_csv(download(owner, "csv"))
    read = Api(owner_key).get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]
    assert float(row["response_time_seconds"]) == read["response_time_seconds"] == 1.001


def test_the_audit_log_says_what_was_exported(owner: User, loop: Loop, make: Make) -> None:
    make()
    download(owner, "csv")
    download(owner, "json", status="pending", priority="high")
    download(owner, "csv", q="Ada's refund", person="ada@example.org", role="asked")
    get(owner, "csv", status="lost")  # is no export
    running = get(owner, "json")
    get(owner, "csv")  # another one is running
    running._iterator.close()
    said = AuditEntry.objects.filter(action="request.exported").order_by("id")
    assert [(each.actor_id, each.subject) for each in said] == [
        (owner.pk, "CSV"),
        (owner.pk, "JSON, status=pending, priority=high"),
        (owner.pk, "CSV, q=…, person=…, role=asked"),
        (owner.pk, "JSON"),
    ]
    page = signed_in(owner).get("/dashboard/audit/?kind=request")
    assert "You exported requests as JSON, status=pending, priority=high" in words(page)


def test_json_is_what_the_api_returns(owner: User, owner_key: str, loop: Loop, make: Make) -> None:
    first, second = make(context={"a": 1e308}), make(priority="low")
    found = json.loads(download(owner, "json"))
    api = Api(owner_key)
    read = [
        api.get(f"/v1/api/requests/{each.pk}").json()["data"]["request"] for each in (second, first)
    ]
    assert found == read
    assert json.loads(download(owner, "json", status="timeout")) == []


@pytest.mark.parametrize(
    ("typed", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1+1", "'+1+1"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("x;=1+1;y", "x;'=1+1;y"),
        ("x\t=1+1", "x\t'=1+1"),
        ("x\r\n=1+1", "x\r\n'=1+1"),
        ('x; "=1+1"', 'x;\' "=1+1"'),
        ("-3;=1", "'-3;'=1"),
        ("-3\n+1", "'-3\n'+1"),
        ("-1e-05", "-1e-05"),
        ("-１", "'-１"),
        ("  =1", "'  =1"),
        ("\u00a0=1", "'\u00a0=1"),
        ("\ufeff\u200b=1", "'\ufeff\u200b=1"),
        ("＝1+1", "'＝1+1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("-3.25", "-3.25"),
        ("a=1", "a=1"),
        ("a; b=1", "a; b=1"),
        (None, ""),
    ],
)
def test_no_cell_is_a_formula(typed: Any, cell: str) -> None:
    assert export.make_safe(typed) == cell


def test_a_hostile_question_stays_text(owner: User, loop: Loop, make: Make) -> None:
    make(request_text='=HYPERLINK("http://x.example","y")')
    text = download(owner, "csv")
    assert read_csv(text)[0]["question"] == '\'=HYPERLINK("http://x.example","y")'


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    "typed",
    ["x;=1+1;y", "x\t=1+1\ty", "x,\n=1+1", '=1;"=1"', 'a, b;"=1+1"', '";=1', "-1\t@SUM(A1)"],
)
def test_no_formula_whatever_separates_the_cells(
    owner: User, member: User, loop: Loop, make: Make, typed: str, separator: str
) -> None:
    """Spreadsheets of many countries separate by semicolons."""
    request = make(request_text=f"Ship it? {typed}")
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes", comment=typed)
    text = download(owner, "csv")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    cells = [cell.strip().strip('"').strip() for row in rows for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    if separator == ",":
        assert [len(row) for row in rows] == [len(export.COLUMNS)] * 2


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        (-0.00001, "-0.00001"), (1e-10, "0.0000000001"), (1e16, "10000000000000000"), (-3, "-3"),
        (2.5, "2.5"), (10**20, "1" + "0" * 20), (0, "0"),
    ],
)  # fmt: skip
def test_a_number_is_a_number(
    owner: User, member: User, loop: Loop, make: Make, answer: float, cell: str
) -> None:
    config = {"min_value": -10, "max_value": 10**21, "decimal_places": 10, "allow_negative": True}
    request = make(response_type="number", response_config=config, default_response=1)
    services.answer_request(request=request, reviewer_id=member.pk, answer=answer)
    (row,) = read_csv(download(owner, "csv"))
    assert row["answer"] == cell
    assert float(row["answer"]) == answer


def test_it_begins_with_a_byte_order_mark(owner: User, loop: Loop, make: Make) -> None:
    """Without it, Excel reads Größe as GrÃ¶ÃŸe."""
    make(request_text="Größe?")
    assert download(owner, "csv").encode().startswith(b"\xef\xbb\xbfid,created_at,")
    assert download(owner, "json").startswith("[")


def test_more_than_a_page_each_row_once(owner: User, loop: Loop, make: Make) -> None:
    older(make(), 2 * export.PAGE)  # all within one moment
    rows = read_csv(download(owner, "csv"))
    assert len({row["id"] for row in rows}) == len(rows) == 2 * export.PAGE + 1
    assert len(json.loads(download(owner, "json"))) == len(rows)


def test_a_due_request_has_timed_out_in_the_file(owner: User, loop: Loop, make: Make) -> None:
    late = make()
    Request.objects.filter(pk=late.pk).update(timeout_at=Now() - timedelta(seconds=1))
    assert read_csv(download(owner, "csv"))[0]["status"] == "Timed out"


def test_one_at_a_time_for_an_account(owner: User, member: User, loop: Loop, make: Make) -> None:
    make()
    running = get(owner, "csv")
    parts: Iterator[bytes] = iter(running.streaming_content)
    next(parts)
    second = signed_in(owner).get(f"{LIST}export.json?status=pending", follow=True)
    assert second.redirect_chain == [(f"{LIST}?status=pending", 302)]
    assert "Another export is running." in words(second)
    assert download_status(member) == 200
    running._iterator.close()  # as when the client has gone
    assert download_status(owner) == 200


def download_status(user: User) -> int:
    response = get(user, "csv")
    b"".join(response.streaming_content if response.streaming else [])
    return int(response.status_code)


def test_a_crash_keeps_nobody_from_exporting_for_long(owner: User, loop: Loop) -> None:
    signed_in(owner).get(f"{LIST}export.csv")  # its process is killed
    assert signed_in(owner).get(f"{LIST}export.csv").status_code == 302
    ExportLease.objects.update(expires_at=Now())
    assert download_status(owner) == 200


def test_wrong_filters_lead_back(owner: User) -> None:
    response = signed_in(owner).get(f"{LIST}export.csv?status=lost")
    assert response["Location"] == f"{LIST}?status=lost"


def test_memory_and_statements_do_not_grow(owner: User, loop: Loop, make: Make) -> None:
    template = make()
    with connection.cursor() as cursor:
        cursor.execute(MANY, [ROWS, template.pk])
        cursor.execute("ANALYZE reviews_request")
    peaks = {}
    queries: dict[str, dict[str, str]] = {"part": {"since": "2999-01-01"}, "all": {}}
    for name, query in queries.items():
        for kind in ("csv", "json"):
            response = get(owner, kind, **query)
            tracemalloc.start()
            with CaptureQueriesContext(connection) as asked:
                size = sum(map(len, response.streaming_content))
            peaks[f"{name} {kind}"] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert size > 10_000_000 if name == "all" else size < 1000
    assert len(asked) <= ROWS // export.PAGE * 3 + 12  # the sign-in, the places and the rows
    assert max(peaks.values()) < 8_000_000, peaks


@pytest.mark.parametrize("removed", [slice(0, 1), slice(1, 2), slice(2, 3), slice(0, 3)])
def test_requests_that_go_meanwhile_leave_a_whole_file(
    owner: User, loop: Loop, make: Make, monkeypatch: pytest.MonkeyPatch, removed: slice
) -> None:
    """Retention removes what an export has found, before and after it has read it."""
    monkeypatch.setattr(export, "PAGE", 1)
    ids = [make().pk for _ in range(3)][::-1]

    def read_late(found: list[str], *, user_id: str) -> list[str]:
        rows = read_many_as_json([pk for pk in found if pk not in ids[removed]], user_id=user_id)
        Notification.objects.filter(request_id__in=found).delete()
        Request.objects.filter(pk__in=found).delete()
        return rows

    monkeypatch.setattr("dashboard.export.read_many_as_json", read_late)
    left = [pk for pk in ids if pk not in ids[removed]]
    assert [row["id"] for row in json.loads(download(owner, "json"))] == left


def test_a_form_is_one_cell_of_json(owner: User, member: User, make: Make) -> None:
    fields = {"amount": {"type": "number"}, "größe": {"type": "string", "title": "Size"}}
    request = make(
        response_type="form",
        response_config={"schema": {"type": "object", "properties": fields}},
        default_response={},
    )
    answer = {"amount": 12.5, "größe": "=1+1"}
    services.answer_request(request=request, reviewer_id=member.pk, answer=answer)
    (row,) = read_csv(download(owner, "csv"))
    assert row["answer"] == '{"amount":12.5,"größe":"=1+1"}'


def test_what_became_of_several_answers(owner: User, member: User, loop: Loop, make: Make) -> None:
    """In columns at the end, so that readers of the columns before them go on."""
    make()
    request = make(policy=Policy("unanimous", 2).store())
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    asked, plain = read_csv(download(owner, "csv"))
    assert list(asked)[-4:] == ["metadata", "policy_rule", "outcome", "answers_received"]
    assert list(asked.values())[-3:] == ["unanimous", "", "1"]
    assert list(plain.values())[-3:] == ["", "", ""]
    services.answer_request(request=request, reviewer_id=owner.pk, answer="no")
    ended, _ = read_csv(download(owner, "csv"))
    assert list(ended.values())[-3:] == ["unanimous", "no_agreement", "2"]
    assert ended["deadline"] == asked["deadline"]
