"""The join page of a loop that does not admit the person: what to do, and the way back."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop, Membership
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _sends_mail(settings: Settings) -> None:
    """As where a mail server is configured."""
    settings.REQUIRE_CONFIRMED_ADDRESSES = True


def is_member(loop: Loop) -> bool:
    return Membership.objects.filter(loop=loop, user__email="nora@example.org").exists()


def test_confirming_leads_back_to_the_invitation(loop: Loop) -> None:
    path = f"/join/{loop.invite_code}"
    assert "You need a confirmed email address." in words(Client().get(path))
    browser = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    refused = browser.post(path)
    assert refused.status_code == 403
    page = words(refused)
    assert "Confirm your address first" in page
    assert "We’ll send a link to nora@example.org" in page
    assert not is_member(loop)
    source = refused.content.decode()
    assert 'action="/accounts/email/"' in source
    assert 'name="email" value="nora@example.org"' in source
    form = {"action_send": "", "email": "nora@example.org"}
    browser.post("/accounts/email/", form)
    assert "We just sent a link." in words(browser.post("/accounts/email/", form, follow=True))
    (link,) = re.findall(
        r"http://testserver(/accounts/confirm-email/\S+)", str(mail.outbox[0].body)
    )
    assert browser.post(link)["Location"] == path
    assert browser.post(path)["Location"] == "/inbox/"
    assert is_member(loop)


def test_only_some_domains(loop: Loop) -> None:
    Loop.objects.filter(pk=loop.pk).update(allowed_domains=["a.example", "b.example"])
    path = f"/join/{loop.invite_code}"
    need = "You need a confirmed email address at a.example or b.example."
    assert need in words(Client().get(path))
    user = create_account(email="nora@example.org", name="Nora", verified=True)
    refused = signed_in(user).post(path)
    assert refused.status_code == 403
    page = words(refused)
    assert "Your address can’t join" in page
    assert "Only people with an address at a.example or b.example can join Refund desk." in page
    assert 'href="/accounts/email/"' in refused.content.decode()
    assert not is_member(loop)


def test_who_is_a_member_is_not_asked(loop: Loop, member: User) -> None:
    EmailAddress.objects.filter(user=member).update(verified=False)
    response = signed_in(member).post(f"/join/{loop.invite_code}")
    assert response["Location"] == "/inbox/"


def test_where_anybody_may_join_nothing_is_said(loop: Loop) -> None:
    Loop.objects.filter(pk=loop.pk).update(require_verified=False)
    assert "confirmed email address" not in words(Client().get(f"/join/{loop.invite_code}"))
