"""Notifications with a real service worker: from the question whether to, to the open request.

A private window has no push service, so `pushManager` alone is a stand-in; its subscription has
keys of the test, which decrypts what the service sends and hands it to the browser as a push
service would.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Page, expect
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from reviews.models import Notification, PushSubscription, Request
from reviews.notifications.mail import unsubscribe_link
from tests.api.bodies import QUESTION
from tests.browser.contexts import opened
from tests.browser.looking import accessibility_faults, faults_in_every_state
from tests.browser.test_phone import sign_in
from tests.browser.visitor import Visitor
from tests.conftest import Api, key_of
from tests.reviews.notifications.conftest import push_key as push_key
from tests.reviews.notifications.conftest import service as service
from tests.reviews.notifications.push_service import Phone, PushService, decode
from tests.waiting import wait_until

STAND_IN = """
const subscription = () => ({
  endpoint: ENDPOINT,
  options: { applicationServerKey: Uint8Array.from(KEY).buffer },
  toJSON: () => (JSON_FORM),
  unsubscribe: async () => localStorage.removeItem("subscribed"),
});
PushManager.prototype.subscribe = async () => {
  localStorage.setItem("subscribed", "yes");
  return subscription();
};
PushManager.prototype.getSubscription = async () =>
  localStorage.getItem("subscribed") ? subscription() : null;
"""
# Counts what the worker has shown. Asking for notifications while one is being shown removes it.
COUNTING = """() => {
  self.count = 0;
  const show = self.registration.showNotification.bind(self.registration);
  self.registration.showNotification = async (...given) => {
    await show(...given);
    self.count += 1;
  };
}"""
SHOWN = """async () => {
  const worker = await navigator.serviceWorker.ready;
  const shown = await worker.getNotifications();
  return shown.map(({ title, body, tag, data }) => ({ title, body, tag, url: data.url }));
}"""


@pytest.fixture
def phone(service: PushService) -> Phone:
    return service.new_phone()


@pytest.fixture
def context(
    chromium_with_push: Browser, site: str, phone: Phone, push_key: str
) -> Iterator[BrowserContext]:
    subscription = phone.subscription
    script = (
        STAND_IN.replace("JSON_FORM", json.dumps(subscription))
        .replace("ENDPOINT", json.dumps(subscription["endpoint"]))
        .replace("KEY", json.dumps(list(decode(push_key))))
    )
    with opened(chromium_with_push, site) as made:
        made.add_init_script(script)
        yield made


@pytest.fixture
def page(context: BrowserContext, site: str) -> Page:
    context.grant_permissions(["notifications"], origin=site)
    opened_page = context.new_page()
    opened_page.on("console", lambda message: print(message.text))  # the reason, if a test fails
    return opened_page


class Deliverer:
    """What stands between the push service and the service worker."""

    def __init__(self, page: Page, site: str) -> None:
        self.page, self.site = page, site
        self.registrations: list[dict[str, Any]] = []
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.on("ServiceWorker.workerRegistrationUpdated", self._learn)
        self.session.send("ServiceWorker.enable")
        context = page.context
        self.worker = next(iter(context.service_workers), None) or context.wait_for_event(
            "serviceworker"
        )
        self.worker.evaluate(COUNTING)

    def _learn(self, event: dict[str, Any]) -> None:
        self.registrations += event["registrations"]

    def deliver(self, payload: dict[str, Any] | str) -> None:
        while not self.registrations:  # until Playwright has heard of the event
            self.page.wait_for_timeout(20)
        text = payload if isinstance(payload, str) else json.dumps(payload)
        message = {
            "origin": self.site,
            "registrationId": self.registrations[-1]["registrationId"],
            "data": text,
        }
        self.session.send("ServiceWorker.deliverPushMessage", message)

    def shown(self, count: int) -> list[dict[str, Any]]:
        """The notifications on the screen, once so many were shown."""
        wait_until(lambda: self.worker.evaluate("() => self.count") == count, 30)
        return self.visible()

    def visible(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate(SHOWN)
        return found


@pytest.fixture
def subscribed(page: Page, transactional_db: None, member: User) -> Page:
    sign_in(page, member)
    page.goto("/settings/notifications/")
    page.get_by_role("button", name="Notify me on this device").click()
    expect(page.get_by_text("This device notifies you")).to_be_visible()
    expect(page.get_by_role("heading", name="Your devices")).to_be_visible()
    return page


def test_from_the_question_to_the_request(
    subscribed: Page, site: str, loop: Loop, owner: User, phone: Phone, service: PushService
) -> None:
    page = subscribed
    deliverer = Deliverer(page, site)
    body = {**QUESTION, "request_text": "Refund **order 4821**?", "priority": "critical"}
    Api(key_of(owner)).post(f"/v1/api/loops/{loop.pk}/requests", body)
    request = Request.objects.get()
    wait_until(lambda: service.got)
    deliverer.deliver(phone.read(service.got[-1]))
    (shown,) = deliverer.shown(1)
    assert shown == {
        "title": "Critical · Refund desk",
        "body": "Refund order 4821?",
        "tag": request.pk,
        "url": f"{site}/inbox/{request.pk}/",
    }
    page.goto(shown["url"])
    expect(page.get_by_role("main")).to_contain_text("order 4821")


def test_what_failed_can_be_tried_again(page: Page, transactional_db: None, member: User) -> None:
    def is_reason(message: ConsoleMessage) -> bool:
        return "could not be turned on: TypeError: Failed to fetch" in message.text

    sign_in(page, member)
    page.goto("/settings/notifications/")
    page.route("**/settings/notifications/devices/", lambda route: route.abort())
    with page.expect_console_message(is_reason):
        page.get_by_role("button", name="Notify me on this device").click()
    expect(page.get_by_role("alert")).to_contain_text("Couldn’t turn on notifications")
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    with page.expect_console_message(is_reason):
        again.press("Enter")
    expect(again).to_be_focused()
    assert accessibility_faults(page) == []
    page.unroute_all()
    again.press("Enter")
    expect(page.get_by_text("This device notifies you")).to_be_visible()
    assert PushSubscription.objects.count() == 1


def test_the_worker_shows_something_in_any_case(subscribed: Page, site: str) -> None:
    deliverer = Deliverer(subscribed, site)
    subscribed.reload()
    deliverer.deliver("no JSON at all")
    (shown,) = deliverer.shown(1)
    assert (shown["title"], shown["url"]) == ("You have a new question", f"{site}/inbox/")
    elsewhere = {"title": "x", "tag": "other", "navigate": "https://elsewhere.example/"}
    deliverer.deliver({"web_push": 8030, "notification": elsewhere})
    assert {each["url"] for each in deliverer.shown(2)} == {f"{site}/inbox/"}


def test_the_page_keeps_up_with_the_service(subscribed: Page, site: str) -> None:
    page = subscribed
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("Notifications are turned off for this device")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name="Notify me on this device")).to_be_visible()
    assert not PushSubscription.objects.exists()


def test_signing_out_takes_them_along(
    subscribed: Page, site: str, loop: Loop, phone: Phone, service: PushService, owner: User
) -> None:
    page = subscribed
    deliverer = Deliverer(page, site)
    Api(key_of(owner)).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
    wait_until(lambda: service.got)
    deliverer.deliver(phone.read(service.got[-1]))
    deliverer.shown(1)
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{site}/")
    wait_until(lambda: not deliverer.visible())
    assert page.evaluate("localStorage.getItem('subscribed')") is None
    assert not PushSubscription.objects.exists()
    Api(key_of(owner)).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
    assert Notification.objects.filter(channel="push").count() == 1  # of the first request


def test_a_test_push(subscribed: Page) -> None:
    visitor = Visitor(subscribed)
    visitor.open("/settings/notifications/")
    visitor.press("Send a test")
    visitor.reads("It should appear in a moment")


def test_looks(subscribed: Page, member: User) -> None:
    page, visitor = subscribed, Visitor(subscribed)
    page.emulate_media(reduced_motion="reduce")
    path = urlsplit(unsubscribe_link.make(member.pk)).path
    for each in ("/settings/notifications/", path, "/offline/"):
        visitor.open(each)
        assert faults_in_every_state(page) == []
    visitor.open(path)
    visitor.press("Unsubscribe")
    visitor.reads("You’re unsubscribed from emails about questions")
    assert faults_in_every_state(page) == []


def test_without_a_connection(subscribed: Page, context: BrowserContext) -> None:
    page = subscribed
    page.reload()
    assert page.evaluate("async () => Boolean(await caches.match('/offline/'))")
    kept = page.evaluate(
        "async () => (await (await caches.open('offline')).keys()).map(r => r.url)"
    )
    assert not [url for url in kept if "inbox" in url or "settings" in url]
    context.set_offline(True)
    page.goto("/inbox/")
    expect(page.get_by_role("heading", name="You’re offline")).to_be_visible()
    context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("You’re offline")


def test_who_said_no(context: BrowserContext, transactional_db: None, member: User) -> None:
    context.clear_permissions()
    page = context.new_page()
    page.add_init_script("Object.defineProperty(Notification, 'permission', {get: () => 'denied'})")
    sign_in(page, member)
    page.goto("/settings/notifications/")
    expect(page.get_by_text("This browser blocks notifications")).to_be_visible()


def test_an_iphone_is_led_to_the_home_screen(
    chromium: Browser, site: str, push_key: str, transactional_db: None, member: User
) -> None:
    iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1"
    with opened(chromium, site, user_agent=iphone) as context:
        context.add_init_script("delete window.PushManager")
        page = context.new_page()
        sign_in(page, member)
        page.goto("/settings/notifications/")
        expect(page.get_by_text("Choose “Add to Home Screen”.")).to_be_visible()


def test_without_a_key_nothing_is_asked(
    page: Page, transactional_db: None, member: User, settings: Settings
) -> None:
    settings.VAPID_PRIVATE_KEY = ""
    sign_in(page, member)
    page.goto("/settings/notifications/")
    expect(page.get_by_text("set up on this server")).to_be_visible()
    assert page.locator("[data-push]").count() == 0
