"""The browser's subscription, as its script sends it."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from reviews.models import PushSubscription
from reviews.notifications import services
from reviews.notifications.push.subscription import read_subscription
from reviews.notifications.services import MAX_SUBSCRIPTIONS
from tests.portal import signed_in
from tests.reviews.notifications.conftest import KEY, fresh_endpoint, subscription_of

pytestmark = pytest.mark.django_db
PATH = "/settings/notifications/devices/"
CHROME = "Mozilla/5.0 (Linux; Android 10; K) Chrome/149.0.0.0 Mobile Safari/537.36"


@pytest.fixture(autouse=True)
def _push_is_on(push_key: str) -> None: ...


def send(browser: Client, body: Any, **headers: str) -> Any:
    return browser.post(
        PATH, body, content_type="application/json", headers={"User-Agent": CHROME, **headers}
    )


def test_a_browser_is_registered_once(
    member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(member)
    subscription = subscription_of(fresh_endpoint())
    for _ in range(2):
        answer = send(browser, subscription)
        assert (answer.status_code, answer.json()) == (200, {"state": "on"})
    device = PushSubscription.objects.get()
    assert (device.user_id, device.label) == (member.pk, "Chrome on Android")
    assert device.endpoint == subscription["endpoint"]
    assert device.host == "push.example.com"
    with django_assert_num_queries(6):  # session, user, and the transaction of two
        send(browser, subscription)


def test_it_moves_with_whoever_is_signed_in(member: User, outsider: User) -> None:
    subscription = subscription_of(fresh_endpoint())
    send(signed_in(member), subscription)
    before = PushSubscription.objects.get()
    send(signed_in(outsider), {**subscription, "is_new": False})
    after = PushSubscription.objects.get()
    assert after.user_id == outsider.pk
    assert after.pk != before.pk


def test_what_only_reports_itself_changes_nothing(member: User) -> None:
    browser = signed_in(member)
    subscription = subscription_of(fresh_endpoint())
    report = {**subscription, "is_new": False}
    assert send(browser, report).json() == {"state": "ask"}
    assert not PushSubscription.objects.exists()
    send(browser, subscription)
    assert send(browser, report).json() == {"state": "on"}
    PushSubscription.objects.update(is_on=False)
    assert send(browser, report).json() == {"state": "off"}
    assert send(browser, subscription).json() == {"state": "on"}


def test_a_person_has_a_bounded_number(member: User) -> None:
    browser = signed_in(member)
    first = subscription_of(fresh_endpoint())
    send(browser, first)
    for _ in range(MAX_SUBSCRIPTIONS):
        send(browser, subscription_of(fresh_endpoint()))
    assert PushSubscription.objects.count() == MAX_SUBSCRIPTIONS
    assert not PushSubscription.objects.filter(endpoint=first["endpoint"]).exists()


GOOD = subscription_of("https://push.example.com/x")
KEYS = GOOD["keys"]
ENDPOINT = "endpoint must be an https URL"
P256DH = "keys.p256dh must be 65 bytes in base64url"
AUTH = "keys.auth must be 16 bytes in base64url"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"endpoint": None}, ENDPOINT),
        ({"endpoint": 5}, ENDPOINT),
        ({"endpoint": ""}, ENDPOINT),
        ({"endpoint": "http://push.example.com/x"}, ENDPOINT),
        ({"endpoint": "http://10.0.0.1/x"}, ENDPOINT),
        ({"endpoint": "http://localhost/x"}, ENDPOINT),
        ({"endpoint": "ftp://push.example.com/x"}, ENDPOINT),
        ({"endpoint": "javascript:alert(1)"}, ENDPOINT),
        ({"endpoint": "https://user:pass@push.example.com/x"}, ENDPOINT),
        ({"endpoint": "https:///x"}, ENDPOINT),
        ({"endpoint": "https://push.example.com:99999/x"}, ENDPOINT),
        ({"endpoint": "https://[::1]/x"}, ENDPOINT),
        ({"endpoint": "https://push.example.com/a b"}, ENDPOINT),
        ({"endpoint": "https://push.example.com/\r\nX: y"}, ENDPOINT),
        ({"endpoint": "https://push.example.com/ä"}, ENDPOINT),
        ({"endpoint": "https://push.example.com/#x"}, ENDPOINT),
        ({"endpoint": "https://push.example.com/" + "x" * 2048}, ENDPOINT),
        ({"keys": None}, "keys must be an object"),
        ({"keys": []}, "keys must be an object"),
        ({"keys": {"auth": KEYS["auth"]}}, P256DH),
        ({"keys": {**KEYS, "p256dh": KEYS["auth"]}}, P256DH),
        ({"keys": {**KEYS, "p256dh": "x" * 200}}, P256DH),
        ({"keys": {**KEYS, "p256dh": "BP" + "A" * 85}}, "keys.p256dh must be a point of P-256"),
        ({"keys": {**KEYS, "auth": "+/" + KEYS["auth"][2:]}}, AUTH),
        ({"keys": {**KEYS, "auth": KEYS["auth"] + "AAAA"}}, AUTH),
        ({"keys": {**KEYS, "auth": "A"}}, AUTH),
        ({"keys": {**KEYS, "auth": 5}}, AUTH),
    ],
)
def test_what_cannot_be_pushed_to_is_refused(
    member: User, changes: dict[str, Any], sentence: str
) -> None:
    answer = send(signed_in(member), {**GOOD, **changes})
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})
    assert not PushSubscription.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "5", "{", "[" * 100, '{"endpoint": NaN}', "\x00"])
def test_what_is_no_object_is_refused(member: User, body: str) -> None:
    answer = send(signed_in(member), body)
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "The body must be a JSON object."},
    )


def test_loopback_is_for_development(member: User, settings: Settings) -> None:
    subscription = subscription_of("http://127.0.0.1:9/x")
    browser = signed_in(member)
    assert send(browser, subscription).status_code == 200
    settings.PUSH_OPEN_NETWORKS = ()  # those of webhooks stay open
    assert send(browser, subscription).status_code == 400


def test_who_may_not(member: User, settings: Settings) -> None:
    assert send(Client(), GOOD).status_code == 403
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(member)
    assert send(guarded, GOOD).status_code == 403
    assert signed_in(member).get(PATH).status_code == 405
    settings.VAPID_PRIVATE_KEY = ""
    assert send(signed_in(member), GOOD).status_code == 409
    assert not PushSubscription.objects.exists()
    settings.VAPID_PRIVATE_KEY = KEY


def test_whose_account_was_secured_meanwhile_registers_nothing(member: User) -> None:
    """A stranger's request that began before must not get the owner's questions."""
    stranger = User.objects.get(pk=member.pk)
    subscription = read_subscription(subscription_of(fresh_endpoint()))
    known = services.subscribe(
        user_id=member.pk, subscription=subscription, label="x", person=stranger
    )
    assert known is not None
    PushSubscription.objects.all().delete()
    member.set_unusable_password()
    member.save()
    again = services.subscribe(
        user_id=member.pk, subscription=subscription, label="x", person=stranger
    )
    assert again is None
    assert not PushSubscription.objects.exists()
