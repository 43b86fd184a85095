"""SIGN_UP: who may create an account, and what strangers see who may not."""

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from loops.services import invite_member
from tests.portal import words
from tests.signin.test_code_by_mail import code_in, give
from tests.signin.test_sign_up import FORM

pytestmark = pytest.mark.django_db
SIGN_UP, BY_CODE = "/accounts/signup/", "/accounts/signup/code/"
CONSOLE = "django.core.mail.backends.console.EmailBackend"


@pytest.mark.parametrize("backend", [CONSOLE, "django.core.mail.backends.locmem.EmailBackend"])
@pytest.mark.parametrize("form", [SIGN_UP, BY_CODE])
def test_the_uninvited_are_refused(loop: Loop, settings: Settings, form: str, backend: str) -> None:
    settings.SIGN_UP, settings.EMAIL_BACKEND = "invited", backend
    if (form, backend) == (BY_CODE, CONSOLE):
        pytest.skip("there is no such page")
    for number, following in enumerate(("", "/join/WRONGCODE123", "/inbox/")):
        email = f"{number}@example.org"
        refused = Client().post(form, {**FORM, "email": email, "next": following})
        assert refused.status_code == 422
        assert "This address has no invitation." in words(refused)
    assert not User.objects.filter(email__endswith="@example.org").exists()
    assert not mail.outbox
    came = Client().post(form, {**FORM, "next": f"/join/{loop.invite_code}"})
    assert came.status_code == 302


def test_the_invited_sign_up(loop: Loop, settings: Settings) -> None:
    settings.SIGN_UP = "invited"
    invite_member(loop=loop, email="Nora@example.org")
    browser = Client()
    assert browser.post(SIGN_UP, FORM).status_code == 302
    give(browser, code_in(mail.outbox[-1]))
    assert User.objects.filter(email="nora@example.org").exists()


def test_an_invitation_to_a_deleted_loop_is_none(loop: Loop, settings: Settings) -> None:
    settings.SIGN_UP = "invited"
    invite_member(loop=loop, email="nora@example.org")
    Loop.objects.filter(pk=loop.pk).update(deleted_at=loop.created_at)
    assert Client().post(SIGN_UP, FORM).status_code == 422


@pytest.mark.parametrize("form", [SIGN_UP, BY_CODE])
def test_only_some_domains(db: None, settings: Settings, form: str) -> None:
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = "domains", ["example.org", "xn--bcher-kva.de"]
    for email in ("a@bücher.de", "a@EXAMPLE.org"):
        assert Client().post(form, {**FORM, "email": email}).status_code == 302
    for email in ("a@example.com", "a@mail.example.org", "a@example.org.evil.com"):
        refused = Client().post(form, {**FORM, "email": email})
        assert "Use an address at one of: example.org, xn--bcher-kva.de" in words(refused)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("closed", "Only the operator of this service can create an account for you."),
        ("invited", "This address has no invitation."),
        ("domains", "Use an address at one of: example.com"),
    ],
)
@pytest.mark.parametrize("form", [SIGN_UP, BY_CODE])
def test_the_rule_is_asked_again_when_the_code_is_typed(
    db: None, settings: Settings, form: str, rule: str, sentence: str
) -> None:
    browser = Client()
    browser.post(form, FORM)
    settings.SIGN_UP, settings.SIGN_UP_DOMAINS = rule, ["example.com"]
    assert sentence in words(give(browser, code_in(mail.outbox[-1])))
    assert not User.objects.exists()


def test_who_has_an_account_gets_in_by_the_code_of_a_form_that_is_closed_now(
    member: User, settings: Settings
) -> None:
    browser = Client()
    browser.post(SIGN_UP, {**FORM, "email": member.email})
    settings.SIGN_UP = "closed"
    give(browser, code_in(mail.outbox[-1]))
    assert browser.session["_auth_user_id"] == member.pk


class TestClosed:
    @pytest.fixture(autouse=True)
    def _closed(self, settings: Settings) -> None:
        settings.SIGN_UP = "closed"

    @pytest.mark.parametrize("form", [SIGN_UP, BY_CODE])
    def test_there_is_no_form(self, form: str) -> None:
        for response in (Client().get(form), Client().post(form, FORM)):
            assert response.status_code == 403
            assert "Sign-up is closed" in words(response)
        assert not User.objects.exists()

    def test_no_page_and_no_email_leads_there(self, loop: Loop) -> None:
        for page in ("/", "/accounts/login/", "/accounts/login/code/", f"/join/{loop.invite_code}"):
            assert "/signup/" not in Client().get(page).content.decode()
        Client().post("/accounts/login/code/", {"email": "nobody@example.org"})
        assert "There is no account with this address." in mail.outbox[0].body
        assert "sign up" not in mail.outbox[0].body

    def test_the_operator_makes_accounts(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(CommandError, match="--create makes one"):
            call_command("passwordlink", "nora@example.org")
        call_command("passwordlink", "nora@example.org", "--create", "--name", "Nora")
        set_password(capsys.readouterr().out, "a good new password")
        user = User.objects.get(email="nora@example.org")
        assert (user.name, user.check_password("a good new password")) == ("Nora", True)
        call_command("passwordlink", "nora@example.org")
        set_password(capsys.readouterr().out, "and yet another one")
        user.refresh_from_db()
        assert user.check_password("and yet another one")


def set_password(link: str, password: str) -> None:
    """Opens a link and sets a password, once."""
    path = link.strip().removeprefix("http://testserver")
    browser = Client()
    landed = browser.get(path, follow=True)
    (hidden,) = {url for url, _ in landed.redirect_chain}
    assert browser.post(hidden, {"password1": password, "password2": password}).status_code == 302
    assert "no longer works" in words(Client().get(path, follow=True))
