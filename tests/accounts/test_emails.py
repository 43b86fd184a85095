"""An address with a letter of another alphabet is a different address, whatever PostgreSQL makes of
it in upper case."""

import re
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from accounts.emails import match_email
from accounts.models import ReservedId, User
from accounts.services import create_account, reserve_user_id
from loops.models import Loop, Membership
from tests.conftest import PASSWORD
from tests.portal import signed_in, words
from tests.signin.test_code_by_mail import SIGN_IN, SIGN_UP, ask, code_in, give
from tests.test_architecture import ROOMS, ROOT

pytestmark = pytest.mark.django_db
DOTLESS, LONG_S, KELVIN = "\u0131", "\u017f", "\u212a"  # their other case is I, S and k
LIKE_LINUS = [f"l{DOTLESS}nus@example.com", f"linu{LONG_S}@example.com"]


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:
    """No test inherits another one's throttles."""


def try_code(email: str, path: str = SIGN_IN, **more: str) -> Client:
    """A browser that has typed whatever code was sent."""
    browser = Client()
    ask(browser, path, email=email, **more)
    if mail.outbox and re.search(r"^\d{6}$", str(mail.outbox[-1].body), re.MULTILINE):
        give(browser, code_in(mail.outbox[-1]))
    return browser


@pytest.mark.parametrize("typed", LIKE_LINUS)
def test_a_look_alike_is_no_address_here(typed: str) -> None:
    User.objects.create_superuser(email="linus@example.com", password=PASSWORD)
    answer = ask(Client(), email=typed)
    assert answer.status_code == 422
    assert "Enter a valid email address." in words(answer)
    assert mail.outbox == []


def test_no_code_goes_to_the_look_alike_of_a_domain() -> None:
    """gmaıl.com can be bought: it is xn--gmal-nza.com."""
    operator = User.objects.create_superuser(email="linus@gmail.com", password=PASSWORD)
    TOTP.activate(operator, "JBSWY3DPEHPK3PXP")
    browser = try_code(f"linus@gma{DOTLESS}l.com")
    assert "There is no account with this address." in mail.outbox[0].body
    assert browser.get("/admin/").status_code == 302
    operator.refresh_from_db()
    assert operator.has_usable_password()


def test_the_look_alike_of_a_domain_is_somebody_else() -> None:
    known = create_account(email="v@gmail.com", name="V", password=PASSWORD, verified=True)
    browser = try_code(f"v@gma{DOTLESS}l.com", SIGN_UP, name="E")
    assert browser.get("/inbox/").status_code == 200
    assert User.objects.exclude(pk=known.pk).get().email == "v@xn--gmal-nza.com"


def test_the_look_alike_of_an_invited_address_is_not_invited() -> None:
    reserved = reserve_user_id(email="v@gmail.com")
    try_code(f"v@gma{DOTLESS}l.com", SIGN_UP, name="E")
    assert User.objects.get().pk != reserved
    assert reserve_user_id(email=f"v@gma{DOTLESS}l.com") != reserved
    assert reserve_user_id(email="V@gmail.com") == reserved


def test_domains_of_any_letters_work() -> None:
    try_code("Jörg@example.com", SIGN_UP, name="J")
    assert mail.outbox == []
    reserved = reserve_user_id(email="JOERG@BÜCHER.EXAMPLE")
    try_code("joerg@BÜCHER.example", SIGN_UP, name="J")
    assert User.objects.get().email == "joerg@xn--bcher-kva.example"
    assert try_code("joerg@Bücher.example").get("/inbox/").status_code == 200
    assert User.objects.get().pk == reserved


@pytest.mark.parametrize("path", ["signup/", "password/reset/"])
@pytest.mark.parametrize("email", LIKE_LINUS)
def test_the_other_forms_refuse_them_too(path: str, email: str) -> None:
    create_account(email="linus@example.com", name="Linus", password=PASSWORD, verified=True)
    form = {"name": "E", "email": email, "password1": PASSWORD}
    assert "Enter a valid email address." in words(Client().post(f"/accounts/{path}", form))
    assert mail.outbox == []
    assert User.objects.count() == 1


def test_so_do_invitations_and_the_command_line(loop: Loop, owner: User) -> None:
    form = {"email": LIKE_LINUS[0]}
    response = signed_in(owner).post(f"/dashboard/loops/{loop.pk}/invite/", form)
    assert "Enter a full email address" in words(response)
    assert Membership.objects.filter(loop=loop, status="pending").count() == 0
    with pytest.raises(CommandError, match="is not an email address"):
        call_command("createapikey", LIKE_LINUS[0])
    create_account(email="linus@example.com")
    for command in ("makeoperator", "webhooksecret"):
        with pytest.raises(CommandError, match="There is no account"):
            call_command(command, LIKE_LINUS[0])


def test_a_forgotten_password_goes_to_the_address_that_is_stored() -> None:
    """The Kelvin sign is a k for Python, so the account is found."""
    create_account(email="kelvin@example.com", name="K", password=PASSWORD, verified=True)
    Client().post("/accounts/password/reset/", {"email": f"{KELVIN}elvin@Example.com"})
    assert mail.outbox[0].to == ["kelvin@example.com"]


@pytest.mark.parametrize("typed", LIKE_LINUS)
def test_neither_do_passwords_nor_the_audit_log_take_them_for_another(typed: str) -> None:
    user = create_account(email="linus@example.com", name="L", password=PASSWORD, verified=True)
    browser = Client()
    browser.post("/accounts/login/", {"login": typed, "password": PASSWORD})
    assert browser.get("/inbox/").status_code == 302
    assert not user.audit.exists()
    with pytest.raises(User.DoesNotExist):
        User.objects.get_by_natural_key(typed)
    assert User.objects.get_by_natural_key("Linus@Example.com") == user


def test_no_address_is_compared_in_capitals() -> None:
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert not [path for path in found if "__iexact" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    ("model", "index"), [(User, "user_email_unique"), (ReservedId, "reserved_email_unique")]
)
def test_addresses_are_found_by_an_index(model: Any, index: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert index in model.objects.filter(match_email("x@example.com")).explain()
