"""The audit log: what it records, for whom, and that no entry can change or disappear."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.actions import KINDS, SENTENCES, describe_action
from accounts.audit import record
from accounts.models import ApiKey, AuditEntry, User
from accounts.services import create_api_key
from loops.models import Loop
from loops.services import invite_member, join_loop, rotate_invite_code
from tests.conftest import PASSWORD, Api
from tests.portal import signed_in
from tests.signin.test_code_by_mail import code_in, give

pytestmark = pytest.mark.django_db
SEED = "JBSWY3DPEHPK3PXP"


def told(account: User, *fields: str) -> list[Any]:
    rows = AuditEntry.objects.filter(account=account).order_by("created_at", "id")
    return list(rows.values_list("action", *fields, flat=not fields))


def code_now(offset: int = 0) -> str:
    """The code that an authenticator app would show."""
    return str(format_hotp_value(hotp_value(SEED, int(timezone.now().timestamp()) // 30 + offset)))


def test_every_action_has_a_kind_and_words() -> None:
    assert {action.partition(".")[0] for action in SENTENCES} == set(KINDS)
    assert describe_action("key.created") == "created the key"
    assert describe_action("of.tomorrow") == "of.tomorrow"


def test_it_only_grows(owner: User) -> None:
    record(account_id=owner.pk, actor_id=owner.pk, action="key.created", subject="x" * 300)
    entry = AuditEntry.objects.get()
    assert entry.subject == "x" * 200
    for change in (
        lambda: AuditEntry.objects.update(action="nothing"),
        lambda: AuditEntry.objects.all().delete(),
    ):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()


class TestSigningIn:
    def sign_in(self, email: str, password: str) -> Client:
        browser = Client(REMOTE_ADDR="192.0.2.7")
        browser.post("/accounts/login/", {"login": email, "password": password})
        return browser

    def test_done_and_failed(self, owner: User) -> None:
        self.sign_in(owner.email, "wrong")
        self.sign_in(owner.email.upper(), PASSWORD)
        assert told(owner, "actor", "ip") == [
            ("sign_in.failed", None, "192.0.2.7"),
            ("sign_in.done", owner.pk, "192.0.2.7"),
        ]

    def test_failed_with_a_further_address(self, owner: User, member: User) -> None:
        """It is recorded for the account that confirmed the address, and for no other."""
        EmailAddress.objects.create(user=owner, email="further@example.com", verified=True)
        member.email = "further@example.com"
        member.save()
        self.sign_in("further@example.com", "wrong")
        assert told(owner, "actor") == [("sign_in.failed", None)]
        assert told(member) == []

    def test_failed_with_an_address_that_was_mistyped(self, owner: User) -> None:
        """An account with a confirmed address has no part in one that it has not confirmed."""
        owner.email = "else@example.com"
        owner.save()
        self.sign_in("else@example.com", "wrong")
        assert told(owner) == []

    def test_unknown_addresses_leave_no_trace(self, owner: User) -> None:
        self.sign_in("nobody@example.com", "wrong")
        assert not AuditEntry.objects.exists()

    def test_signing_up(self) -> None:
        form = {"name": "Nora", "email": "nora@example.org", "password1": PASSWORD}
        browser = Client()
        browser.post("/accounts/signup/", form)
        give(browser, code_in(mail.outbox[0]))
        assert told(User.objects.get()) == ["account.created"]

    def test_in_two_steps(self, owner: User) -> None:
        TOTP.activate(owner, SEED)
        browser = self.sign_in(owner.email, PASSWORD)
        assert told(owner) == []
        browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
        browser.post("/accounts/2fa/authenticate/", {"code": code_now()})
        assert told(owner, "actor") == [
            ("security.second_step_failed", None),
            ("sign_in.done", owner.pk),
        ]

    def test_a_new_password(self, owner: User) -> None:
        form = {"oldpassword": PASSWORD, "password1": "another long one"}
        form["password2"] = form["password1"]
        signed_in(owner).post("/accounts/password/change/", form)
        assert told(owner) == ["security.password_changed"]


class TestLoops:
    def test_through_a_key(self, owner: User, member: User, api: type[Api], loop: Loop) -> None:
        key, secret = create_api_key(user=owner, name="CI")
        before = len(told(owner))
        program = api(secret)
        body = {"name": "Second", "icon": "star"}
        loop_id = program.post("/v1/api/loops", body).json()["data"]["loop"]["id"]
        program.put(f"/v1/api/loops/{loop_id}", {"name": "Third"})
        program.delete(f"/v1/api/loops/{loop.pk}/members/{member.pk}")
        program.delete(f"/v1/api/loops/{loop_id}")
        assert told(owner, "subject", "actor", "key")[before:] == [
            ("loop.created", "Second", owner.pk, key.pk),
            ("loop.edited", "Third", owner.pk, key.pk),
            ("member.removed", "member@example.com from Refund desk", owner.pk, key.pk),
            ("loop.deleted", "Third", owner.pk, key.pk),
        ]

    def test_by_people(self, owner: User, loop: Loop, outsider: User) -> None:
        before = len(told(owner))
        invite_member(loop=loop, email="New@example.org")
        invite_member(loop=loop, email="new@example.org")
        join_loop(user=outsider, code=loop.invite_code)
        join_loop(user=outsider, code=loop.invite_code)
        code = rotate_invite_code(loop=loop)
        assert told(owner, "subject", "actor", "key")[before:] == [
            ("member.invited", "new@example.org to Refund desk", owner.pk, None),
            ("member.joined", "Refund desk", outsider.pk, None),
            ("loop.code_rotated", "Refund desk", owner.pk, None),
        ]
        assert not AuditEntry.objects.filter(subject__contains=code).exists()


def test_no_secret_is_told(owner: User) -> None:
    _, secret = create_api_key(user=owner, name="CI")
    assert told(owner) == ["key.created"]
    assert not any(secret[12:-4] in entry.subject for entry in AuditEntry.objects.all())
    assert ApiKey.objects.get().last_four in AuditEntry.objects.get().subject
