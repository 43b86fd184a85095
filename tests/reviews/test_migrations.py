"""Migrations of a database that is in use: what is kept beside the requests is built from them."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command

from accounts.models import User
from loops.models import Loop
from reviews import counters, services, tasks
from reviews.models import Request
from reviews.queries import listing, search
from tests.reviews.conftest import Make, make_overdue

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = "0004"  # neither totals nor words, and other indexes


@pytest.fixture
def _migrated_in_the_end() -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


@pytest.mark.usefixtures("_migrated_in_the_end")
def test_totals_and_words_come_from_the_rows(
    owner: User, member: User, loop: Loop, make: Make
) -> None:
    answered, overdue, claimed = make(), make(priority="critical"), make(request_text="A zebra?")
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    services.claim_request(request=claimed, reviewer_id=member.pk)
    make_overdue(overdue)
    before = list(Request.objects.order_by("id").values())
    call_command("migrate", "reviews", BEFORE, verbosity=0)
    tasks.settle_overdue()  # changes while nobody counts
    call_command("migrate", "reviews", verbosity=0)
    assert counters.differences() == []
    found = listing.fetch(
        listing.of_account(owner.pk), listing.Window(None, None, listing.DEFAULT_ORDER, 9, 0)
    )
    assert (found.total, set(found.ids)) == (3, {row["id"] for row in before})
    typed = search.newest(Request.objects.all(), account_id=owner.pk, typed="zebra", count=9)
    assert [request.pk for request in typed] == [claimed.pk]
    make()
    assert counters.differences() == []
