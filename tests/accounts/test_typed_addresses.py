"""One person has one address, however it was typed or pasted, on every way in."""

from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from accounts.code_services import find_holder
from accounts.emails import clean_address
from accounts.forms import AddressField
from accounts.models import ReservedId, User
from accounts.services import create_account, reserve_user_id
from dashboard.forms.loops import InviteForm
from loops.models import Loop, Membership
from loops.services import invite_member
from signin.forms import CodeRequestForm, NewcomerForm
from signin.password_forms import AddressForm, ForgottenForm, SignInForm, SignUpForm
from tests.portal import signed_in
from tests.signin.test_sign_up import sign_up

pytestmark = pytest.mark.django_db

STORED = "ada@xn--bcher-kva.example"
SAME = [
    "ada@bücher.example",
    "Ada@XN--BCHER-KVA.example",
    "\u200b ada@bu\u0308cher.example\u00a0\ufeff",
    "ａｄａ＠bücher．example",
    "ada@bücher.example\u200b",
]
REFUSED = ["ada@ex\u200bample.org", "a\u00adda@example.org", "ada@exam\u3164ple.org"]


@pytest.mark.parametrize("typed", SAME)
def test_one_form(typed: str) -> None:
    assert clean_address(typed) == STORED


@pytest.mark.parametrize("typed", REFUSED)
def test_invisible_inside_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError, match="invisible character inside"):
        clean_address(typed)
    form = InviteForm({"email": typed})
    assert "invisible character inside" in str(form.errors["email"])


@pytest.mark.parametrize("form", [InviteForm, CodeRequestForm, NewcomerForm])
@pytest.mark.parametrize("typed", SAME)
def test_forms_of_ours(form: Any, typed: str) -> None:
    filled = form({"email": typed, "name": "Ada"})
    assert filled.is_valid(), filled.errors
    assert filled.cleaned_data["email"] == STORED


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (SignInForm, "login"),
        (SignUpForm, "email"),
        (AddressForm, "email"),
        (ForgottenForm, "email"),
    ],
)
def test_forms_of_allauth_take_addresses_alike(form: Any, name: str) -> None:
    field = form().fields[name]
    assert isinstance(field, AddressField)
    assert field.clean(SAME[2]) == STORED


@pytest.mark.parametrize(
    ("form", "name"),
    [(AddressForm, "email"), (ForgottenForm, "email"), (SignInForm, "login"),
     (SignUpForm, "email"), (InviteForm, "email"), (CodeRequestForm, "email")],
)  # fmt: skip
def test_an_address_that_cannot_be_stored_is_refused(form: Any, name: str) -> None:
    too_long = f"{'a' * 200}@{'b' * 60}.example"
    assert "at most 254 characters" in str(form(data={name: too_long}).errors[name])


def test_signing_in_with_either_form(mailoutbox: Any) -> None:
    create_account(email="ada@bücher.example", password="kettle marble 19 fox", verified=True)
    for typed in SAME:
        browser = Client()
        data = {"login": typed, "password": "kettle marble 19 fox"}
        assert browser.post("/accounts/login/", data).status_code == 302, typed


def test_signing_up_stores_one_form() -> None:
    sign_up(Client(), email=SAME[4])
    assert User.objects.get().email == STORED


@pytest.mark.parametrize("typed", SAME)
def test_services(owner: User, loop: Loop, typed: str) -> None:
    first = invite_member(loop=loop, email="ada@bücher.example")
    assert first.email == STORED
    assert invite_member(loop=loop, email=clean_address(typed)).pk == first.pk


@pytest.mark.parametrize("typed", SAME)
def test_commands(typed: str) -> None:
    user = create_account(email=STORED, verified=True)
    for command in (["createapikey", typed], ["passwordlink", typed]):
        call_command(*command, stdout=StringIO(), stderr=StringIO())
    assert list(User.objects.all()) == [user]


@pytest.mark.parametrize("command", ["createapikey", "passwordlink"])
@pytest.mark.parametrize("typed", REFUSED)
def test_commands_refuse(command: str, typed: str) -> None:
    with pytest.raises(CommandError, match="is not an email address"):
        call_command(command, typed)


def test_created_operators_have_the_form() -> None:
    assert User.objects.create_superuser(SAME[4], "x").email == STORED


def test_deleting_an_account_takes_the_address_in_either_form() -> None:
    user = create_account(email=STORED, verified=True)
    browser = signed_in(user)
    answer = browser.post("/dashboard/account/data/delete/", {"typed": SAME[2]}, follow=True)
    assert "The address doesn’t match" not in answer.content.decode()


def test_what_was_stored_stays_reachable(owner: User, loop: Loop) -> None:
    """The migrations convert rows of before; in a clash the confirmed address is found."""
    old = create_account(email="ada@old.example", verified=True)
    membership = invite_member(loop=loop, email="ben@old.example")
    with connection.cursor() as cursor:
        for table in ("accounts_user", "account_emailaddress", "accounts_reservedid",
                      "loops_membership"):  # fmt: skip
            cursor.execute(
                f"UPDATE {table} SET email = replace(email, 'old.example', 'bücher.example')"
            )
    squatter = create_account(email=STORED)
    with connection.schema_editor() as editor:
        for app, name in (
            ("accounts", "0010_one_form_of_domains"),
            ("loops", "0006_one_form_of_domains"),
        ):
            module = import_module(f"{app}.migrations.{name}")
            for operation in module.Migration.operations:
                operation.database_forwards(app, editor, None, None)
    holder = find_holder("ada@bücher.example")
    assert holder
    assert holder.user == old != squatter
    assert EmailAddress.objects.get(user=old).email == STORED
    assert Membership.objects.get(pk=membership.pk).email == "ben@xn--bcher-kva.example"
    assert ReservedId.objects.get().email == "ben@xn--bcher-kva.example"
    assert reserve_user_id(email="ben@xn--bcher-kva.example") == membership.member_id
