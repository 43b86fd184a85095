"""The version before removes requests and texts during an upgrade, and knows no newer tables."""

from importlib import import_module
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from accounts.models import User
from reviews import retention, services
from reviews.models import Answer, Receipt, Request, Viewer
from reviews.receipts.services import issue_missing
from reviews.viewers import record_opened
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make
from tests.schema.conftest import Rows
from tests.schema.releases import other_database

REFERRING = """
SELECT conrelid::regclass::text, confdeltype::text FROM pg_constraint
 WHERE contype = 'f' AND confrelid = 'reviews_request'::regclass
"""
OF_RELEASE = {"reviews_feedback"}  # the last release has this table
# `_REMOVE` and `_REMOVE_TEXTS` of reviews.retention before there were answers.
REMOVE = [
    f"DELETE FROM reviews_{table} WHERE request_id = %(id)s"
    for table in ("feedback", "notification", "requestwords")
] + ["DELETE FROM reviews_request WHERE id = %(id)s"]
REMOVE_TEXTS = """
UPDATE reviews_request
   SET texts_removed_at = statement_timestamp(), request_text = '', image_url = NULL,
       context = NULL, response_comment = NULL,
       default_response = CASE response_type WHEN 'text' THEN '""' ELSE default_response END,
       response_data = CASE WHEN response_data IS NULL THEN NULL
                            WHEN response_type = 'text' THEN '""' ELSE response_data END
 WHERE id = %(id)s
"""
KINDS: dict[str, dict[str, Any]] = {
    "text": {"response_type": "text", "response_config": {}, "default_response": "Dear Ada"},
    "single_select": {},
    "form": {
        "response_type": "form",
        "response_config": {"schema": {"type": "object", "properties": {
            "reply": {"type": "string", "default": "Dear Ada"},
        }}},
        "default_response": {"reply": "Dear Ada"},
    },
    "approval": {
        "response_type": "approval",
        "response_config": {
            "proposal": {"name": "reply", "title": "Ada", "arguments": {"to": "Ada", "n": 1}},
            "actions": ["approve", "edit", "reject"],
        },
        "default_response": {"action": "reject", "message": "Ada"},
    },
}  # fmt: skip
GIVEN: dict[str, Any] = {
    "text": "Dear Ada, no.",
    "single_select": "yes",
    "form": {"reply": "Dear Ada, no."},
    "approval": {"action": "edit", "arguments": {"to": "Ada L", "n": 1}, "message": "For Ada"},
}
STORED = (
    "response_data", "response_config", "default_response", "metadata", "response_comment",
    "request_text", "context",
)  # fmt: skip


def run_as_before(request: Request, *statements: str) -> None:
    """Runs what the version before would, and has the database check all references."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in (*statements, "SET CONSTRAINTS ALL IMMEDIATE"):
            cursor.execute(statement, {"id": request.pk})


def answer(request: Request, person: User) -> None:
    value = GIVEN[request.response_type]
    services.answer_request(request=request, reviewer_id=person.pk, answer=value, comment="Ada?")


def show(request: Request) -> dict[str, Any]:
    """What is stored of a request and its answer, apart from ids and times."""
    stored = Request.objects.get(pk=request.pk)
    given = Answer.objects.get(request=request)
    return {
        **{name: getattr(stored, name) for name in STORED},
        "answer": (given.data, given.comment),
    }


@pytest.mark.django_db
def test_a_removed_request_takes_the_newer_rows_with_it(make: Make, member: User) -> None:
    request, other = make(**KINDS["approval"]), make(**KINDS["approval"])
    for each in (request, other):
        record_opened(each, member.pk)
        answer(each, member)
        issue_missing(each.creator_id, [each.pk])
    run_as_before(request, *REMOVE)
    for model in (Answer, Receipt, Viewer):
        assert list(model.objects.values_list("request_id", flat=True)) == [other.pk]


def test_so_does_each_newer_table(rows: Rows) -> None:
    found = rows(REFERRING)
    newer = {table for table, _ in found} - OF_RELEASE
    assert len(newer) > 3
    # a link to a request is set to null instead (`replaces`)
    assert {table for table, action in found if action in ("c", "n")} == newer


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_removed_texts_are_those_that_this_version_removes(
    make: Make, member: User, kind: str
) -> None:
    fields = {**KINDS[kind], "metadata": {"customer": "Ada"}, "context": {"customer": "Ada"}}
    before, now = make(**fields), make(**fields)
    for each in (before, now):
        answer(each, member)
    run_as_before(before, REMOVE_TEXTS)
    retention._remove_texts(now.creator_id, [(now.pk, 0)])
    assert show(before) == show(now)
    assert "Ada" not in str(show(before))


@pytest.mark.django_db
def test_texts_of_every_answer_go(make: Make, owner: User, member: User) -> None:
    policy = {"rule": "unanimous", "answers": 2, "blind": True, "exclude_creator": False}
    request = make(**KINDS["approval"], policy={**policy, "veto": []})
    answer(request, owner)
    answer(request, member)
    run_as_before(request, REMOVE_TEXTS)
    data = {"action": "edit", "edited": ["to"]}
    assert list(Answer.objects.values_list("data", "comment")) == [(data, None)] * 2


@pytest.mark.django_db(transaction=True)
def test_what_was_removed_before_the_migration_goes_by_it(make: Make, member: User) -> None:
    kept, gone = make(**KINDS["text"]), make(**KINDS["text"])
    for each in (kept, gone):
        answer(each, member)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # without triggers
        cursor.execute(REMOVE_TEXTS, {"id": gone.pk})
    assert show(gone)["answer"] == (GIVEN["text"], "Ada?")
    migration = import_module("reviews.migrations.0033_texts_of_answers").Migration
    with connection.schema_editor(atomic=False) as editor:
        migration.operations[0].database_forwards("reviews", editor, None, None)
    assert show(gone)["answer"] == ("", None)
    assert show(kept)["answer"] == (GIVEN["text"], "Ada?")


@pytest.mark.django_db(transaction=True)
def test_there_and_back(rows: Rows) -> None:
    """Without the migration, the references and functions are those of before."""
    functions = "SELECT count(*) FROM pg_proc WHERE proname LIKE 'reviews_%text%removed'"
    valid = f"{REFERRING} AND convalidated ORDER BY 1, 2"
    with other_database("removing"):
        call_command("migrate", verbosity=0)
        now = rows(valid)
        assert rows(functions) == [(1,)]
        call_command("migrate", "reviews", "0031", verbosity=0)
        assert rows(functions) == [(0,)]
        assert "c" not in {action for _, action in rows(REFERRING)}
        call_command("migrate", verbosity=0)
        assert rows(valid) == now
