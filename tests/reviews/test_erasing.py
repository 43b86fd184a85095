"""A person who is erased is gone everywhere, and their answers stay under a pseudonym."""

import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core import mail
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.erasing import is_erased
from accounts.models import AuditEntry, ReservedId, ReviewToken, User
from accounts.services import create_account, create_api_key
from loops.models import Loop, Membership
from loops.services import create_loop, invite_member, join_loop
from mailing.erasing import forget_mail_to
from mailing.models import QueuedMail
from reviews import counters, erasing, services, tasks
from reviews.models import Counter, Erasure, PushSubscription, Request
from reviews.queries import people
from reviews.viewers import record_opened
from tests.accounts.tokens import token_of
from tests.conftest import PASSWORD, Api, key_of
from tests.portal import signed_in
from tests.reviews.conftest import FIELDS, Make, acting
from webhooks.endpoints import create_endpoint
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
FAR = 60.0
NAMES = ("Ada Lovelace", "ada@lovelace.example", "ada.second@example.org", "Lovelace", "Ada's")


@pytest.fixture
def ada(member: User, loop: Loop) -> User:
    """A member with a name, two addresses, a device, a passkey, a loop, a request and a key."""
    member.name, member.email = "Ada Lovelace", "ada@lovelace.example"
    member.save()
    EmailAddress.objects.filter(user=member).update(email=member.email)
    EmailAddress.objects.create(user=member, email="ada.second@example.org", verified=True)
    PushSubscription.objects.create(
        user=member, endpoint="https://push.example/1", host="push.example", p256dh="p",
        auth="a", label="Ada's phone",
    )  # fmt: skip
    Authenticator.objects.create(user=member, type="totp", data={"secret": "x"})
    signed_in(member).get("/dashboard/account/sessions/")
    return member


@pytest.fixture
def own(ada: User, outsider: User) -> Request:
    """A request in a loop of hers, answered by somebody else."""
    loop = create_loop(owner_id=ada.pk, name="Ada's loop", icon="star")
    join_loop(user=outsider, code=loop.invite_code)
    invite_member(loop=loop, email="nora@example.net")
    key, _ = create_api_key(user=ada, name="Ada's laptop")
    token_of(ada, name="Ada's terminal")
    fields = {**FIELDS, "callback_url": "https://ada.example/hook"}
    request = services.create_request(
        loop_id=loop.pk, account=acting(ada), fields=fields, api_key_id=key.pk
    )
    services.answer_request(request=request, reviewer_id=outsider.pk, answer="yes")
    services.create_request(loop_id=loop.pk, account=acting(ada), fields=fields)
    return request


def answered(make: Make, ada: User, **changes: Any) -> Request:
    """A request of the owner that Ada claimed and answered, with its events stored."""
    request = make(**{"callback_url": "https://owner.example/hook", **changes})
    record_opened(request, ada.pk)
    services.claim_request(request=request, reviewer_id=ada.pk)
    services.answer_request(request=request, reviewer_id=ada.pk, answer="yes")
    return request


def erase(person: User) -> None:
    erasing.begin(person=person)
    assert tasks.finish_erasing() == 1
    person.refresh_from_db()


def everything() -> Iterator[tuple[str, str]]:
    """Every row of every table, as text; stored bytes are shown as they are."""
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model._meta.managed:
                columns = ", ".join(
                    f"encode({field.column}, 'escape')"
                    if field.get_internal_type() == "BinaryField" else f'"{field.column}"::text'
                    for field in model._meta.concrete_fields
                )  # fmt: skip
                cursor.execute(f"SELECT concat_ws(' | ', {columns}) FROM {model._meta.db_table}")
                yield from ((model._meta.label, row) for (row,) in cursor.fetchall())


class TestOthers:
    def test_nobody_sees_the_name_any_more(
        self, make: Make, ada: User, owner: User, owner_key: str, api: type[Api]
    ) -> None:
        request = answered(make, ada)
        second = answered(make, ada, callback_url=None)
        before = api(owner_key).get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]
        erase(ada)
        client, browser = api(owner_key), signed_in(owner)
        after = client.get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]
        who = {"id": ada.pk, "name": ada.name, "email": f"erased-{ada.pk}@erased.invalid"}
        assert {name for name in after if after[name] != before[name]} == {"response_by_user"}
        assert after["response_by_user"] == who
        again = client.get(f"/v1/api/requests/{second.pk}").json()["data"]["request"]
        assert again["response_by_user"] == who
        loop_path = f"/v1/api/loops/{request.loop_id}/members"
        pages = [
            client.get("/v1/api/requests").content, client.get(loop_path).content,
            b"".join(browser.get("/dashboard/requests/export.csv")),
            *(browser.get(f"/dashboard/{path}").content for path in (
                f"requests/{request.pk}/", f"loops/{request.loop_id}/", "audit/", "deliveries/",
                *(f"deliveries/{pk}/" for pk in Delivery.objects.values_list("pk", flat=True)),
            )),
        ]  # fmt: skip
        for page in pages:
            assert not [name for name in NAMES if name in page.decode()]
        for typed in ("ada", "lovelace"):
            found = people.find_newest(
                Request.objects.all(), account_id=owner.pk, typed=typed,
                role=people.ANSWERED, count=9,
            )  # fmt: skip
            assert not found.exists()

    def test_events_change_in_nothing_else(self, make: Make, ada: User) -> None:
        ada.name = 'Ada "the \\ first" Lövelace'
        ada.save()
        answered(make, ada)
        before = {pk: bytes(body) for pk, body in Delivery.objects.values_list("pk", "body")}
        assert len(before) == 2
        erase(ada)
        for pk, body in Delivery.objects.values_list("pk", "body"):
            old, new = json.loads(before[pk]), json.loads(bytes(body))
            assert new["data"]["reviewer"]["name"] == ada.name
            assert new["data"]["reviewer"]["email"] == ada.email
            for event in (old, new):
                event["data"]["reviewer"] |= {"name": "", "email": ""}
                if event["data"]["request"]["response_by_user"]:
                    event["data"]["request"]["response_by_user"] |= {"name": "", "email": ""}
            assert new == old

    def test_what_they_held_is_free_again(self, make: Make, ada: User, loop: Loop) -> None:
        request = make()
        services.claim_request(request=request, reviewer_id=ada.pk)
        erase(ada)
        assert services.read_request(request.pk).status == "pending"
        assert not Membership.objects.filter(user=ada).exists()

    def test_audit_logs_keep_their_order(self, make: Make, ada: User, owner: User) -> None:
        loop = create_loop(owner_id=owner.pk, name="Second", icon="star")
        invite_member(loop=loop, email=ada.email)
        invite_member(loop=loop, email="not" + ada.email)
        rows = AuditEntry.objects.filter(account=owner).order_by("id")
        before = list(rows.values_list("id", "action", "actor_id", "created_at"))
        erase(ada)
        assert list(rows.values_list("id", "action", "actor_id", "created_at"))[: len(before)] == (
            before
        )
        subjects = list(rows.filter(action="member.invited").values_list("subject", flat=True))
        assert subjects == [f"{ada.name} to Second", f"not{NAMES[1]} to Second"]
        last = rows.last()
        assert last is not None
        assert (last.action, last.actor_id) == ("member.left", ada.pk)

    def test_the_pseudonym_says_nothing(self, ada: User, outsider: User) -> None:
        for person in (ada, outsider):
            erasing.begin(person=person)
            person.refresh_from_db()
        assert ada.name.startswith("Erased person ")
        assert ada.name != outsider.name


class TestTheirOwn:
    def test_nothing_of_it_is_left(
        self, make: Make, ada: User, own: Request, owner: User, api: type[Api]
    ) -> None:
        answered(make, ada)
        loop = create_loop(owner_id=owner.pk, name="Third", icon="star")
        invite_member(loop=loop, email="ada.second@example.org")
        erase(ada)
        left = [
            (label, row)
            for label, row in everything()
            if any(name.lower() in row.lower() for name in NAMES)
        ]
        assert left == []
        assert not Request.objects.filter(creator=ada).exists()
        assert not Loop.objects.filter(creator=ada).exists()
        assert not ReviewToken.objects.filter(user=ada).exists()
        assert not Delivery.objects.filter(account=ada).exists()
        assert not Counter.objects.filter(creator_id=ada.pk).exists()
        assert not ReservedId.objects.filter(email__contains="ada").exists()
        assert counters.find_differences() == []
        entries = AuditEntry.objects.filter(account=ada)
        assert entries.filter(action="account.erased").count() == 1
        assert not entries.exclude(subject="").exists()

    def test_they_are_out_at_once(
        self, ada: User, own: Request, outsider: User, api: type[Api]
    ) -> None:
        browser, key = signed_in(ada), key_of(ada)
        assert api(key).get("/v1/test").status_code == 200
        waiting = Request.objects.get(creator=ada, status="pending")
        erasing.begin(person=ada)
        assert api(key).get("/v1/test").status_code == 401
        assert browser.get("/dashboard/").status_code == 302
        assert signed_in(outsider).get(f"/inbox/{waiting.pk}/").status_code == 404
        Client().post("/accounts/login/", {"login": NAMES[1], "password": PASSWORD})
        assert not AuditEntry.objects.filter(account=ada, action="sign_in.done").exists()

    def test_it_goes_on_where_it_stopped(self, ada: User, own: Request) -> None:
        erasing.begin(person=ada)
        assert erasing.finish(ada.pk, until=time.monotonic()) is False
        assert bytes(Erasure.objects.get().sealed)
        assert erasing.finish(ada.pk, until=time.monotonic() + FAR) is True
        row = Erasure.objects.get()
        assert (bytes(row.sealed), row.done_at is not None) == (b"", True)
        assert erasing.finish(ada.pk, until=time.monotonic() + FAR) is True
        assert tasks.finish_erasing() == 0

    def test_not_twice(self, ada: User) -> None:
        erasing.begin(person=ada)
        ada.refresh_from_db()
        assert is_erased(ada)
        with pytest.raises(erasing.AlreadyErased):
            erasing.begin(person=ada)

    def test_the_address_is_free_again(self, ada: User) -> None:
        erase(ada)
        new = create_account(email=NAMES[1], name="Ada", verified=True)
        assert new.pk != ada.pk


def test_confirmed_addresses_are_told(
    ada: User, settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    with django_capture_on_commit_callbacks(execute=True):
        erasing.begin(person=ada)
    told = {address for message in mail.outbox for address in message.to}
    assert told == {"ada@lovelace.example", "ada.second@example.org"}
    assert "Your account was deleted" in mail.outbox[0].body
    assert "This cannot be undone" in mail.outbox[0].body
    assert "Set a new password" not in mail.outbox[0].body


def test_emails_that_wait_go(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "mailing.backend.QueueBackend"
    for address in ("Ada@lovelace.example", "nora@example.net"):
        EmailMessage("Hello", "Your code", to=[address]).send()
    assert forget_mail_to(["ada@lovelace.example"]) == 1
    assert QueuedMail.objects.count() == 1


class TestCommands:
    def export(self, email: str) -> dict[str, Any]:
        out = io.StringIO()
        call_command("exportperson", email, stdout=out)
        found: dict[str, Any] = json.loads(out.getvalue())
        return found

    def test_export(self, make: Make, ada: User, own: Request, owner: User) -> None:
        request = answered(make, ada)
        chosen: dict[str, Any] = {"events": ["request.created"], "loop_ids": None}
        _, secret = create_endpoint(account=ada, url="https://ada.example/hook", **chosen)
        found = self.export("ADA.second@example.org")
        assert found["account"]["name"] == "Ada Lovelace"
        assert {row["email"] for row in found["email_addresses"]} == set(NAMES[1:3])
        assert [row["label"] for row in found["devices"]] == ["Ada's phone"]
        assert [row["type"] for row in found["second_factors"]] == ["totp"]
        assert len(found["browsers"]) == 1
        assert [(row["id"], row["response_data"]) for row in found["answers"]] == [
            (request.pk, "yes")
        ]
        assert [row["request_id"] for row in found["opened_requests"]] == [request.pk]
        assert {row["id"] for row in found["requests"]} == set(
            Request.objects.filter(creator=ada).values_list("pk", flat=True)
        )
        assert [row["name"] for row in found["loops"]] == ["Ada's loop"]
        assert [row["name"] for row in found["keys"]] == ["Ada's laptop"]
        assert [row["url"] for row in found["webhook_endpoints"]] == ["https://ada.example/hook"]
        assert [row["name"] for row in found["review_tokens"]] == ["Ada's terminal"]
        assert {row["loop_name"] for row in found["memberships"]} == {"Ada's loop", "Refund desk"}
        assert "member.joined" in {row["action"] for row in found["audit"]}
        text = json.dumps(found)
        assert ada.password not in text
        assert "owner@example.com" not in text
        assert secret.text not in text

    def test_in_pages(self, make: Make, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("reviews.person_export.PAGE", 2)
        ids = [answered(make, ada).pk for _ in range(5)]
        assert [row["id"] for row in self.export(ada.email)["answers"]] == sorted(ids)

    def test_erase(self, ada: User, own: Request, monkeypatch: pytest.MonkeyPatch) -> None:
        input_of_python = input
        monkeypatch.setattr("builtins.input", lambda: "no")
        with pytest.raises(CommandError, match="Nothing was deleted"):
            call_command("eraseperson", ada.email)
        monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody can type there
        monkeypatch.setattr("builtins.input", input_of_python)
        with pytest.raises(CommandError, match="Nothing was deleted"):
            call_command("eraseperson", ada.email)
        monkeypatch.setattr("builtins.input", lambda: f" {ada.email.upper()} ")
        said = io.StringIO()
        call_command("eraseperson", ada.email, stderr=said)
        ada.refresh_from_db()
        call_command("eraseperson", ada.email, "--no-input", stderr=io.StringIO())  # no harm
        assert f"Others now see {ada.name}" in said.getvalue()
        assert not Request.objects.filter(creator=ada).exists()
        with pytest.raises(CommandError, match="There is no account"):
            call_command("eraseperson", NAMES[1], "--no-input")
