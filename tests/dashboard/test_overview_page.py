"""The overview: normal, or what needs attention."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import ApiKey, Usage, User
from accounts.services import create_api_key, set_key_state
from db import worker_status
from db.models import Heartbeat
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.answering import repeat_answers
from tests.dashboard.many import copies
from tests.dashboard.scene import draw, used
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue

pytestmark = pytest.mark.django_db

PAGE = "/dashboard/"


@pytest.fixture(autouse=True)
def _alive(db: None) -> None:
    for name in worker_status.EXPECTED_SWEEPS:
        worker_status.record_heartbeat(name)


def read(user: User) -> str:
    return words(signed_in(user).get(PAGE))


def answered(make: Make, reviewer: User, *, minutes: float) -> Request:
    """A request that was answered just now, after so many minutes."""
    request = make()
    services.answer_request(request=request, reviewer_id=reviewer.pk, answer="yes")
    now = timezone.now()
    Request.objects.filter(pk=request.pk).update(
        created_at=now - timedelta(minutes=minutes), response_at=now
    )
    repeat_answers()
    return request


def test_everything_is_well(owner: User, make: Make) -> None:
    make()
    page = read(owner)
    assert "All systems normal" in page
    assert "Open now 1 waiting for an answer" in page


def test_open_requests_by_urgency(owner: User, member: User, make: Make) -> None:
    make(priority="critical")
    claimed = make(priority="critical", timeout_seconds=120)
    services.claim_request(request=claimed, reviewer_id=member.pk)
    make(priority="low")
    late = make(priority="medium")
    make_overdue(late)
    page = read(owner)
    assert "Critical 2 1 in 1 min High 0 0 – Medium 0 0 – Low 1 0 in 9 min" in page
    assert "Open now 3" in page


def test_answer_times(owner: User, member: User, make: Make) -> None:
    for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 60):
        answered(make, member, minutes=minutes)
    page = read(owner)
    assert "Median answer time 6 min 90% within 10 min" in page
    assert "Answered 11 in the last 7 days" in page
    assert "Answer times, in minutes" in page


def test_what_timed_out_counts_before_anybody_settled_it(owner: User, make: Make) -> None:
    make_overdue(make())
    settled = make()
    make_overdue(settled)
    services.read_request(settled.pk)
    page = read(owner)
    assert "Timed out 2 in the last 7 days" in page
    assert "More requests timed out than were answered since yesterday." in page


def test_dead_deliveries(owner: User, member: User) -> None:
    draw(owner, member)
    response = signed_in(owner).get(PAGE)
    assert "2 deliveries failed permanently since yesterday. Dead deliveries" in words(response)
    assert 'href="/dashboard/deliveries/?state=dead"' in response.content.decode()


def use(key: ApiKey, hour: datetime, calls: int) -> None:
    Usage.objects.create(account=key.user, key=key, hour=hour, calls=calls, last_at=hour)


def test_calls_against_the_limit(owner: User, loop: Loop) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for name, calls in (("Calm", 20), ("Busy", 85)):
        key, _ = create_api_key(user=owner, name=name)
        use(key, hour, calls)
    page = read(owner)
    assert "20 of 100" in page
    assert "The key Busy has used 85 of 100 calls this hour." in page
    assert "The key Calm" not in page


def test_a_key_that_has_ended_is_shown_while_its_calls_count(owner: User, loop: Loop) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for name, calls in (("Stolen", 0), ("Stolen busily", 7)):
        key, _ = create_api_key(user=owner, name=name)
        if calls:
            use(key, hour, calls)
        set_key_state(key=key, state=ApiKey.State.REVOKED)
    page = read(owner)
    assert "7 of 100" in page
    assert "0 of 100" not in page


@pytest.mark.parametrize(
    ("seconds", "sentence"),
    [(20, "Background work is 20 s behind."), (120, "Background work is not running.")],
)
def test_background_work_behind(owner: User, loop: Loop, seconds: int, sentence: str) -> None:
    beat_at = timezone.now() - timedelta(seconds=seconds)
    Heartbeat.objects.filter(name="deliver_due").update(beat_at=beat_at)
    assert f"1 thing needs attention {sentence}" in read(owner)


def test_days_are_the_readers_own(owner: User, member: User, make: Make) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Pacific/Auckland")
    answered(make, member, minutes=3)
    here = signed_in(User.objects.get(pk=owner.pk)).get(PAGE)
    assert "Answered 1 in" in words(here)


def test_a_newcomer_is_shown_the_way(outsider: User) -> None:
    page = read(outsider)
    assert "Get your first answers" in page
    assert "Create a loop Name Create loop Ask yourself a sample question" in page
    assert "No API keys yet." in page
    assert "Open now" not in page


def test_only_my_own(owner: User, member: User, outsider: User) -> None:
    draw(owner, member)
    page = read(outsider)
    assert "Refund desk" not in page.replace('"name": "Refund desk"', "")
    assert "Support agent" not in page
    assert "All systems normal" in page


def test_strangers_sign_in_first(client: Any) -> None:
    assert client.get(PAGE)["Location"] == "/accounts/login/?next=/dashboard/"


def test_it_costs_the_same_however_much_there_is(
    owner: User, member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    made = draw(owner, member)
    copies(services.read_request(made["completed"].pk), 600)
    copies(services.read_request(made["pending"].pk), 600)
    browser = signed_in(owner)
    with django_assert_num_queries(8):
        page = browser.get(PAGE)
    assert len(page.content) < 64_000


def test_a_day_begins_at_midnight_of_the_reader(owner: User, make: Make, member: User) -> None:
    old = answered(make, member, minutes=1)
    eight_days = datetime.now(UTC) - timedelta(days=8)
    Request.objects.filter(pk=old.pk).update(
        created_at=eight_days - timedelta(minutes=1), response_at=eight_days
    )
    repeat_answers()
    assert "Answered 0 in the last 7 days" in read(owner)


def test_numbers_have_separators(owner: User) -> None:
    key, _ = create_api_key(user=owner, name="Busy", hourly_limit=12_345)
    used(key, 11_111)
    browser = signed_in(owner)
    assert "The key Busy has used 11,111 of 12,345 calls" in words(browser.get("/dashboard/"))
    for path in ("", "keys/", f"keys/{key.pk}/"):
        page = words(browser.get(f"/dashboard/{path}"))
        assert "11,111 of 12,345" in page, path
        assert "11111" not in page, path
