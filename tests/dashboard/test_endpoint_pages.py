"""/dashboard/webhook-endpoints/: made, shown once, changed, switched, tested, rotated, deleted."""

import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import endpoint_services
from accounts.models import AuditEntry, User, WebhookEndpoint
from loops.models import Loop
from loops.services import create_loop
from reviews.services import delete_loop
from tests.accounts.test_review_tokens import begin
from tests.backends import waiting_for_locks
from tests.portal import long_signed_in, signed_in, words
from tests.waiting import wait_until
from tests.webhooks.conftest import deliver_here
from tests.webhooks.receivers import receiving
from webhooks import endpoints
from webhooks.models import Delivery, FailingHost

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/webhook-endpoints/"
NEW = f"{PAGE}new/"
URL = "https://router.example/hook"
SECRET = re.compile(r"whsec_[\w+/=]{20,}")


def add(account: User, **changes: Any) -> WebhookEndpoint:
    chosen = {"url": URL, "events": ["request.created"], "loop_ids": None, **changes}
    return endpoints.create_endpoint(account=account, **chosen)[0]


def token(browser: Client) -> str:
    found = re.search(r'name="once" value="([^"]+)"', browser.get(NEW).content.decode())
    assert found
    return found[1]


def copy_of(browser: Client) -> Client:
    """Returns a second tab of the browser."""
    tab = Client()
    tab.cookies = browser.cookies
    return tab


def submit(browser: Client, **changes: Any) -> Any:
    form = {"url": URL, "events": ["request.created"], "scope": "all", **changes}
    return browser.post(NEW, {"once": token(browser), **form}, follow=True)


def secret_of(endpoint: WebhookEndpoint) -> str:
    endpoint.refresh_from_db()
    secrets = endpoint_services.read_secrets(endpoint.pk, account_id=endpoint.account_id)
    assert secrets
    return secrets.current.text


class TestCreating:
    def test_the_secret_is_shown_once(self, owner: User, loop: Loop) -> None:
        browser = signed_in(owner)
        shown = submit(browser, events=["request.created", "request.timeout"])
        endpoint = WebhookEndpoint.objects.get()
        assert shown.redirect_chain == [(f"{PAGE}{endpoint.pk}/", 302)]
        assert secret_of(endpoint) in words(shown)
        assert "shown only once" in words(shown)
        assert not SECRET.search(words(browser.get(f"{PAGE}{endpoint.pk}/")))
        assert (endpoint.events, endpoint.loop_ids, endpoint.is_on) == (
            ["request.created", "request.timeout"], None, True,
        )  # fmt: skip

    def test_chosen_loops(self, owner: User, loop: Loop) -> None:
        submit(signed_in(owner), scope="chosen", loops=[loop.pk])
        assert WebhookEndpoint.objects.get().loop_ids == [loop.pk]

    def test_an_account_without_loops(self, owner: User) -> None:
        browser = signed_in(owner)
        assert "Only these loops" not in words(browser.get(NEW))
        submit(browser)
        assert WebhookEndpoint.objects.get().loop_ids is None

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"url": ""}, "Enter the URL of a receiver"),
            ({"url": "router.example"}, "Enter a full URL"),
            ({"url": "http://192.168.1.1/"}, "Webhooks only go to public addresses"),
            ({"events": []}, "Choose at least one event"),
            ({"events": ["request.answered"]}, "is not one of the available choices"),
            ({"scope": "chosen"}, "Choose at least one loop, or all loops"),
            ({"scope": "chosen", "loops": ["{theirs}"]}, "is not one of the available choices"),
        ],
    )
    def test_what_is_refused(
        self,
        owner: User,
        outsider: User,
        loop: Loop,
        settings: Settings,
        changes: dict[str, Any],
        sentence: str,
    ) -> None:
        settings.WEBHOOK_OPEN_NETWORKS = []
        if changes.get("loops"):
            theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="bell")
            changes = {**changes, "loops": [theirs.pk]}
        refused = submit(signed_in(owner), **changes)
        assert refused.status_code == 422
        assert sentence in words(refused)
        assert not WebhookEndpoint.objects.exists()

    def test_a_form_that_is_sent_twice_makes_one(self, owner: User, loop: Loop) -> None:
        browser = signed_in(owner)
        for _ in range(4):
            add(owner)
        form = {"url": URL, "events": ["request.created"], "scope": "all", "once": token(browser)}
        first = browser.post(NEW, form)
        again = browser.post(NEW, form)
        assert (again.status_code, again["Location"]) == (302, first["Location"])
        assert WebhookEndpoint.objects.count() == 5
        refused = submit(browser)
        assert "You have 5 endpoints already" in words(refused)
        assert "New endpoint" not in words(browser.get(PAGE))

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("before", [0, 4])
    def test_two_copies_of_a_form_at_once_make_one(
        self, owner: User, loop: Loop, before: int
    ) -> None:
        browser = signed_in(owner)
        for _ in range(before):
            add(owner)
        form = {"url": URL, "events": ["request.created"], "scope": "all", "once": token(browser)}
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=owner.pk)
            sent = [begin(lambda: copy_of(browser).post(NEW, form)) for _ in range(2)]
            wait_until(lambda: waiting_for_locks() == 2)
        for thread, _ in sent:
            thread.join()
        (first,), (second,) = (answers for _, answers in sent)
        assert (first.status_code, second.status_code) == (302, 302)
        assert first["Location"] == second["Location"]
        assert WebhookEndpoint.objects.count() == before + 1

    def test_the_password_comes_first(self, owner: User, loop: Loop) -> None:
        asked = submit(long_signed_in(owner))
        assert "Confirm it’s you" in words(asked)
        assert not WebhookEndpoint.objects.exists()


def test_the_list(
    owner: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(owner)
    assert "No webhook endpoints yet" in words(browser.get(PAGE))
    add(owner, url="https://user:pw@router.example/hook", loop_ids=[loop.pk])
    for _ in range(4):
        add(owner, is_on=False)
    with django_assert_num_queries(4):
        response = browser.get(PAGE)
    page = words(response)
    assert 'href="/dashboard/deliveries/" aria-current="page"' in response.content.decode()
    assert "https://***@router.example/hook" in page
    assert "Refund desk" in page
    assert "Disabled" in page


class TestChanging:
    def test_it_is_saved(self, owner: User, loop: Loop) -> None:
        endpoint = add(owner)
        form = {"url": "https://other.example/", "events": ["request.timeout"],
                "scope": "chosen", "loops": [loop.pk]}  # fmt: skip
        answer = signed_in(owner).post(f"{PAGE}{endpoint.pk}/edit/", form, follow=True)
        assert "Saved." in words(answer)
        endpoint.refresh_from_db()
        assert (endpoint.url, endpoint.events) == ("https://other.example/", ["request.timeout"])
        assert endpoint.loop_ids == [loop.pk]

    def test_a_deleted_loop_stays_chosen_until_it_is_unchecked(
        self, owner: User, loop: Loop
    ) -> None:
        endpoint = add(owner, loop_ids=[loop.pk])
        delete_loop(loop_id=loop.pk, account_id=owner.pk)
        browser = signed_in(owner)
        assert "Refund desk (deleted)" in words(browser.get(f"{PAGE}{endpoint.pk}/"))
        form = {"url": URL, "events": ["request.timeout"], "scope": "chosen", "loops": [loop.pk]}
        browser.post(f"{PAGE}{endpoint.pk}/edit/", form)
        endpoint.refresh_from_db()
        assert (endpoint.events, endpoint.loop_ids) == (["request.timeout"], [loop.pk])
        answer = browser.post(f"{PAGE}{endpoint.pk}/edit/", {**form, "loops": []})
        assert answer.status_code == 422  # and not all loops

    def test_off_and_on(self, owner: User) -> None:
        endpoint, browser = add(owner), signed_in(owner)
        off = browser.post(f"{PAGE}{endpoint.pk}/switch/", {"state": "off"}, follow=True)
        assert "Disabled. It no longer gets events." in words(off)
        assert "Send test event" not in words(off)
        endpoint.refresh_from_db()
        assert endpoint.is_on is False
        browser.post(f"{PAGE}{endpoint.pk}/switch/", {"state": "on"})
        endpoint.refresh_from_db()
        assert endpoint.is_on is True

    def test_deleted(self, owner: User) -> None:
        endpoint, browser = add(owner), signed_in(owner)
        answer = browser.post(f"{PAGE}{endpoint.pk}/delete/", follow=True)
        assert answer.redirect_chain == [(PAGE, 302)]
        assert not WebhookEndpoint.objects.exists()
        assert browser.get(f"{PAGE}{endpoint.pk}/").status_code == 404


class TestSecret:
    def test_a_rotation_shows_the_new_one_once(self, owner: User) -> None:
        endpoint, browser = add(owner), signed_in(owner)
        old = secret_of(endpoint)
        shown = words(browser.post(f"{PAGE}{endpoint.pk}/rotate/", follow=True))
        new = secret_of(endpoint)
        assert new != old
        assert new in shown
        assert old not in shown
        again = words(browser.get(f"{PAGE}{endpoint.pk}/"))
        assert "Rotation in progress" in again
        assert not SECRET.search(again)
        refused = words(browser.post(f"{PAGE}{endpoint.pk}/rotate/", follow=True))
        assert "Nothing was changed." in refused
        assert secret_of(endpoint) == new
        browser.post(f"{PAGE}{endpoint.pk}/end-overlap/")
        endpoint.refresh_from_db()
        assert endpoint.previous_until is None
        browser.post(f"{PAGE}{endpoint.pk}/rotate/")
        browser.post(f"{PAGE}{endpoint.pk}/rotate/", {"force": "yes"})
        assert secret_of(endpoint) != new
        actions = AuditEntry.objects.filter(action__startswith="endpoint.rotat")
        assert actions.count() == 4

    def test_also_while_it_is_off(self, owner: User) -> None:
        endpoint, browser = add(owner, is_on=False), signed_in(owner)
        shown = browser.post(f"{PAGE}{endpoint.pk}/rotate/", follow=True)
        assert SECRET.search(words(shown))

    def test_an_old_wish_shows_nothing(self, owner: User) -> None:
        endpoint, browser = add(owner), long_signed_in(owner)
        session = browser.session
        session["show_endpoint_secret"] = endpoint.pk
        session.save()
        assert not SECRET.search(words(browser.get(f"{PAGE}{endpoint.pk}/")))


@pytest.mark.django_db(transaction=True)
def test_a_test_event(owner: User) -> None:
    browser = signed_in(owner)
    with receiving() as receiver:
        endpoint = add(owner, url=receiver.url)
        answer = browser.post(f"{PAGE}{endpoint.pk}/test/")
        delivery = Delivery.objects.get()
        assert answer["Location"] == f"/dashboard/deliveries/?tested={delivery.pk}#test"
        deliver_here()
        assert len(receiver.got) == 1
    assert endpoint.pk in words(browser.get(f"/dashboard/deliveries/{delivery.pk}/"))
    endpoints.delete_endpoint(endpoint=endpoint)
    page = words(browser.get(f"/dashboard/deliveries/{delivery.pk}/"))
    assert "Webhook endpoint deleted" in page


def test_its_host_fails(owner: User) -> None:
    endpoint = add(owner)
    moment = endpoint.created_at
    FailingHost.objects.create(
        account=owner, host="router.example", failing_since=moment, failures=3,
        last_failed_at=moment, last_status=500,
    )  # fmt: skip
    page = words(signed_in(owner).get(f"{PAGE}{endpoint.pk}/"))
    assert "The host is failing" in page
    assert "router.example failing since" in page
