"""Migrations can be taken back, and what they make besides tables is there again afterwards."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import IntegrityError

from loops.services import create_loop, join_loop
from reviews import counters, services
from reviews.lifecycle import states
from reviews.models import Request
from reviews.queries import search
from tests.conftest import account
from tests.reviews.conftest import FIELDS, acting

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def _migrated_in_the_end() -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


@pytest.mark.usefixtures("_migrated_in_the_end")
def test_back_and_forth() -> None:
    for app in ("loops", "webhooks"):  # reviews goes with loops
        call_command("migrate", app, "zero", verbosity=0)
    call_command("migrate", verbosity=0)
    owner, member = account("owner"), account("member")
    loop = create_loop(owner_id=owner.pk, name="Refund desk", icon="star")
    join_loop(user=member, code=loop.invite_code)
    fields = {**FIELDS, "request_text": "A zebra?"}
    made = services.create_request(loop_id=loop.pk, account=acting(owner), fields=fields)
    services.answer_request(request=made, reviewer_id=member.pk, answer="yes")
    assert counters.find_differences() == []
    found = search.find_newest(Request.objects.all(), account_id=owner.pk, typed="zebra", count=9)
    assert [request.pk for request in found] == [made.pk]
    with pytest.raises(IntegrityError, match="for good"):
        Request.objects.filter(pk=made.pk).update(status=states.PENDING)


def test_models_have_all_their_migrations() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True)
