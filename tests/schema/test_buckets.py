"""A day in the life of an account and its reviewers, after which every id is in its bucket."""

from typing import Any

import pytest
from django.core import signing

from accounts import secret_services
from accounts.models import ApiKey, User
from accounts.services import create_account
from db.ids import is_in_bucket, new_id
from loops.models import Loop, Membership
from loops.services import invite_member
from reviews import erasing, tasks
from reviews.models import Request
from reviews.notifications import services as notifications
from reviews.notifications.push.channel import DISPATCHER
from tests.accounts.tokens import token_of
from tests.api.bodies import QUESTION
from tests.conftest import Api, account
from tests.portal import signed_in
from tests.reviews.approvals import decide, turn_into_approval
from tests.reviews.conftest import make_overdue
from tests.reviews.grants import Agent, allow
from tests.reviews.notifications.conftest import GivePhone
from tests.reviews.notifications.conftest import give_phone as give_phone
from tests.reviews.notifications.conftest import push_key as push_key
from tests.reviews.notifications.conftest import service as service
from tests.schema.conftest import Rows
from tests.schema.tables import OWNED, SURROGATES
from tests.webhooks.conftest import claim, end, no_answer
from web import form_tokens
from webhooks.models import Circuit, Delivery

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"

# The columns that hold an id of the row's account, beside the row's own; a counter's scope is the
# account or a loop of it.
SAME = {
    "accounts_usage": ["key_id"],
    "webhooks_attempt": ["delivery_id"],
    "webhooks_delivery": ["subject_id", "endpoint_id"],
    "loops_membership": ["loop_id"],
    "reviews_feedback": ["request_id"],
    "reviews_notification": ["request_id"],
    "reviews_request": ["loop_id"],
    "reviews_requestwords": ["request_id"],
    "reviews_viewer": ["request_id"],
    "reviews_counter": ["scope_id"],
    "reviews_counterchange": ["loop_id"],
}


def test_every_id_is_in_the_bucket_of_its_account(
    owner: User, member: User, owner_key: str, give_phone: GivePhone, api: type[Api], rows: Rows
) -> None:
    give_phone(member)
    live(owner, member, api(owner_key))
    for table, column in OWNED.items():
        found = rows(f"SELECT * FROM {table}")
        assert found, f"nothing in {table}"
        has_id = table not in SURROGATES and rows(
            "SELECT 1 FROM information_schema.columns WHERE table_name = %s AND column_name = 'id'",
            [table],
        )
        for name in [*(["id"] if has_id else []), *SAME.get(table, [])]:
            strangers = f"SELECT {name} FROM {table} WHERE right({name}, 3) <> right({column}, 3)"
            assert rows(strangers) == [], (table, name)


def live(owner: User, member: User, client: Api) -> None:
    """Through pages, the API and the worker, until every table has a row."""
    page = signed_in(owner)
    token = form_tokens.issue("loop", owner.pk)
    page.post("/dashboard/loops/new/", {"once": token, "name": "Desk", "icon": "star"})
    loop = Loop.objects.get()
    assert loop.pk == form_tokens.read(token, "loop", owner.pk)
    signed_in(member).post(f"/join/{loop.invite_code}")
    assert Membership.objects.filter(user=member).exists()
    invited = invite_member(loop=loop, email="later@example.com")
    assert create_account(email="later@example.com", verified=True).pk == invited.member_id
    secret_services.read_status(owner.pk)
    chosen = {"url": HOOK, "events": ["request.completed"]}
    assert client.post("/v1/api/webhook-endpoints", chosen).status_code == 201
    token_of(member)
    notifications.choose_mails(user_id=member.pk, mails="every")
    asked = {"callback_url": HOOK, **QUESTION}
    path = f"/v1/api/loops/{loop.pk}/requests"
    late, answered = (client.post(path, asked).json()["data"]["request_id"] for _ in range(2))
    DISPATCHER.settle()
    review = signed_in(member)
    for step in ({}, {"answer": "yes"}):
        review.post(f"/inbox/{answered}/{'answer' if step else 'claim'}/", step)
    approved = client.post(path, QUESTION).json()["data"]["request_id"]
    turn_into_approval(approved)
    decide(approved, member)
    client.get(f"/v1/api/requests/{approved}/receipt")
    allow(Agent(owner, loop).ask(), member)
    client.post(f"/v1/api/requests/{answered}/feedback", {"feedback": {"rating": 5}})
    make_overdue(Request.objects.get(pk=late))
    assert tasks.settle_overdue() == 1
    tasks.fold_counters()
    client.post(path, asked, **{"Idempotency-Key": "once"})
    fail(claim(9)[0])
    erasing.begin(person=account("leaver"))
    page.get("/dashboard/requests/export.csv")  # goes on for as long as nobody takes it
    assert {row.event for row in Delivery.objects.all()} == {
        *("request.claimed", "request.completed", "request.timeout")
    }


def fail(item: Any) -> None:
    assert end(item, no_answer("refused"))
    assert Circuit.objects.get().account_id == item.account


def test_a_row_without_an_id_gets_one_in_the_bucket(owner: User) -> None:
    key = ApiKey.objects.create(user=owner, name="x", digest=b"x", permissions=[])
    assert is_in_bucket(key.pk, owner.pk)
    (loop,) = Loop.objects.bulk_create([Loop(creator=owner, name="x", icon="star")])
    assert is_in_bucket(loop.pk, owner.pk)


def test_a_form_cannot_make_an_id_of_another_account() -> None:
    user_id = new_id()
    theirs = user_id[:-3] + ("000" if user_id[-3:] != "000" else "fff")
    hostile = signing.dumps(theirs, salt=form_tokens.build_salt("loop", user_id))
    assert form_tokens.read(hostile, "loop", user_id) is None
    own = form_tokens.read(form_tokens.issue("loop", user_id), "loop", user_id)
    assert own is not None
    assert is_in_bucket(own, user_id)


def test_an_invited_address_has_an_account_id_before_its_account(owner: User, loop: Loop) -> None:
    invited = invite_member(loop=loop, email="nora@example.com")
    assert is_in_bucket(invited.pk, owner.pk)
    nora = account("nora")
    assert nora.pk == invited.member_id
