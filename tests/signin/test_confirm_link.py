"""The link that confirms an address: who may use it, and what it changes."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.core import mail
from django.test import Client, override_settings

from accounts.models import ApiKey, User
from accounts.proofs import NOWHERE, AddressUnavailable, confirm_address
from accounts.services import create_account, create_api_key
from tests.conftest import PASSWORD, Api
from tests.portal import signed_in, words
from tests.signin.test_code_by_mail import NORA, SIGN_UP, ask, code_in, give

pytestmark = pytest.mark.django_db
EMAIL, OTHER = "nora@example.org", "nora.work@example.org"


def link(email: str) -> str:
    row = EmailAddress.objects.get(email=email, verified=False)
    return f"/accounts/confirm-email/{EmailConfirmationHMAC(row).key}/"


def add(user: User, email: str) -> str:
    EmailAddress.objects.create(user=user, email=email)
    return link(email)


def is_confirmed(email: str) -> bool:
    return bool(EmailAddress.objects.filter(email=email, verified=True).exists())


def sign_up() -> Client:
    """Of an account from before the service sent email; the browser of who made it."""
    browser = Client()
    console = "django.core.mail.backends.console.EmailBackend"
    with override_settings(EMAIL_BACKEND=console):
        browser.post("/accounts/signup/", {**NORA, "password1": PASSWORD})
    return browser


class TestFirstAddress:
    def test_who_has_just_signed_up_loses_nothing(self) -> None:
        browser = sign_up()
        user = User.objects.get()
        _, secret = create_api_key(user=user, name="mine")
        page = browser.get(link(EMAIL))
        assert "choose a new password" not in words(page)
        page = browser.post(link(EMAIL), follow=True)
        assert page.redirect_chain == [("/inbox/", 302)]
        assert f"Your address {EMAIL} is confirmed." in words(page)
        assert is_confirmed(EMAIL)
        assert Api(secret).get("/v1/test").status_code == 200
        assert browser.get("/inbox/").status_code == 200
        assert Client().login(email=EMAIL, password=PASSWORD) is True

    def test_who_signed_in_with_a_password_that_was_told_keeps_no_strangers_key(self) -> None:
        stranger = sign_up()
        create_api_key(user=User.objects.get(), name="mine")
        browser = Client()
        browser.post("/accounts/login/", {"login": EMAIL, "password": PASSWORD})
        page = words(browser.post(link(EMAIL), follow=True))
        assert "the API keys were revoked" in page
        assert "If someone else knows your password, change it under Account." in page
        assert browser.get("/inbox/").status_code == 200
        assert stranger.get("/inbox/").status_code == 302
        assert ApiKey.objects.get().state == "revoked"

    def test_somebody_else_who_is_signed_in_is_not_the_account(self, outsider: User) -> None:
        sign_up()
        browser = signed_in(outsider)
        assert browser.get(link(EMAIL)).status_code == 200
        assert browser.get("/inbox/").status_code == 200  # opening the link signs nobody out
        page = browser.post(link(EMAIL), follow=True)
        assert "/accounts/password/reset/key/" in page.redirect_chain[-1][0]
        assert Client().login(email=EMAIL, password=PASSWORD) is False
        assert is_confirmed(EMAIL)

    def test_a_second_time_it_does_nothing(self) -> None:
        sign_up()
        path = link(EMAIL)
        Client().post(path)
        again = Client().post(path)
        assert again.status_code == 404
        assert "This link no longer works." in words(again)

    def test_whoever_reads_an_added_address_does_not_get_the_account(self) -> None:
        """It may be mistyped."""
        browser = sign_up()
        path = add(User.objects.get(), OTHER)
        stranger = Client()
        assert "Someone wants to add" in words(stranger.get(path))
        assert stranger.post(path).status_code == 403
        assert not is_confirmed(OTHER)
        assert Client().login(email=EMAIL, password=PASSWORD) is True
        browser.post(path)
        assert User.objects.get().email == OTHER
        assert is_confirmed(OTHER)


class TestFurtherAddress:
    def test_only_who_is_signed_in_to_the_account(self, owner: User, outsider: User) -> None:
        path = add(owner, OTHER)
        _, secret = create_api_key(user=owner, name="mine")
        for browser in (Client(), signed_in(outsider)):
            page = browser.get(path)
            assert f"Someone wants to add {OTHER} to their account." in words(page)
            assert browser.post(path).status_code == 403
            assert not is_confirmed(OTHER)
        signed_in(owner).post(path)
        assert is_confirmed(OTHER)
        owner.refresh_from_db()
        assert owner.email == "owner@example.com"
        assert Api(secret).get("/v1/test").status_code == 200  # the account was proved before

    def test_nobody_gives_their_mailbox_to_a_stranger(self, outsider: User) -> None:
        """One click used to make it the stranger's, with all invitations to it."""
        Client().post(add(outsider, EMAIL))
        ask(browser := Client(), SIGN_UP, **NORA)
        give(browser, code_in(mail.outbox[-1]))
        assert User.objects.get(email=EMAIL) != outsider
        assert not EmailAddress.objects.filter(user=outsider, email=EMAIL).exists()

    def test_an_unconfirmed_one_is_not_made_primary(self, owner: User) -> None:
        create_account(email=EMAIL)  # else the unique address of the other would answer with 500
        EmailAddress.objects.filter(user=owner).update(verified=False)
        add_one = EmailAddress.objects.create(user=owner, email=EMAIL)
        form = {"action_primary": "", "email": EMAIL}
        page = words(signed_in(owner).post("/accounts/email/", form, follow=True))
        assert "Confirm this address first." in page
        add_one.refresh_from_db()
        assert not add_one.primary
        owner.refresh_from_db()
        assert owner.email == "owner@example.com"


class TestTheSameAddressElsewhere:
    def test_who_only_signed_up_with_it_loses_it(self, owner: User) -> None:
        squatter = sign_up()
        stranger = User.objects.get(email=EMAIL)
        EmailAddress.objects.filter(user=owner, email=EMAIL).delete()
        EmailAddress.objects.create(user=owner, email=EMAIL)
        row = EmailAddress.objects.get(user=owner, email=EMAIL)
        signed_in(owner).post(f"/accounts/confirm-email/{EmailConfirmationHMAC(row).key}/")
        stranger.refresh_from_db()
        assert stranger.email == f"{stranger.pk}@{NOWHERE}"
        assert list(EmailAddress.objects.filter(email=EMAIL).values_list("user", "verified")) == [
            (owner.pk, True)
        ]
        assert Client().login(email=EMAIL, password=PASSWORD) is True  # the owner's, now
        form = {"action_primary": "", "email": EMAIL}
        signed_in(owner).post("/accounts/email/", form)
        owner.refresh_from_db()
        assert owner.email == EMAIL
        assert squatter.get("/accounts/email/").status_code == 200  # they can add their own
        row = EmailAddress.objects.create(user=stranger, email="own@example.org")
        squatter.post(f"/accounts/confirm-email/{EmailConfirmationHMAC(row).key}/")
        stranger.refresh_from_db()
        assert stranger.email == "own@example.org"
        assert EmailAddress.objects.filter(user=stranger).count() == 1

    def test_the_link_of_the_other_account_is_dead(self, owner: User) -> None:
        sign_up()
        path = link(EMAIL)
        confirm_address(user=owner, address=EMAIL)
        page: Any = Client().post(path)
        assert page.status_code == 404
        with pytest.raises(AddressUnavailable):
            confirm_address(user=User.objects.exclude(pk=owner.pk).get(), address=EMAIL)

    def test_a_password_link_from_before_is_dead(self, owner: User) -> None:
        sign_up()
        mail.outbox.clear()
        Client().post("/accounts/password/reset/", {"email": EMAIL})
        (path,) = [
            line.removeprefix("http://testserver")
            for line in mail.outbox[-1].body.splitlines()
            if "/reset/key/" in line
        ]
        confirm_address(user=owner, address=EMAIL)
        assert "This link no longer works." in words(Client().get(path, follow=True))
