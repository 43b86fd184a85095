"""Metadata of requests in the dashboard: the form, the request's page, the list and its exports."""

import csv
import io
import json

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import AuditEntry, User
from dashboard import request_list
from loops.models import Loop
from reviews import services
from reviews.models import Request
from reviews.person_export import export
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

LIST = "/dashboard/requests/"
NEW = "/dashboard/requests/new/"
SECRET = "zebra-1042"
TYPED = {
    "type": "markdown", "request_text": "Ship it?", "priority": "high", "timeout": "60",
    "timeout_unit": "minutes", "processing_type": "time-sensitive", "response_type": "text",
    "default_response": "no",
}  # fmt: skip


def body(response: object) -> str:
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def test_a_new_request_with_it(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    typed = {**TYPED, "loop": loop.pk, "metadata": '{"order": "1042"}'}
    response = browser.post(NEW, typed)
    assert response.status_code == 302, words(response)
    assert Request.objects.get().metadata == {"order": "1042"}
    page = words(browser.get(response["Location"]))
    assert "Metadata For your programs. Reviewers don’t see it. order 1042" in page


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("[1]", 'Enter a JSON object, such as {"order": "4821"}'),
        ('{"order": 1042}', "metadata.order must be a string"),
        ('{"": ""}', "Metadata must have names of 1 to 40 characters"),
        (json.dumps({"order": "x" * 501}), "metadata.order must be at most 500 characters"),
        (json.dumps({str(n): "" for n in range(17)}), "Metadata must have at most 16 entries"),
    ],
)
def test_an_error_stands_at_its_field(owner: User, loop: Loop, typed: str, sentence: str) -> None:
    response = signed_in(owner).post(NEW, {**TYPED, "loop": loop.pk, "metadata": typed})
    assert response.status_code == 422
    assert response.context["form"].errors == {"metadata": [sentence]}
    assert not Request.objects.exists()


def test_the_list_and_its_exports(
    owner: User, outsider: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(metadata={"order": "1042", "env": "a=b"})
    two = make(metadata={"order": "1042"}, request_text="Something else")
    make(metadata={"order": "1043"})
    make()
    browser = signed_in(owner)

    def listed(**query: str) -> list[str]:
        response = browser.get(LIST, query)
        assert response.status_code == 200
        exported = json.loads(body(browser.get(f"{LIST}export.json", query)))
        found = [row.pk for row in response.context["window"].rows]
        assert [row["id"] for row in exported] == found
        rows = list(csv.DictReader(io.StringIO(body(browser.get(f"{LIST}export.csv", query))[1:])))
        assert [row["id"] for row in rows] == found
        assert [row["metadata"] for row in rows] == [
            json.dumps(row["metadata"], separators=(",", ":")) if "metadata" in row else ""
            for row in exported
        ]
        return found

    assert listed(metadata="order=1042") == [two.pk, one.pk]
    assert listed(metadata="env=a=b") == [one.pk]
    assert listed(metadata="order=1042", q="something") == [two.pk]
    assert listed(metadata="order=1042", person="member", role="asked") == [two.pk, one.pk]
    assert listed(metadata="order=1042", status="open") == [two.pk, one.pk]
    assert listed(metadata="order=104") == []
    assert listed(metadata="order=104", q="something", person="member", role="asked") == []
    assert len(listed()) == 4
    monkeypatch.setattr("reviews.queries.metadata.MAX_INDEXED", 0)  # as if it were a common pair
    assert listed(metadata="order=1042", status="open") == [two.pk, one.pk]
    assert listed(metadata="order=104", status="open") == []
    assert "2 requests" in words(browser.get(LIST, {"metadata": "order=1042"}))
    elsewhere = signed_in(outsider).get(LIST, {"metadata": "order=1042"})
    assert elsewhere.context["window"].rows == []


@pytest.mark.parametrize("typed", ["order", "=1042", "k" * 41 + "=", "order=" + "x" * 501])
def test_a_filter_that_is_none(owner: User, loop: Loop, typed: str) -> None:
    response = signed_in(owner).get(LIST, {"metadata": typed})
    assert response.status_code == 422
    assert "metadata" in response.context["filters"].errors


def test_the_audit_log_does_not_keep_what_was_typed(owner: User, make: Make) -> None:
    make(metadata={"customer": SECRET})
    body(signed_in(owner).get(f"{LIST}export.csv", {"metadata": f"customer={SECRET}"}))
    subject = AuditEntry.objects.get(action="request.exported").subject
    assert subject == "CSV, metadata=…"


def test_reviewers_see_it_nowhere(
    owner: User, member: User, make: Make, mailoutbox: list[object]
) -> None:
    waiting, done = make(metadata={"order": SECRET}), make(metadata={"order": SECRET})
    browser = signed_in(member)
    paths = ("/inbox/", f"/inbox/{waiting.pk}/", "/my-work/", f"/inbox/{done.pk}/")
    pages = [browser.get(path) for path in paths]
    services.answer_request(request=done, reviewer_id=member.pk, answer="yes")
    pages += [browser.get(path, follow=True) for path in paths]
    exported = "".join(export(member))
    assert done.pk in exported
    for page in (*(each.content.decode() for each in pages), exported, repr(mailoutbox)):
        assert SECRET not in page
    assert SECRET in "".join(export(owner))
    assert SECRET in signed_in(owner).get(f"{LIST}{done.pk}/").content.decode()


def test_the_page_costs_as_many_statements_as_without(
    owner: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make(metadata={"order": "1042"})
    for typed in ("", "order=1042"):
        filters = request_list.Filters(account_id=owner.pk, metadata=typed)
        with django_assert_num_queries(2):
            assert request_list.read_page(filters, "1").total == 1
