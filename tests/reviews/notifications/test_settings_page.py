"""/settings/notifications/: devices, a test, and the choice of e-mails."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import signing
from django.db.models.functions import Now
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from outbox.items import Outcome, Result
from reviews.models import EmailPreference, PushSubscription
from reviews.notifications import services
from reviews.notifications.mail import unsubscribe_link
from reviews.notifications.push.channel import DISPATCHER, Verdict
from tests.portal import signed_in, words
from tests.reviews.notifications.conftest import GivePhone, device_of
from tests.reviews.notifications.push_service import PushService
from tests.waiting import wait_until

FAILED = Outcome(Result.RETRY, "x", details=Verdict("retry"))
pytestmark = pytest.mark.django_db
COMMITTED = pytest.mark.django_db(transaction=True)  # where another thread writes
PATH = "/settings/notifications/"


def test_what_it_shows(
    member: User,
    give_phone: GivePhone,
    push_key: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(3):
        give_phone(member)
    browser = signed_in(member)
    with django_assert_num_queries(5):
        page = browser.get(PATH)
    assert words(page).count("Chrome on Android") >= 3
    assert f'data-key="{push_key}"'.encode() in page.content
    assert re.search(rb'value="every"[^>]*checked', page.content)
    assert page.headers["Cache-Control"].startswith("max-age=0")


def test_without_a_key_it_says_so(member: User) -> None:
    page = signed_in(member).get(PATH)
    assert "set up on this server" in words(page)
    assert b"data-push " not in page.content


def test_an_address_that_is_not_confirmed(member: User) -> None:
    EmailAddress.objects.filter(user=member).update(verified=False)
    assert "until you confirm the address" in words(signed_in(member).get(PATH))


@pytest.mark.parametrize("choice", ["every", "critical", "none"])
def test_choosing_e_mails(member: User, choice: str) -> None:
    browser = signed_in(member)
    response = browser.post(PATH + "mail/", {"mails": choice}, follow=True)
    assert "Saved." in words(response)
    assert EmailPreference.objects.get(user=member).mails == choice
    assert re.search(f'value="{choice}"[^>]*checked'.encode(), response.content)


def test_no_choice_at_all(member: User) -> None:
    response = signed_in(member).post(PATH + "mail/", {"mails": "sometimes"}, follow=True)
    assert "Choose one of the options." in words(response)
    assert not EmailPreference.objects.exists()


def test_a_device_is_switched_and_removed(member: User, give_phone: GivePhone) -> None:
    device, browser = device_of(give_phone(member)), signed_in(member)
    address = f"{PATH}devices/{device.pk}/"
    page = browser.post(address + "switch/", {"is_on": "no"}, follow=True)
    assert "Chrome on Android is off." in words(page)
    assert not PushSubscription.objects.get().is_on
    page = browser.post(address + "switch/", {"is_on": "yes"}, follow=True)
    assert "Chrome on Android is on." in words(page)
    assert PushSubscription.objects.get().is_on
    page = browser.post(address + "remove/", follow=True)
    assert "Chrome on Android is removed." in words(page)
    assert not PushSubscription.objects.exists()


@COMMITTED
@pytest.mark.parametrize(
    ("status", "sentence", "is_on"),
    [
        (201, "Sent to Chrome on Android. It should appear in a moment.", True),
        (410, "Chrome on Android is no longer subscribed and was turned off.", False),
        (403, "The push service rejected it.", True),
        (503, "The push service rejected it.", True),
    ],
)
def test_a_test_push(
    member: User,
    give_phone: GivePhone,
    service: PushService,
    status: int,
    sentence: str,
    is_on: bool,
) -> None:
    phone = give_phone(member)
    service.answer(phone, status)
    service.hold()
    browser, device = signed_in(member), device_of(phone)
    page = browser.post(f"{PATH}devices/{device.pk}/test/", follow=True)
    assert "Sending a test… Check again" in words(page)  # while the service is silent
    assert f'hx-select="#test-{device.pk}"' in page.content.decode()
    service.release()
    wait_until(lambda: PushSubscription.objects.exclude(test_result="").exists())
    page = browser.get(PATH)
    assert sentence in words(page)
    assert f"HTTP {status}" not in words(page)
    assert "hx-get" not in page.content.decode()
    assert phone.read(service.got[0])["notification"]["title"] == "Review Loop"
    assert PushSubscription.objects.get().is_on == is_on


@pytest.mark.parametrize(
    ("age", "result", "sentence"),
    [
        (14, "", "Sending a test… Check again"),
        (16, "", "The push service hasn’t responded. Check the device, or send another test."),
        (16, "busy", "Too many notifications are being sent. Try again in a minute."),
        (590, "accepted", "Sent to Chrome on Android."),
        (610, "accepted", None),
    ],
)
def test_what_the_page_says_of_a_test(
    member: User, give_phone: GivePhone, age: int, result: str, sentence: str | None
) -> None:
    give_phone(member)
    sent_at = Now() - timedelta(seconds=age)
    PushSubscription.objects.update(test_sent_at=sent_at, test_result=result)
    page = words(signed_in(member).get(PATH))
    if sentence is None:
        assert "Sent to" not in page
    else:
        assert sentence in page


@COMMITTED
def test_a_test_for_which_there_is_no_room(
    member: User, give_phone: GivePhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = device_of(give_phone(member))
    monkeypatch.setattr(DISPATCHER, "room", 0)
    signed_in(member).post(f"{PATH}devices/{device.pk}/test/")
    wait_until(lambda: PushSubscription.objects.filter(test_result="busy").exists())


def test_an_earlier_test_says_nothing_of_a_later_one(member: User, give_phone: GivePhone) -> None:
    device = device_of(give_phone(member))
    first = services.begin_test(subscription=device)
    second = services.begin_test(subscription=device)
    assert first is not None
    assert second is not None
    accepted = Outcome(Result.SENT, details=Verdict("accepted"))
    services.record_test(subscription=device, sent_at=first, outcome=FAILED)
    assert device_of_pk(device.pk).test_result == ""
    services.record_test(subscription=device, sent_at=second, outcome=accepted)
    assert device_of_pk(device.pk).test_result == "accepted"


def device_of_pk(pk: str) -> PushSubscription:
    return PushSubscription.objects.get(pk=pk)


def test_a_failed_test_in_german(member: User, give_phone: GivePhone) -> None:
    device = device_of(give_phone(member))
    sent_at = services.begin_test(subscription=device)
    assert sent_at is not None
    failed = Outcome(Result.FAILED, "No complete response within 5 s.", details=Verdict("rejected"))
    services.record_test(subscription=device, sent_at=sent_at, outcome=failed)
    said = words(signed_in(member, headers={"accept-language": "de"}).get(PATH))
    assert "Der Push-Dienst hat abgelehnt." in said
    assert "Keine vollständige Antwort" not in said
    english = words(signed_in(member).get(PATH))
    assert "The push service rejected it." in english


@COMMITTED
def test_tests_are_throttled(member: User, give_phone: GivePhone, service: PushService) -> None:
    path = f"{PATH}devices/{device_of(give_phone(member)).pk}/test/"
    browser = signed_in(member)
    answers = [browser.post(path).status_code for _ in range(7)]
    assert answers == [302] * 6 + [429]
    wait_until(lambda: len(service.got) == 6)


def test_a_test_without_a_key(member: User, give_phone: GivePhone, settings: Settings) -> None:
    path = f"{PATH}devices/{device_of(give_phone(member)).pk}/test/"
    settings.VAPID_PRIVATE_KEY = ""
    assert "Push is not set up here." in words(signed_in(member).post(path, follow=True))


@pytest.mark.parametrize("action", ["switch", "remove", "test"])
def test_devices_of_others(
    member: User, outsider: User, give_phone: GivePhone, service: PushService, action: str
) -> None:
    device = device_of(give_phone(member))
    path = f"{PATH}devices/{device.pk}/{action}/"
    assert signed_in(outsider).post(path).status_code == 404
    assert signed_in(outsider).post(f"{PATH}devices/nonsense/{action}/").status_code == 404
    stranger = Client().post(path)
    assert (stranger.status_code, stranger.headers["Location"].split("?")[0]) == (
        302,
        "/accounts/login/",
    )
    assert signed_in(member).get(path).headers["Location"] == PATH
    assert signed_in(member).put(path).status_code == 405
    assert service.got == []
    assert PushSubscription.objects.get().is_on


def test_strangers_sign_in_first(member: User) -> None:
    for path in (PATH, PATH + "mail/"):
        response = Client().get(path)
        assert (response.status_code, response.headers["Location"].split("?")[0]) == (
            302,
            "/accounts/login/",
        )


def unsubscribe(user: User) -> Any:
    return unsubscribe_link.make(user.pk).removeprefix("http://testserver")


def test_a_link_in_a_mail_ends_them_without_signing_in(
    member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    path = unsubscribe(member)
    with django_assert_num_queries(0):
        page = Client().get(path)
    assert "Unsubscribe from emails about questions?" in words(page)
    assert member.email not in words(page)
    assert not EmailPreference.objects.exists()
    one_click = {"List-Unsubscribe": "One-Click"}
    response = Client(enforce_csrf_checks=True).post(path, one_click)
    assert "You’re unsubscribed from emails about questions" in words(response)
    assert EmailPreference.objects.get(user=member).mails == "none"
    assert Client().post(path).status_code == 200


def test_links_of_others_making(member: User, outsider: User) -> None:
    good = unsubscribe(member)
    elsewhere = signing.Signer(salt="another").sign(member.pk).replace(":", ".")
    for path in (
        good.replace(member.pk, outsider.pk),
        good[:-2] + "/",
        "/unsubscribe/nonsense/",
        f"/unsubscribe/{elsewhere}/",
    ):
        assert Client().post(path).status_code == 404
    assert not EmailPreference.objects.exists()
