"""/dashboard/account/data/: what is stored of a person, and the end of their account."""

import json
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.erasing import is_erased
from accounts.models import AuditEntry, User
from loops.models import Loop
from reviews import erasing, services, tasks
from reviews.exports import Lease
from reviews.models import Erasure, ExportLease, Request
from reviews.person_export import export
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/account/data/"
SIGNED_IN = 3  # the session, the person and their address


def test_it_says_what_goes(
    make: Make, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(owner)
    assert "Your 1 loop goes" in words(browser.get(PAGE))
    for _ in range(2):
        make()
    with django_assert_num_queries(SIGNED_IN):
        page = words(browser.get(PAGE))
    assert "2 requests are deleted, answered or not." in page
    assert owner.email in page
    assert PAGE in browser.get("/dashboard/account/").content.decode()


def test_the_file(make: Make, owner: User) -> None:
    request = make()
    response: Any = signed_in(owner).post(f"{PAGE}download/")
    assert response["Content-Type"] == "application/json; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    found: dict[str, Any] = json.loads(b"".join(response.streaming_content))
    assert found["account"]["email"] == owner.email
    assert [row["id"] for row in found["requests"]] == [request.pk]
    assert AuditEntry.objects.filter(account=owner, action="account.exported").count() == 1
    assert not ExportLease.objects.exists()


def test_days_are_those_of_utc_wherever_the_person_lives(
    owner: User, owner_key: str, api: type[Api]
) -> None:
    """As in the file that an operator prints."""
    User.objects.filter(pk=owner.pk).update(time_zone="Pacific/Auckland")
    api(owner_key).get("/v1/api/loops")
    response: Any = signed_in(owner).post(f"{PAGE}download/")
    found: dict[str, Any] = json.loads(b"".join(response.streaming_content))
    (usage,) = found["usage"]
    assert usage["day"].endswith("T00:00:00Z")
    assert [usage] == json.loads("".join(export(owner)))["usage"]


def test_one_file_at_a_time(owner: User) -> None:
    lease = Lease(owner.pk)
    response = signed_in(owner).post(f"{PAGE}download/", follow=True)
    assert "Another export is running." in words(response)
    lease.end()


def test_the_wrong_address_deletes_nothing(owner: User, loop: Loop) -> None:
    response = signed_in(owner).post(f"{PAGE}delete/", {"typed": "member@example.com"}, follow=True)
    assert "Nothing was deleted. The address doesn’t match." in words(response)
    owner.refresh_from_db()
    assert not is_erased(owner)
    assert not Erasure.objects.exists()


def test_deleting_in_two_tabs_at_once(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one waits for the first, and finds that it is done."""
    browser, begin = signed_in(owner), erasing.begin

    def begin_twice(**options: Any) -> None:
        begin(**options)
        begin(**options)

    monkeypatch.setattr(erasing, "begin", begin_twice)
    response = browser.post(f"{PAGE}delete/", {"typed": owner.email}, follow=True)
    assert "Your account was deleted." in words(response)


def test_deleting(make: Make, owner: User, member: User, settings: Settings) -> None:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    browser, other = signed_in(owner), signed_in(owner)
    response = browser.post(f"{PAGE}delete/", {"typed": " Owner@example.com"}, follow=True)
    assert response.redirect_chain == [("/accounts/login/", 302)]
    assert "Your account was deleted." in words(response)
    for each in (browser, other):
        assert each.get("/dashboard/").status_code == 302
    owner.refresh_from_db()
    assert is_erased(owner)
    assert signed_in(member).get(f"/inbox/{request.pk}/").status_code == 404
    assert tasks.finish_erasing() == 1
    assert not Request.objects.exists()


def test_the_addresses_are_told(
    owner: User, settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    browser = signed_in(owner)
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(f"{PAGE}delete/", {"typed": owner.email})
    (message,) = mail.outbox
    assert message.to == ["owner@example.com"]
    assert "Your account was deleted" in message.subject
    assert "IP address: 127.0.0.1" in message.body


def test_it_needs_a_post_of_somebody_signed_in(owner: User) -> None:
    for name in ("download", "delete"):
        assert signed_in(owner).get(f"{PAGE}{name}/")["Location"] == PAGE
        assert "/accounts/login/" in Client().post(f"{PAGE}{name}/")["Location"]
