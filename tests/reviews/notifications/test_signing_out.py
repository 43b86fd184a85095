"""A browser that is signed out shows no more notifications of its user."""

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.db.models.functions import Now
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from accounts.sessions import remove_expired
from reviews.models import PushSubscription
from tests.conftest import PASSWORD
from tests.reviews.notifications.conftest import fresh_endpoint, subscription_of

pytestmark = pytest.mark.django_db
DEVICES = "/settings/notifications/devices/"
LEAVE = "/accounts/logout/"


@pytest.fixture(autouse=True)
def _push_is_on(push_key: str) -> None: ...


def browser_of(user: User) -> Client:
    browser = Client()
    browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browser


def report(browser: Client, subscription: dict[str, Any], *, is_new: bool = True) -> str:
    sent = {**subscription, "is_new": is_new}
    response = browser.post(DEVICES, sent, content_type="application/json")
    return str(response.json()["state"])


def with_device(user: User) -> tuple[Client, PushSubscription]:
    """Their browser, which has said yes to notifications."""
    browser, subscription = browser_of(user), subscription_of(fresh_endpoint())
    assert report(browser, subscription) == "on"
    return browser, PushSubscription.objects.get(endpoint=subscription["endpoint"])


def is_there(device: PushSubscription) -> bool:
    return PushSubscription.objects.filter(pk=device.pk).exists()


def test_signing_out_ends_this_device_alone(member: User, owner: User) -> None:
    here, phone = with_device(member)
    _, tablet = with_device(member)
    _, elsewhere = with_device(owner)
    here.get(LEAVE)
    assert is_there(phone)  # asking is not doing
    here.post(LEAVE)
    assert not is_there(phone)
    assert is_there(tablet)
    assert is_there(elsewhere)


def test_a_browser_without_a_device_takes_no_other_along(member: User) -> None:
    _, phone = with_device(member)
    browser_of(member).post(LEAVE)
    assert is_there(phone)


def test_a_device_that_only_reported_itself_goes_with_the_sign_in(member: User) -> None:
    """Such as after a sign-in that had run out."""
    _, phone = with_device(member)
    again = browser_of(member)
    assert report(again, subscription_of(phone.endpoint), is_new=False) == "on"
    again.post(LEAVE)
    assert not is_there(phone)


def test_whoever_takes_a_browser_over_keeps_it(member: User, outsider: User) -> None:
    before, phone = with_device(member)
    after = browser_of(outsider)
    report(after, subscription_of(phone.endpoint))
    before.post(LEAVE)
    assert PushSubscription.objects.get().user_id == outsider.pk


def test_a_browser_that_was_signed_out_from_another(member: User) -> None:
    _, phone = with_device(member)
    here, desk = with_device(member)
    here.get("/dashboard/account/sessions/")
    here.post("/dashboard/account/sessions/end/")
    assert not is_there(phone)
    assert is_there(desk)


def test_every_device_that_a_browser_has_registered_goes(member: User) -> None:
    """Such as after the browser has renewed its subscription."""
    browser = browser_of(member)
    for _ in range(2):
        report(browser, subscription_of(fresh_endpoint()))
    assert PushSubscription.objects.count() == 2
    browser.post(LEAVE)
    assert not PushSubscription.objects.exists()


def test_signing_out_all_others_ends_what_ran_out_before(member: User) -> None:
    """A browser whose sign-in had run out by itself kept its device."""
    _, phone = with_device(member)
    Session.objects.update(expire_date=Now())
    _, tablet = with_device(member)
    here, desk = with_device(member)
    here.get("/dashboard/account/sessions/")
    here.post("/dashboard/account/sessions/end/")
    assert [is_there(device) for device in (phone, tablet, desk)] == [False, False, True]


def test_a_forgotten_password_ends_every_device(member: User, outsider: User) -> None:
    _, phone = with_device(member)
    _, elsewhere = with_device(outsider)
    Session.objects.update(expire_date=Now())
    Client().post("/accounts/password/reset/", {"email": member.email})
    (path,) = re.findall(r"^http://testserver(/\S+)$", str(mail.outbox[0].body), re.MULTILINE)
    browser = Client()
    form = browser.get(path, follow=True).redirect_chain[-1][0]
    browser.post(form, {"password1": "x" + PASSWORD, "password2": "x" + PASSWORD})
    assert not is_there(phone)
    assert is_there(elsewhere)


def test_signing_out_one_other_leaves_the_rest(member: User) -> None:
    _, phone = with_device(member)
    Session.objects.update(expire_date=Now())
    _, tablet = with_device(member)
    here, _ = with_device(member)
    page = here.get("/dashboard/account/sessions/").content.decode()
    (named,) = re.findall(r'name="session" value="(\d+)"', page)
    here.post("/dashboard/account/sessions/end/", {"session": named})
    assert [is_there(device) for device in (phone, tablet)] == [True, False]


def test_a_new_password_ends_the_devices_of_the_others(member: User) -> None:
    _, phone = with_device(member)
    here, desk = with_device(member)
    changed = {"oldpassword": PASSWORD, "password1": "x" + PASSWORD, "password2": "x" + PASSWORD}
    assert here.post("/accounts/password/change/", changed).status_code == 302
    assert not is_there(phone)
    assert is_there(desk)
    here.post(LEAVE)  # the session has another key by now
    assert not is_there(desk)


def test_a_code_that_ends_a_strangers_password_ends_the_device(member: User) -> None:
    member.emailaddress_set.update(verified=False)  # type: ignore[attr-defined]
    _, phone = with_device(member)
    browser = Client()
    browser.post("/accounts/login/code/", {"email": member.email})
    code = next(line for line in str(mail.outbox[0].body).splitlines() if line.isdigit())
    browser.post("/accounts/login/code/confirm/", {"code": code})
    assert browser.get("/inbox/").status_code == 200
    assert not is_there(phone)


def test_a_sign_in_that_runs_out_keeps_the_device(member: User) -> None:
    """Nobody signed out, and requests wait: the next one is told, and asks for a sign-in."""
    _, phone = with_device(member)
    Session.objects.update(expire_date=Now())
    assert remove_expired() == 1
    browser_of(member)
    assert is_there(phone)


def test_reporting_again_writes_nothing_more(
    member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser, phone = with_device(member)
    with django_assert_num_queries(5):  # session, user, and the transaction of one
        report(browser, subscription_of(phone.endpoint), is_new=False)
