"""/admin/: who has access, what can be changed, and that the audit log records it."""

import io
import re
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts import secret_services
from accounts.models import ApiKey, AuditEntry, User
from accounts.services import create_account, create_api_key
from tests.accounts.tokens import row_of, token_of
from tests.conftest import PASSWORD, Api
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db
LISTS = ("user", "apikey", "reviewtoken", "usagerow", "auditentry")


def actions(account: User) -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(account=account).order_by("created_at", "id")
    return list(rows.values_list("action", "subject", "actor__email"))


def change(browser: Client, kind: str, pk: str, **fields: str) -> Any:
    return browser.post(f"/admin/accounts/{kind}/{pk}/change/", fields, follow=True)


class TestWhoGetsIn:
    def test_a_stranger_signs_in_on_our_own_page_and_comes_back(self) -> None:
        browser = Client()
        response = browser.get("/admin/accounts/user/", follow=True)
        path, query = response.redirect_chain[-1][0].split("?")
        assert path == "/accounts/login/"
        assert query == "next=/admin/accounts/user/"
        assert browser.post("/admin/login/", {"username": "x", "password": "y"}).status_code == 302

    @pytest.mark.parametrize("path", ["", *(f"accounts/{name}/" for name in LISTS), "login/"])
    def test_an_outsider_does_not(self, outsider: User, path: str) -> None:
        response = signed_in(outsider).get(f"/admin/{path}", follow=True)
        assert response.status_code == 403
        assert "Access denied" in words(response)

    def test_the_operator_is_told_to_use_two_factors(self, operator: User) -> None:
        browser = signed_in(operator)
        assert "Turn on two-factor sign-in" in words(browser.get("/admin/"))
        TOTP.activate(operator, "JBSWY3DPEHPK3PXP")
        browser = signed_in(operator)
        assert "Turn on two-factor sign-in" not in words(browser.get("/admin/"))

    def test_signing_out_and_passwords_are_our_own_pages(self, operator: User) -> None:
        browser = signed_in(operator)
        assert browser.post("/admin/logout/")["Location"] == "/accounts/logout/"
        assert browser.get("/admin/password_change/")["Location"] == "/accounts/password/change/"


class TestAccounts:
    def test_switching_off_and_on(self, operator: User, owner: User, api: type[Api]) -> None:
        secret = create_api_key(user=owner, name="CI")[1]
        browser = signed_in(operator)
        change(browser, "user", owner.pk, hourly_limit="")
        assert api(secret).get("/v1/api/loops").status_code == 403
        change(browser, "user", owner.pk, hourly_limit="", is_active="on")
        assert api(secret).get("/v1/api/loops").status_code == 200
        assert actions(owner)[1:] == [
            ("account.switched_off", "", operator.email),
            ("account.switched_on", "", operator.email),
        ]

    def test_switching_on_revives_no_session(self, operator: User, owner: User) -> None:
        browser, left = signed_in(operator), Client()
        left.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
        assert left.get("/dashboard/").status_code == 200
        change(browser, "user", owner.pk, hourly_limit="")
        change(browser, "user", owner.pk, hourly_limit="", is_active="on")
        assert left.get("/dashboard/").status_code == 302
        assert browser.get("/admin/").status_code == 200

    def test_limits(self, operator: User, owner: User, api: type[Api]) -> None:
        secret = create_api_key(user=owner, name="CI")[1]
        browser = signed_in(operator)
        change(browser, "user", owner.pk, hourly_limit="720", is_active="on")
        limit = api(secret).get("/v1/test").json()["data"]["rate_limit"]["limit"]
        assert limit == 720
        change(browser, "user", owner.pk, hourly_limit="", is_active="on")
        assert [row[:2] for row in actions(owner)[1:]] == [
            ("account.limit_changed", "720 calls per hour"),
            ("account.limit_changed", "the default"),
        ]

    def test_nothing_else_can_be_changed(self, operator: User, owner: User) -> None:
        before = User.objects.filter(pk=owner.pk).values().get()
        change(
            signed_in(operator), "user", owner.pk, is_active="on", hourly_limit="",
            email="x@example.com", is_staff="on", is_superuser="on", password="x", name="x",
        )  # fmt: skip
        assert User.objects.filter(pk=owner.pk).values().get() == before
        assert actions(owner) == []

    def test_not_oneself(self, operator: User) -> None:
        answer = change(signed_in(operator), "user", operator.pk, hourly_limit="")
        assert "You can’t disable your own account." in words(answer)
        operator.refresh_from_db()
        assert operator.is_active

    def test_a_lost_phone(self, operator: User, owner: User) -> None:
        TOTP.activate(owner, "JBSWY3DPEHPK3PXP")
        RecoveryCodes.activate(owner)
        form = {"action": "end_two_factor", "_selected_action": [owner.pk]}
        response = signed_in(operator).post("/admin/accounts/user/", form, follow=True)
        assert "Turned off for: owner@example.com." in words(response)
        assert not owner.authenticator_set.exists()  # type: ignore[attr-defined]
        assert actions(owner) == [("security.two_factor_off", "", operator.email)]


class TestKeys:
    @pytest.mark.parametrize("typed", ["1,000", "１０００", "1 000", "1\u202f000", "1'000"])
    def test_a_limit_may_have_thousands(self, owner: User, operator: User, typed: str) -> None:
        change(signed_in(operator), "user", owner.pk, hourly_limit=typed, is_active="on")
        owner.refresh_from_db()
        assert owner.hourly_limit == 1000

    @pytest.mark.parametrize("typed", ["1.000", "1.5", "x"])
    def test_a_limit_that_is_no_whole_number_is_refused(
        self, owner: User, operator: User, typed: str
    ) -> None:
        change(signed_in(operator), "user", owner.pk, hourly_limit=typed, is_active="on")
        owner.refresh_from_db()
        assert owner.hourly_limit is None

    def test_a_limit_of_its_own(self, operator: User, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        change(signed_in(operator), "apikey", key.pk, hourly_limit="9")
        key.refresh_from_db()
        assert key.hourly_limit == 9
        told = ("key.limit_changed", f"CI ({key}): 9 calls per hour", operator.email)
        assert actions(owner)[-1] == told

    def test_revoking(self, operator: User, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        form = {"action": "revoke", "_selected_action": [key.pk]}
        for revoked in (1, 0):
            response = signed_in(operator).post("/admin/accounts/apikey/", form, follow=True)
            assert f"Revoked: {revoked}." in words(response)
        key.refresh_from_db()
        assert key.state == ApiKey.State.REVOKED
        assert actions(owner)[-1] == ("key.revoked", f"CI ({key})", operator.email)


def test_revoking_a_review_token(operator: User, owner: User) -> None:
    row = row_of(token_of(owner, name="CI"))
    form = {"action": "revoke", "_selected_action": [row.pk]}
    for revoked in (1, 0):
        response = signed_in(operator).post("/admin/accounts/reviewtoken/", form, follow=True)
        assert f"Revoked: {revoked}." in words(response)
    assert actions(owner)[-1] == ("review_token.revoked", f"CI ({row})", operator.email)


def test_no_page_shows_a_secret(operator: User, owner: User) -> None:
    key, secret = create_api_key(user=owner, name="CI")
    webhook_secret = secret_services.read_secrets(owner.pk).current.text
    browser = signed_in(operator)
    pages = [f"/admin/accounts/{name}/" for name in LISTS]
    pages += [f"/admin/accounts/user/{owner.pk}/change/"]
    pages += [f"/admin/accounts/apikey/{key.pk}/change/"]
    for path in pages:
        source = browser.get(path).content.decode()
        for told in (secret, webhook_secret, bytes(key.digest).hex(), owner.password):
            assert told not in source, path
        for name in ("digest", "sealed", "password"):
            assert f'name="{name}"' not in source, path


@pytest.mark.parametrize(
    "lookup",
    ["user/?password__startswith=md5", "apikey/?digest__gt=a", "apikey/?state__regex=("],
)
def test_a_page_has_no_other_filter(operator: User, lookup: str) -> None:
    assert signed_in(operator).get(f"/admin/accounts/{lookup}").status_code == 400


@pytest.mark.parametrize("path", ["user/add/", "apikey/add/", "usagerow/add/", "auditentry/add/"])
def test_nothing_is_made_here(operator: User, path: str) -> None:
    assert signed_in(operator).get(f"/admin/accounts/{path}").status_code == 403


def test_nothing_is_deleted_here(operator: User, owner: User) -> None:
    browser = signed_in(operator)
    assert browser.post(f"/admin/accounts/user/{owner.pk}/delete/").status_code == 403
    form = {"action": "delete_selected", "_selected_action": [owner.pk], "post": "yes"}
    browser.post("/admin/accounts/user/", form)
    assert User.objects.filter(pk=owner.pk).exists()


def test_no_other_room_has_registered_itself(operator: User) -> None:
    source = signed_in(operator).get("/admin/").content.decode()
    assert set(re.findall(r'href="/admin/(\w+/\w+)/"', source)) == {
        f"accounts/{name}" for name in LISTS
    }


def test_statements(operator: User, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(30):
        person = create_account(email=f"person{number}@example.com")
        create_api_key(user=person, name="CI")
    browser = signed_in(operator)
    for name in LISTS:
        with django_assert_max_num_queries(8):
            browser.get(f"/admin/accounts/{name}/")


def test_makeoperator(owner: User) -> None:
    for arguments, may in (
        (["Owner@example.com"], True),
        (["owner@example.com", "--remove"], False),
    ):
        call_command("makeoperator", *arguments, stderr=io.StringIO())
        owner.refresh_from_db()
        assert (owner.is_staff, owner.is_superuser) == (may, may)
    assert [row[0] for row in actions(owner)] == [
        "account.operator_made",
        "account.operator_unmade",
    ]
    with pytest.raises(CommandError, match=r"There is no account 'x@example\.com'"):
        call_command("makeoperator", "x@example.com")


def test_createsuperuser_makes_an_operator_who_can_sign_in(db: None) -> None:
    User.objects.create_superuser("boss@example.com", "correct horse battery")
    form = {"login": "boss@example.com", "password": "correct horse battery"}
    response = Client().post("/accounts/login/?next=/admin/", form, follow=True)
    assert response.redirect_chain == [("/admin/", 302)]
    assert response.status_code == 200
