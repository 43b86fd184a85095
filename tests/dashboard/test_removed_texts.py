"""Pages of requests whose texts are gone, or that are gone themselves."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import F
from pytest_django import Settings

from accounts.models import User
from reviews import retention, services, tasks
from reviews.models import Request
from tests.portal import signed_in
from tests.reviews.conftest import Make
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
SAID = "because this loop keeps them for a limited time"


@pytest.fixture
def answered(make: Make, owner: User, member: User, settings: Settings) -> Request:
    """A text question, answered, whose texts are gone."""
    settings.KEEP_TEXTS_DAYS = 10
    item = make(
        response_type="text", response_config={}, default_response="?",
        callback_url="http://127.0.0.1:9/",
    )  # fmt: skip
    services.answer_request(request=item, reviewer_id=member.pk, answer="Dear Ada, no.")
    Delivery.objects.update(state="dead")
    Request.objects.update(response_at=F("response_at") - timedelta(days=11))
    assert tasks.prune_requests() == 1
    return item


def test_the_account_holder_sees_what_happened(answered: Request, owner: User) -> None:
    browser = signed_in(owner)
    html = browser.get(f"/dashboard/requests/{answered.pk}/").content.decode()
    assert SAID in html
    assert "They are no longer kept." in html
    assert "Ask again" not in html
    assert '<p class="answer-given" dir="auto">Text removed</p>' in html
    assert "Ada" not in html
    assert 'name="rating"' in html
    assert 'name="comment"' not in html  # nothing that is typed would be kept
    assert 'name="tags"' not in html
    assert "Text removed</a>" in browser.get("/dashboard/requests/").content.decode()
    lines = b"".join(browser.get("/dashboard/requests/export.csv")).decode().splitlines()
    assert "Refund desk,,Completed" in lines[1]


def test_the_reviewer_too(answered: Request, member: User) -> None:
    browser = signed_in(member)
    assert SAID in browser.get(f"/inbox/{answered.pk}/").content.decode()
    assert "<bdi>Text removed</bdi>" in browser.get("/my-work/").content.decode()


def test_one_that_is_gone(answered: Request, owner: User, member: User) -> None:
    with transaction.atomic():
        retention.remove_requests(answered.creator_id, [(answered.pk, 0)])
    assert signed_in(owner).get(f"/dashboard/requests/{answered.pk}/").status_code == 404
    assert signed_in(member).get(f"/inbox/{answered.pk}/").status_code == 404
