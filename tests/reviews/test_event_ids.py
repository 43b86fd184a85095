"""An event has one id, wherever and however often its transition is made."""

from collections.abc import Callable

import pytest
from django.db import transaction

from accounts.models import User
from db.ids import is_in_bucket, normalize_id
from reviews import services, tasks
from reviews.models import Request
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
HOOK = "https://receiver.example/hook"


def sent(request: Request) -> dict[str, str]:
    """The ids of the request's events, by what happened."""
    rows = Delivery.objects.filter(subject_id=request.pk)
    return dict(rows.values_list("occurrence", "id"))


@pytest.mark.parametrize("how", ["answered", "claimed", "cancelled", "overdue"])
def test_a_copy_that_was_restored_makes_the_same_id(make: Make, member: User, how: str) -> None:
    request = make(callback_url=HOOK)
    if how == "overdue":
        make_overdue(request)
    moves: dict[str, Callable[[], object]] = {
        "answered": lambda: services.answer_request(
            request=request, reviewer_id=member.pk, answer="yes"
        ),
        "claimed": lambda: services.claim_request(request=request, reviewer_id=member.pk),
        "cancelled": lambda: services.cancel_request(
            request_id=request.pk, account_id=request.creator_id
        ),
        "overdue": tasks.settle_overdue,
    }
    made = []
    for _ in range(2):
        with transaction.atomic():
            moves[how]()
            made.append(sent(request))
            transaction.set_rollback(True)
    assert made[0] == made[1]
    assert len(made[0]) == 1


def test_what_happens_to_a_request_has_ids_of_its_own(make: Make, member: User) -> None:
    request, other = make(callback_url=HOOK), make(callback_url=HOOK)
    for _ in range(3):
        services.claim_request(request=request, reviewer_id=member.pk)
        let_lease_run_out(request)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    services.answer_request(request=other, reviewer_id=member.pk, answer="yes")
    ids = [*sent(request).values(), *sent(other).values()]
    assert len(set(ids)) == 5
    for each in ids:
        assert normalize_id(each) == each
        assert is_in_bucket(each, request.creator_id)
    assert {each[:12] for each in sent(request).values()} == {request.pk[:12]}
